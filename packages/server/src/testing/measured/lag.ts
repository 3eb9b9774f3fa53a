import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { encodeLagHeader, lagFlags, lagHeaderBytes, lagRecordBytes } from '@guildhall/contract'
import { createAnalysisThread } from '../../features/lag/analysis/analysis-thread.ts'
import { createServerSide } from '../../features/lag/captures/server-side.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import type { EnvelopeObserver } from '../../kernel/play/recording.ts'
import { SendQueue } from '../../realtime/connection/send-queue/send-queue.ts'
import type { Connection, Lanes } from '../../realtime/connection/transports/transport.ts'
import { outgoingFrame } from '../../realtime/frames/outgoing-frame.ts'
import { createGatewayMetrics } from '../../realtime/metrics.ts'

/**
 * What an envelope costs the node on its way through the queue of a connection, with a recorder and
 * without one, and how long the analysis of a large recording takes on its thread, in process, for
 * the benchmarks.
 */
type Options = { envelopes: number; records: number; rounds: number }
const options: Options = JSON.parse(process.argv[2] ?? '')
const clock = createSystemClock()
const kind = 100
const filters = [{ kind, direction: 'inbound' }] as const

/** Takes all that it is given. */
const endlessTransport: Connection = {
  limitGroup: undefined,
  credit: 1,
  datagrams: undefined,
  write: ({ reliable }: Lanes) => void reliable?.drop(reliable.length),
  pauseReading() {},
  resumeReading() {},
  close() {},
  destroy() {},
}

const took = { noted: [] as number[], passed: [] as number[], bare: [] as number[] }
for (let round = 0; round <= options.rounds; round += 1) {
  const ns = { bare: bareNs(), noted: recordedNs(kind), passed: recordedNs(kind + 1) }
  // The first one is for the compiler.
  if (round === 0) continue
  for (const name of ['bare', 'noted', 'passed'] as const) took[name].push(ns[name])
}
const analysed = await analyse()
const list = (values: readonly number[]) => values.map((value) => value.toFixed(1)).join()
const facts = Object.entries(took).map(([name, ns]) => `${name}_ns=${list(ns)}`)
process.stdout.write(`ready ${facts.join(' ')} analysis_ms=${list(analysed)}\n`)

function bareNs(): number {
  return nsOf(undefined, kind)
}

/** Of an envelope of this kind; one of another kind than the filters' is passed by. */
function recordedNs(queued: number): number {
  const { observer, counted } = createServerSide(clock, filters)
  const ns = nsOf(observer, queued)
  const [group] = counted()
  if ((group?.records ?? 0) !== (queued === kind ? options.envelopes : 0)) {
    throw new Error('an envelope was not counted')
  }
  return ns
}

/** Nanoseconds of an envelope, as a connection delivers it. */
function nsOf(observer: EnvelopeObserver | undefined, queued: number): number {
  const queue = createQueue()
  const frame = outgoingFrame(queued, new Uint8Array(24))
  const startMs = clock.monotonicMs()
  for (let sent = 0; sent < options.envelopes; sent += 1) {
    if (observer !== undefined) queue.report(observer, frame, false)
    queue.queueReliable(frame)
    queue.transmit()
  }
  return ((clock.monotonicMs() - startMs) * 1e6) / options.envelopes
}

function createQueue(): SendQueue {
  const large = Number.MAX_SAFE_INTEGER
  const limits = {
    ...{ max_envelope_bytes: large, max_connections: large, max_connections_per_address: large },
    ...{ inbound_envelopes_per_sec: 0, inbound_envelope_burst: 0, inbound_bytes_per_sec: 0 },
    ...{ inbound_bytes_burst: 0, max_pending_handshakes: large, rpc_in_flight: large },
    ...{ reliable_queue_capacity: large, reliable_queue_bytes: large },
    ...{ unreliable_queue_capacity: large, unreliable_queue_bytes: large },
    max_queued_bytes_total: large,
  }
  const totals = { queuedBytes: 0, highWaterBytes: 0 }
  return new SendQueue(endlessTransport, { limits, metrics: createGatewayMetrics(), totals })
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
