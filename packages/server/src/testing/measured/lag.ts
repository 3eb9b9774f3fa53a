import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { encodeLagHeader, lagFlags, lagHeaderBytes, lagRecordBytes } from '@guildhall/contract'
import { createAnalysisThread } from '../../features/lag/analysis/analysis-thread.ts'
import { createServerSide } from '../../features/lag/captures/server-side.ts'
import { createSystemClock } from '../../kernel/clock.ts'

/**
 * What a recorder costs the node for each envelope, and how long the analysis of a large recording
 * takes on its thread, in process, for the benchmarks.
 */
type Options = { envelopes: number; records: number; rounds: number }
const options: Options = JSON.parse(process.argv[2] ?? '')
const clock = createSystemClock()
const kind = 100
const filters = [{ kind, direction: 'inbound' }] as const

const noted: number[] = []
const passed: number[] = []
for (let round = 0; round < options.rounds; round += 1) {
  noted.push(nsOf(kind))
  passed.push(nsOf(kind + 1))
}
const analysed = await analyse()
const list = (values: readonly number[]) => values.map((value) => value.toFixed(1)).join()
process.stdout.write(
  `ready noted_ns=${list(noted)} passed_ns=${list(passed)} analysis_ms=${list(analysed)}\n`,
)

/** Nanoseconds of an envelope of this kind; one of another kind than the filters' is passed by. */
function nsOf(queued: number): number {
  const { observer, counted } = createServerSide(clock, filters)
  const startMs = clock.monotonicMs()
  for (let sent = 0; sent < options.envelopes; sent += 1) observer.queued(queued, false, 24)
  const tookMs = clock.monotonicMs() - startMs
  const [group] = counted()
  if ((group?.records ?? 0) !== (queued === kind ? options.envelopes : 0)) {
    throw new Error('an envelope was not counted')
  }
  return (tookMs * 1e6) / options.envelopes
}

async function analyse(): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-bench-lag-'))
  try {
    const path = join(folder, 'recording')
    const bytes = recording(options.records)
    await writeFile(path, gzipSync(bytes, { level: 1 }))
    const thread = createAnalysisThread(clock)
    const took: number[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      const startMs = clock.monotonicMs()
      const reply = await thread.run({
        path,
        bytesMax: bytes.length,
        filters,
        participant: 1,
        options: { send_rate_hz: 20, max_windows: 64 },
      })
      if (!reply?.ok || reply.analysis.quality.sample_count !== options.records) {
        throw new Error('the recording was not analysed')
      }
      took.push(clock.monotonicMs() - startMs)
    }
    return took
  } finally {
    await rm(folder, { recursive: true })
  }
}

function recording(records: number): Buffer {
  const bytes = Buffer.alloc(lagHeaderBytes + records * lagRecordBytes)
  bytes.set(
    encodeLagHeader({
      flags: lagFlags.metadata,
      record_count: records,
      accepted: records,
      overwritten: 0,
      skipped_by_filter: 0,
      skipped_as_malformed: 0,
      capture_id: '00112233445566778899aabbccddeeff',
      generation: 1,
      clock_uncertainty_us: 0,
      server_utc_us: 0,
      clock_samples: [],
    }),
  )
  for (let index = 0; index < records; index += 1) {
    const at = lagHeaderBytes + index * lagRecordBytes
    bytes.writeUInt32BE(index * 2000 + ((index * 7919) % 1500), at)
    bytes.writeUInt16BE(kind, at + 4)
    bytes.writeUInt8(index % 3 === 0 ? 4 : 2, at + 7)
    bytes.writeUInt32BE(24, at + 8)
  }
  return bytes
}
