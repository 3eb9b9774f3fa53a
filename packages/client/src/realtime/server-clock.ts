import { diagClockSyncBody, kinds } from '@guildhall/contract/wire'
import type { Part, Wire } from './part.ts'

const firstSamples = 3
const firstPauseMs = 600
const pauseMs = 60_000
const samplesKept = 8

/** `offsetMs` is the server's time minus this device's monotonic clock. */
type Sample = { offsetMs: number; roundTripMs: number }

export type ServerClock = Part & {
  /** Unix milliseconds of the server; null before the first sample. */
  now(): number | null
  uncertaintyMs(): number | null
  /** Asks once more; any answer is a sign of life, too. */
  ask(): void
}

/**
 * The server's time, from clock-sync requests: three after each `open`, then one per minute. The
 * sample with the shortest round trip of the last eight counts.
 */
export function createServerClock(wire: Wire): ServerClock {
  const samples: Sample[] = []
  const asked = new Map<number, number>()
  let seq = 0
  let cancel = () => {}

  function ask(): void {
    seq = (seq + 1) % 2 ** 32
    const sentMs = wire.host.monotonicMs()
    if (asked.size >= samplesKept) asked.clear()
    asked.set(seq, sentMs)
    const client_mono_us = BigInt(Math.round(sentMs * 1000))
    try {
      wire.write(
        kinds.DIAG_CLOCK_SYNC.first,
        diagClockSyncBody.encode({ type: 'request', seq, client_mono_us }),
      )
    } catch {
      // The transport is full: a sample from now would be worth little.
      asked.delete(seq)
    }
  }

  function askAgain(left: number): void {
    ask()
    cancel = wire.host.startTimer(left > 1 ? firstPauseMs : pauseMs, () => askAgain(left - 1))
  }

  function stop(): void {
    cancel()
    asked.clear()
  }

  function answered(body: Uint8Array): void {
    const sync = diagClockSyncBody.decode(body)
    if (sync.type === 'request') return
    const sentMs = asked.get(sync.seq)
    if (sentMs === undefined) return
    asked.delete(sync.seq)
    const receivedMs = wire.host.monotonicMs()
    const serverMs = (sync.server_sent_utc_us - sync.server_recv_utc_us) / 1000
    const roundTripMs = Math.max(0, receivedMs - sentMs - serverMs)
    const offsetMs = sync.server_sent_utc_us / 1000 + roundTripMs / 2 - receivedMs
    samples.push({ offsetMs, roundTripMs })
    if (samples.length > samplesKept) samples.shift()
  }

  function best(): Sample | undefined {
    return [...samples].sort((one, other) => one.roundTripMs - other.roundTripMs)[0]
  }

  return {
    now() {
      const sample = best()
      return sample === undefined ? null : wire.host.monotonicMs() + sample.offsetMs
    },
    uncertaintyMs() {
      const sample = best()
      return sample === undefined ? null : sample.roundTripMs / 2
    },
    ask,
    opened() {
      stop()
      askAgain(firstSamples)
    },
    lost: stop,
    closed: stop,
    handlers: { [kinds.DIAG_CLOCK_SYNC.first]: answered },
  }
}
