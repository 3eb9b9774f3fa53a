import { runtimeHost } from '../host.ts'
import { Recording } from '../lag/recording.ts'

/**
 * What the recorder of lag diagnostics costs for each envelope, for the benchmarks: nanoseconds and
 * bytes of heap.
 */
type Options = { envelopes: number; rounds: number }
const options: Options = JSON.parse(process.argv[2] ?? '')
const host = runtimeHost({})
const time = { now: () => null, uncertaintyMs: () => null }

const took: number[] = []
const grown: number[] = []
for (let round = 0; round < options.rounds; round += 1) {
  const { tap, counts } = new Recording(
    {
      capture_id: '00112233445566778899aabbccddeeff',
      generation: 1,
      deadline_utc_ms: 0,
      max_bytes: 4_194_304,
      filters: [{ kind: 100, direction: 'inbound', entity: null }],
    },
    { host, time },
  )
  if (counts.packets !== 0) throw new Error('a recording begins empty')
  const before = process.memoryUsage().heapUsed
  const startMs = host.monotonicMs()
  for (let sent = 0; sent < options.envelopes; sent += 1) tap(100, false, false, 24)
  took.push(((host.monotonicMs() - startMs) * 1e6) / options.envelopes)
  grown.push((process.memoryUsage().heapUsed - before) / options.envelopes)
}
const list = (values: readonly number[]) => values.map((value) => value.toFixed(1)).join()
process.stdout.write(`ready ns=${list(took)} bytes=${list(grown)}\n`)
