import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { deviceLogin, openSessions, registerDevice } from '../load/accounts.ts'
import { refreshes, registrations } from '../load/device-load.ts'
import { type HttpLoad, type HttpOutcome, runHttpLoad } from '../load/http-load.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { shares } from '../load/window.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { startPostgres } from '../processes/postgres.ts'

/** Rows of a side-by-side run with a peer, each beside the login of an account that exists. */
export const peersRows: Benchmark = { name: 'peers-rows', run }

const inFlight = 64
const rounds = 5
const roundSeconds = 1.5
/** Enough that no session is refreshed many times between two vacuums. */
const sessionsPerConnection = 20

async function run(bench: Bench): Promise<Row[]> {
  await using postgres = await startPostgres(bench)
  const keys = { 'database.url': postgres.fact('url'), 'database.max_connections': 10 }
  await using server = await startGuildhall(bench, { keys, on: 'both' })
  await registerDevice(server.port)
  let runs = 0
  const register = () => {
    runs += 1
    return load(bench, server, { request: registrations(`run-${runs}`) })
  }
  const refresh = async () => {
    const sessions = await openSessions(server.port, inFlight * sessionsPerConnection)
    const tokens = sessions.map(({ refresh_token }) => refresh_token)
    return load(bench, server, refreshes(tokens, inFlight))
  }
  return [
    await besideLogin(bench, server, {
      what: 'register by device',
      measure: register,
      limit: 0.55,
    }),
    await besideLogin(bench, server, { what: 'refresh a session', measure: refresh, limit: 0.9 }),
  ]
}

type Measured = { what: string; measure: () => Promise<HttpOutcome>; limit: number }

async function besideLogin(
  bench: Bench,
  server: Child,
  { what, measure, limit }: Measured,
): Promise<Row> {
  const sides = {
    product: measure,
    baseline: () => load(bench, server, { request: () => deviceLogin }),
    ratioOf: (ours: HttpOutcome, login: HttpOutcome) => ours.perSecond / login.perSecond,
  }
  const compared = await compareInTurn(sides, { rounds })
  const { product, baseline, ratio } = compared
  return {
    what: `${what}, ${inFlight} in flight, PostgreSQL`,
    product: { value: product.perSecond, unit: 'requests/s' },
    baseline: { name: 'device login', value: baseline.perSecond, unit: 'requests/s' },
    ratio,
    bound: { of: 'ratio', is: 'at least', limit },
    notes: `${ratios(compared)}; ${shares(product)}`,
  }
}

function load(
  bench: Bench,
  server: Child,
  requests: Pick<HttpLoad, 'request' | 'onResponse'>,
): Promise<HttpOutcome> {
  const seconds = bench.seconds(roundSeconds)
  return runHttpLoad({ server, connections: inFlight, status: [200, 201], seconds, ...requests })
}
