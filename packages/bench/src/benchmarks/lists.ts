import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { describeLatency, listLatency } from '../load/list-latency.ts'
import { onBackends } from '../processes/backends.ts'
import { startFilled } from '../processes/filled.ts'
import { startMeasured } from '../processes/measured.ts'

/** First pages of other lists when there are very many rows, beside when there are few. */
export const lists: Benchmark = { name: 'lists', run }

const many = 100_000
const few = 1000
/** A user has some notifications of its own among those for everybody. */
const reads = [
  { name: 'groups', path: '/console/v1/groups' },
  { name: 'notifications', path: '/console/v1/notifications' },
  { name: "notifications of a user's", path: '/console/v1/notifications?user_id=account-7' },
] as const

async function run(bench: Bench): Promise<Row[]> {
  const seeds = { groups: few, notifications: few }
  await using small = await startMeasured(bench, 'node', { url: 'memory:', seeds })
  const baselines: number[] = []
  for (const { path } of reads) baselines.push((await listLatency(bench, small, path)).p99)
  return onBackends(bench, 'lists.db', async (backend) => {
    const rows = bench.count(many)
    await using server = await startFilled(bench, backend, {
      seeds: { groups: rows, notifications: rows },
      config: { 'notifications.capacity': String(many) },
    })
    const found: Row[] = []
    for (const [index, { name, path }] of reads.entries()) {
      const latency = await listLatency(bench, server, path)
      const baseline = baselines[index] ?? Number.NaN
      found.push({
        what: `p99 of the first page of ${rows} ${name}, ${backend.name}`,
        product: { value: latency.p99, unit: 'ms' },
        baseline: { name: `${few} in memory`, value: baseline, unit: 'ms' },
        ratio: latency.p99 / baseline,
        bound: { of: 'value', is: 'at most', limit: 10 },
        notes: describeLatency(latency),
      })
    }
    return found
  })
}
