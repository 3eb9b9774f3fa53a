import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { deviceLogin, registerDevice } from '../load/accounts.ts'
import { type HttpOutcome, runHttpLoad } from '../load/http-load.ts'
import { mixedLoad } from '../load/mixed-load.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { shares } from '../load/window.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { createDatabase, startPostgres } from '../processes/postgres.ts'

/** Requests of all kinds at once, beside logins or beside another checkout. */
export const mix: Benchmark = { name: 'mix', comparesCheckouts: true, run }

const inFlight = 64
const rounds = 5
const roundSeconds = 2

async function run(bench: Bench): Promise<Row[]> {
  await using postgres = await startPostgres(bench)
  const own = await subject(bench, postgres.fact('url'))
  await using _own = own.server
  const { against } = bench
  const other =
    against === undefined
      ? undefined
      : await subject(bench, await createDatabase(postgres, 'other'), against)
  await using _other = other?.server
  const compared = await compareInTurn(
    {
      product: own.mixed,
      baseline: other?.mixed ?? own.logins,
      ratioOf: (ours: HttpOutcome, theirs: HttpOutcome) => ours.perSecond / theirs.perSecond,
    },
    { rounds },
  )
  const { product, baseline, ratio } = compared
  const name = other === undefined ? 'device login' : 'the other checkout'
  return [
    {
      what: `mix of seven kinds of requests, ${inFlight} in flight, PostgreSQL`,
      product: { value: product.perSecond, unit: 'requests/s' },
      baseline: { name, value: baseline.perSecond, unit: 'requests/s' },
      ratio,
      notes: `${ratios(compared)}; ${shares(product)}; baseline ${shares(baseline)}`,
    },
  ]
}

async function subject(bench: Bench, url: string, checkout?: string) {
  const keys = { 'database.url': url, 'database.max_connections': 10 }
  const server = await startGuildhall(bench, { keys, on: 'both', checkout })
  await registerDevice(server.port)
  const requests = await mixedLoad(server, inFlight)
  const load = { server, connections: inFlight, seconds: bench.seconds(roundSeconds) }
  let runs = 0
  return {
    server,
    mixed: async () => {
      runs += 1
      return runHttpLoad({ ...load, ...(await requests(`mix-${runs}`)) })
    },
    logins: () => runHttpLoad({ ...load, request: () => deviceLogin, status: 200 }),
  }
}
