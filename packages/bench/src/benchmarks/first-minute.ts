import pg from 'pg'
import type { Bench, Benchmark, Bound, Row } from '../benchmark.ts'
import { type CountedOutcome, runCountedLoad } from '../load/counted-load.ts'
import { registrations } from '../load/device-load.ts'
import { mixedLoad } from '../load/mixed-load.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { createDatabase, startPostgres } from '../processes/postgres.ts'

/**
 * The first minute of a deployment: newcomers at full rate on an empty database, whose planner
 * knows of nothing, and then what all of them ask for. Beside it the same once more, by as many
 * others, on what is there then, analysed.
 */
export const firstMinute: Benchmark = { name: 'first-minute', run }

const inFlight = 64
const newcomers = 50_000
const mixed = 30_000

async function run(bench: Bench): Promise<Row[]> {
  await using postgres = await startPostgres(bench)
  const url = await createDatabase(postgres, 'first_minute')
  const keys = { 'database.url': url, 'database.max_connections': 10 }
  await using server = await startGuildhall(bench, { keys, on: 'both' })
  const load = { port: server.port, connections: inFlight }
  const signUps = (who: string) =>
    runCountedLoad({
      ...load,
      count: bench.count(newcomers),
      status: 201,
      request: registrations(who),
    })
  const first = await signUps('first')
  const requests = await mixedLoad(server, inFlight)
  const mix = async (who: string) =>
    runCountedLoad({ ...load, count: bench.count(mixed), ...(await requests(who)) })
  const firstMix = await mix('first')
  await analyse(url)
  // Once for the new plans, and once to be compared.
  await mix('again')
  const later = { signUps: await signUps('later'), mix: await mix('later') }
  return [
    ...rowsOf(`${newcomers} sign-ups by device`, first, later.signUps),
    ...rowsOf(`${mixed} requests of seven kinds`, firstMix, later.mix),
  ]
}

async function analyse(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('VACUUM (ANALYZE)')
  } finally {
    await client.end()
  }
}

function rowsOf(what: string, first: CountedOutcome, later: CountedOutcome): Row[] {
  const rate: Bound = { of: 'ratio', is: 'at least', limit: 0.8 }
  const tail: Bound = { of: 'ratio', is: 'at most', limit: 2 }
  const name = 'warmed up'
  return [
    {
      what: `${what} on an empty PostgreSQL, ${inFlight} in flight`,
      product: { value: first.perSecond, unit: 'requests/s' },
      baseline: { name, value: later.perSecond, unit: 'requests/s' },
      ratio: first.perSecond / later.perSecond,
      bound: rate,
    },
    {
      what: `p99 of ${what} on an empty PostgreSQL`,
      product: { value: first.p99Ms, unit: 'ms' },
      baseline: { name, value: later.p99Ms, unit: 'ms' },
      ratio: first.p99Ms / later.p99Ms,
      bound: tail,
    },
  ]
}
