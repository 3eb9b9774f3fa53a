import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { type HttpLoad, type HttpOutcome, runHttpLoad } from '../load/http-load.ts'
import { signInOperator } from '../load/operator.ts'
import { type Comparison, compareInTurn, ratios } from '../load/rounds.ts'
import { type MeasuredBackend, onBackends } from '../processes/backends.ts'
import type { Child } from '../processes/child.ts'
import { startMeasured } from '../processes/measured.ts'
import { cpuMsOfFamily } from '../processes/proc.ts'

/** Mutations of operators beside the same ones without their audit entries. */
export const auditCost: Benchmark = { name: 'audit-cost', run }

const inFlight = 64
/** So long that each pays for its own checkpoints, and as many as the time allows. */
const rounds = 9
const unit = 'µs of CPU'
const seeds = { accounts: 200, groups: 200 }

/** One that has a transaction of its own, and one that shares it with others. */
const mutations = [
  {
    name: 'update a group',
    list: '/console/v1/groups',
    // In turn, as SQLite writes nothing when a row is to become what it is.
    bodies: [
      { description: 'What it is about has changed' },
      { description: 'It is about something else now' },
    ],
    request: (token: string, id: string, body: object) =>
      httpRequest('PUT', `/console/v1/groups/${id}`, { token, body }),
  },
  {
    name: 'adjust a wallet',
    list: '/console/v1/accounts',
    bodies: [{ currency: 'gold', delta: 1 }],
    request: (token: string, id: string, body: object) =>
      httpRequest('POST', `/console/v1/accounts/${id}/wallet`, { token, body }),
  },
] as const
type Mutation = (typeof mutations)[number]

function run(bench: Bench): Promise<Row[]> {
  return onBackends(bench, 'audited.db', async (backend) => {
    // In memory the trail is the ring alone.
    if (backend.name === 'in memory') return []
    const { url } = backend
    await using node = await startMeasured(bench, 'node', { url, seeds, unaudited: true })
    const audited = withDatabase(node, backend)
    const bare = { ...audited, port: Number(new URL(node.fact('unaudited')).port) }
    const rows: Row[] = []
    for (const mutation of mutations) {
      const entered = await loadOf(bench, audited, mutation)
      const without = await loadOf(bench, bare, mutation)
      const sides = {
        product: () => runHttpLoad(entered),
        baseline: () => runHttpLoad(without),
        ratioOf: (ours: HttpOutcome, theirs: HttpOutcome) => costOf(ours) / costOf(theirs),
      }
      const compared = await compareInTurn(sides, { rounds: bench.count(rounds) })
      rows.push(rowOf(`${mutation.name}, ${inFlight} in flight, ${backend.name}`, compared))
    }
    return rows
  })
}

/** What the database's own processes compute belongs to the cost. */
function withDatabase(server: Child, { pid }: MeasuredBackend): Child {
  if (pid === undefined) return server
  return { ...server, cpuMs: () => server.cpuMs() + cpuMsOfFamily(pid) }
}

async function loadOf(bench: Bench, server: Child, mutation: Mutation): Promise<HttpLoad> {
  const token = await signInOperator(server.port)
  const connection = await HttpConnection.open(server.port)
  const list = httpRequest('GET', `${mutation.list}?limit=200`, { token })
  const { body } = await connection.fetch(list)
  connection.close()
  const { items } = body as { items: { id: string | number }[] }
  const requests = items.map(({ id }) =>
    mutation.bodies.map((body) => mutation.request(token, String(id), body)),
  )
  const turns = requests.map(() => 0)
  // Each connection has a row of its own, so that nobody waits for another one.
  const request = (at: number) => {
    const turn = ((turns[at] ?? 0) + 1) % mutation.bodies.length
    turns[at] = turn
    return requests[at]?.[turn] ?? Buffer.alloc(0)
  }
  return { server, connections: inFlight, request, status: 200, seconds: bench.seconds(2) }
}

function costOf({ perCpuSecond }: HttpOutcome): number {
  return 1e6 / perCpuSecond
}

function rowOf(what: string, compared: Comparison<HttpOutcome, HttpOutcome>): Row {
  const { product: ours, baseline: theirs, ratio } = compared
  const rate = ({ perSecond }: HttpOutcome) => `${Math.round(perSecond)}/s`
  return {
    what,
    product: { value: costOf(ours), unit },
    baseline: { name: 'without audit', value: costOf(theirs), unit },
    ratio,
    bound: { of: 'ratio', is: 'at most', limit: 1.15 },
    notes: `${ratios(compared)}; node and database together; ${rate(ours)} and ${rate(theirs)}`,
  }
}
