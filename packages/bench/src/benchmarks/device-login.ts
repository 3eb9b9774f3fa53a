import { join } from 'node:path'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { deviceLogin, registerDevice } from '../load/accounts.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { type HttpOutcome, runHttpLoad, warmUpShare } from '../load/http-load.ts'
import { type Comparison, compareInTurn, middleOf, ratios } from '../load/rounds.ts'
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
const roundSeconds = 1.5
const rounds = 7
/** A store that has been served from for a while, with some fifty thousand sessions. */
const warmUps = 2
const unit = 'logins/s'

async function run(bench: Bench): Promise<Row[]> {
  const onFile = await fileBesideMemory(bench)
  const onPostgres = await postgresBesideInserts(bench)
  const { product: file, baseline: memory, ratio } = onFile
  const inMemory = onFile.rounds.map((round) => round.baseline)
  const middle = middleOf(inMemory, ({ perCpuSecond }) => perCpuSecond)
  const what = `device login, ${inFlight} in flight`
  const notes = (outcome: HttpOutcome) =>
    `${Math.round(outcome.perSecond)}/s, ${Math.round(outcome.perCpuSecond)} per CPU second ` +
    `(${shares(outcome)})`
  return [
    {
      what: `${what}, in memory`,
      product: { value: middle.perCpuSecond, unit: 'logins per CPU second' },
      bound: { of: 'value', is: 'at least', limit: 12_000 },
      notes: notes(middle),
    },
    {
      what: `${what}, SQLite file`,
      product: { value: file.perSecond, unit },
      baseline: { name: 'the product in memory', value: memory.perSecond, unit },
      ratio,
      bound: { of: 'ratio', is: 'at least', limit: 0.8 },
      notes: `${ratios(onFile)}; ${notes(file)}`,
    },
    {
      what: `${what}, PostgreSQL`,
      product: { value: onPostgres.product.perSecond, unit },
      baseline: { name: 'prepared single-row inserts', value: onPostgres.baseline, unit: 'rows/s' },
      ratio: onPostgres.ratio,
      bound: { of: 'ratio', is: 'at least', limit: 1 },
      notes: `${ratios(onPostgres)}; ${notes(onPostgres.product)}`,
    },
  ]
}

async function fileBesideMemory(bench: Bench): Promise<Comparison<HttpOutcome, HttpOutcome>> {
  await using memory = await start(bench, 'memory:')
  await using file = await start(bench, `sqlite:${join(bench.folder, 'logins.db')}`)
  const sides = {
    product: () => logins(bench, file),
    baseline: () => logins(bench, memory),
    ratioOf: (ours: HttpOutcome, theirs: HttpOutcome) => ours.perSecond / theirs.perSecond,
  }
  return await compareInTurn(sides, { rounds, warmUps })
}

async function postgresBesideInserts(bench: Bench): Promise<Comparison<HttpOutcome, number>> {
  await using postgres = await startPostgres(bench)
  const url = postgres.fact('url')
  await using server = await start(bench, url)
  const seconds = bench.seconds(roundSeconds)
  const args = [url, poolConnections, inFlight, seconds * warmUpShare, seconds].map(String)
  await using inserts = await startBaseline(bench, baseline, { args, on: 'both' })
  const sides = {
    product: () => logins(bench, server),
    baseline: () => insertsPerSecond(inserts),
    ratioOf: (ours: HttpOutcome, rows: number) => ours.perSecond / rows,
  }
  return await compareInTurn(sides, { rounds, warmUps })
}

async function insertsPerSecond({ port }: Child): Promise<number> {
  const connection = await HttpConnection.open(port)
  const { body } = await connection.fetch(httpRequest('POST', '/'))
  connection.close()
  return (body as { perSecond: number }).perSecond
}

/** Not pinned: waiting for the disk and for PostgreSQL is done beside the server's main thread. */
async function start(bench: Bench, url: string): Promise<Child> {
  const keys = { 'database.url': url, 'database.max_connections': poolConnections }
  const server = await startGuildhall(bench, { keys, on: 'both' })
  await registerDevice(server.port)
  return server
}

function logins(bench: Bench, server: Child): Promise<HttpOutcome> {
  const seconds = bench.seconds(roundSeconds)
  const request = () => deviceLogin
  return runHttpLoad({ server, connections: inFlight, request, status: 200, seconds })
}
