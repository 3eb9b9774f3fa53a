import { join } from 'node:path'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { deviceLogin, registerDevice } from '../load/accounts.ts'
import { type HttpLoad, type HttpOutcome, runHttpLoad } from '../load/http-load.ts'
import { inTurn } from '../load/rounds.ts'
import { shares } from '../load/window.ts'
import { startBaseline } from '../processes/baseline.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { startPostgres } from '../processes/postgres.ts'

/** Logins of an account that exists: two reads and a durable write each, on every backend. */
export const deviceLogins: Benchmark = { name: 'device-login', run }

const baseline = new URL('../baselines/single-row-inserts.ts', import.meta.url)
const inFlight = 64
const poolConnections = 10
const postgresRounds = 5
const postgresSeconds = 7.5
const unit = 'logins/s'

async function run(bench: Bench): Promise<Row[]> {
  const [memory, file] = await memoryAndFile(bench)
  const what = `device login, ${inFlight} in flight`
  const notes = (outcome: HttpOutcome) =>
    `${Math.round(outcome.perSecond)}/s, ${Math.round(outcome.perCpuSecond)} per CPU second ` +
    `(${shares(outcome)})`
  return [
    {
      what: `${what}, in memory`,
      product: { value: memory.perCpuSecond, unit: 'logins per CPU second' },
      bound: { of: 'value', is: 'at least', limit: 12_000 },
      notes: notes(memory),
    },
    {
      what: `${what}, SQLite file`,
      product: { value: file.perSecond, unit },
      baseline: { name: 'the product in memory', value: memory.perSecond, unit },
      ratio: file.perSecond / memory.perSecond,
      bound: { of: 'ratio', is: 'at least', limit: 0.8 },
      notes: notes(file),
    },
    await onPostgres(bench, what, notes),
  ]
}

async function memoryAndFile(bench: Bench): Promise<[HttpOutcome, HttpOutcome]> {
  await using memory = await start(bench, 'memory:')
  await using file = await start(bench, `sqlite:${join(bench.folder, 'logins.db')}`)
  const loads = [loginsOn(bench, memory), loginsOn(bench, file)]
  const [inMemory, onFile] = await inTurn(loads, ({ perSecond }) => perSecond)
  if (inMemory === undefined || onFile === undefined) throw new Error('two servers were loaded')
  return [inMemory, onFile]
}

/** In turn, as the other servers; each round has the baseline's figure and the product's. */
async function onPostgres(
  bench: Bench,
  what: string,
  notes: (outcome: HttpOutcome) => string,
): Promise<Row> {
  await using postgres = await startPostgres(bench)
  const url = postgres.fact('url')
  await using server = await start(bench, url)
  const seconds = bench.seconds(postgresSeconds) / postgresRounds
  const args = [url, poolConnections, inFlight, seconds * 0.3, seconds].map(String)
  const found: { ours: HttpOutcome; rows: number; ratio: number }[] = []
  for (let round = 0; round < postgresRounds; round += 1) {
    await using inserts = await startBaseline(bench, baseline, { args, on: 'both' })
    const rows = Number(inserts.fact('per_second'))
    const ours = await runHttpLoad({ ...loginsOn(bench, server), seconds })
    found.push({ ours, rows, ratio: ours.perSecond / rows })
  }
  found.sort((a, b) => a.ratio - b.ratio)
  const middle = found[postgresRounds >> 1]
  if (middle === undefined) throw new Error('there is a middle of an odd number of rounds')
  return {
    what: `${what}, PostgreSQL`,
    product: { value: middle.ours.perSecond, unit },
    baseline: { name: 'prepared single-row inserts', value: middle.rows, unit: 'rows/s' },
    ratio: middle.ratio,
    bound: { of: 'ratio', is: 'at least', limit: 1 },
    notes: `ratios ${found.map(({ ratio }) => ratio.toFixed(2)).join(', ')}; ${notes(middle.ours)}`,
  }
}

/** Not pinned: waiting for the disk and for PostgreSQL is done beside the server's main thread. */
async function start(bench: Bench, url: string): Promise<Child> {
  const keys = { 'database.url': url, 'database.max_connections': poolConnections }
  const server = await startGuildhall(bench, { keys, on: 'both' })
  await registerDevice(server.port)
  return server
}

function loginsOn(bench: Bench, server: Child): HttpLoad {
  const seconds = bench.seconds(5)
  return { server, connections: inFlight, request: () => deviceLogin, status: 200, seconds }
}
