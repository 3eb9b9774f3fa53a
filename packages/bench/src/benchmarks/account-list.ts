import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { describeLatency, listLatency } from '../load/list-latency.ts'
import { signInOperator } from '../load/operator.ts'
import { type MeasuredBackend, onBackends } from '../processes/backends.ts'
import type { Child } from '../processes/child.ts'
import { startFilled } from '../processes/filled.ts'
import { startMeasured } from '../processes/measured.ts'
import { median } from '../statistics.ts'

/** The first page of the accounts when there are very many, beside when there are few. */
export const accountList: Benchmark = { name: 'account-list', run }

const path = '/console/v1/accounts'
/** Found in the ids and usernames of about a thousand of a million accounts. */
const filter = '999'
const many = 1_000_000
const few = 1000

async function run(bench: Bench): Promise<Row[]> {
  await using small = await startMeasured(bench, 'node', {
    url: 'memory:',
    seeds: { accounts: few },
  })
  const baseline = await listLatency(bench, small, path)
  const accounts = bench.count(many)
  return onBackends(bench, 'accounts.db', async (backend) => {
    await using server = await startFilled(bench, backend, { seeds: { accounts } })
    const found = await listLatency(bench, server, path)
    return [
      {
        what: `p99 of the first page of ${accounts} accounts, ${backend.name}`,
        product: { value: found.p99, unit: 'ms' },
        baseline: { name: `${few} accounts in memory`, value: baseline.p99, unit: 'ms' },
        ratio: found.p99 / baseline.p99,
        bound: { of: 'value', is: 'at most', limit: 10 },
        notes: describeLatency(found),
      },
      await filtered(bench, server, { backend, accounts }),
    ]
  })
}

type Place = { backend: MeasuredBackend; accounts: number }

/** What a filter costs, and whether others feel it. */
async function filtered(bench: Bench, server: Child, place: Place): Promise<Row> {
  const alone = await listLatency(bench, server, '/console/v1/groups')
  const token = await signInOperator(server.port)
  const connection = await HttpConnection.open(server.port)
  const request = httpRequest('GET', `${path}?filter=${filter}`, { token })
  const times: number[] = []
  let isOver = false
  const searches = (async () => {
    while (!isOver) {
      const startMs = performance.now()
      const { status } = await connection.fetch(request)
      if (status !== 200) throw new Error(`a search was answered with ${status}`)
      times.push(performance.now() - startMs)
      await sleep(pauseMs)
    }
  })()
  const meanwhile = await listLatency(bench, server, '/console/v1/groups')
  isOver = true
  await searches
  connection.close()
  return {
    what: `a page of ${place.accounts} accounts with a filter, ${place.backend.name}`,
    product: { value: median(times), unit: 'ms' },
    notes:
      `median of ${times.length}; p99 of the groups meanwhile ${meanwhile.p99.toFixed(1)} ms, ` +
      `${alone.p99.toFixed(1)} ms without`,
  }
}

const pauseMs = 50
