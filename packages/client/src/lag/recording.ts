import {
  type DiagStart,
  type LagClockSample,
  lagClockSamplesMax,
  lagFlags,
} from '@guildhall/contract/wire'
import type { Host } from '../host.ts'
import type { EnvelopeTap } from '../realtime/recording-port.ts'
import { Ring } from './ring.ts'

/** The server's time as a connection knows it. */
export type ServerTime = { now(): number | null; uncertaintyMs(): number | null }

/** A 32-bit count of microseconds wraps soon after. */
const recordingMsMax = 71 * 60_000
const sampleEveryMs = 600_000

/** One recording: from DIAG_START on until its deadline, a flush or its end. */
export class Recording {
  readonly start: DiagStart
  readonly tap: EnvelopeTap
  readonly #host: Host
  readonly #time: ServerTime
  readonly #ring: Ring
  readonly #startedMs: number
  readonly #wanted: ReadonlySet<number>
  readonly #samples: LagClockSample[] = []
  #sampledMs = 0
  #isFrozen = false

  constructor(start: DiagStart, { host, time }: { host: Host; time: ServerTime }) {
    this.start = start
    this.#host = host
    this.#time = time
    this.#ring = new Ring(start.max_bytes)
    this.#startedMs = host.monotonicMs()
    this.#wanted = new Set(
      start.filters.map(({ kind, direction }) => placeOf(kind, direction === 'outbound')),
    )
    this.#sample()
    this.tap = (kind, outbound, datagram, bodyBytes) => {
      if (this.#isFrozen) return
      const elapsedMs = host.monotonicMs() - this.#startedMs
      if (elapsedMs >= recordingMsMax) this.freeze()
      else if (!this.#wanted.has(placeOf(kind, outbound))) this.#ring.skip()
      else this.#ring.record(Math.round(elapsedMs * 1000), kind, outbound, datagram, bodyBytes)
    }
  }

  /** What is recorded so far, as DIAG_STATUS reports it. */
  get counts(): { packets: number; dropped: number; bytes: number } {
    const { accepted, overwritten, count } = this.#ring
    return { packets: accepted, dropped: overwritten, bytes: count * 48 }
  }

  /** Milliseconds until the deadline, by the server's time where it is known. */
  get leftMs(): number {
    const now = this.#time.now() ?? this.#host.nowMs()
    return Math.min(recordingMsMax, Math.max(0, this.start.deadline_utc_ms - now))
  }

  freeze(): void {
    this.#isFrozen = true
  }

  /** Notes where the server's clock stands, at most every ten minutes. */
  sampleAgain(): void {
    if (this.#host.monotonicMs() - this.#sampledMs >= sampleEveryMs) this.#sample()
  }

  /** The artifact, packed; without its oldest records where it would be too large. */
  async pack(compressedMax: number): Promise<Uint8Array<ArrayBuffer>> {
    this.freeze()
    if (this.#samples.length === 0) this.#sample()
    let newest = this.#ring.count
    for (;;) {
      const isCut = newest < this.#ring.count
      const packed = await gzip(this.#ring.encode(this.#facts(isCut), newest))
      if (packed.length <= compressedMax || newest === 0) return packed
      newest = Math.floor(Math.min(newest * 0.9, (newest * compressedMax) / packed.length))
    }
  }

  #facts(isCut: boolean) {
    const [first] = this.#samples
    const { capture_id, generation } = this.start
    const known = first === undefined ? 0 : lagFlags.clock_known
    return {
      flags: lagFlags.metadata | known | (isCut ? lagFlags.truncated : 0),
      capture_id,
      generation,
      clock_uncertainty_us: first?.uncertainty_us ?? 0,
      server_utc_us: first === undefined ? 0 : first.server_utc_us - first.elapsed_us,
      clock_samples: this.#samples,
    }
  }

  #sample(): void {
    const [now, uncertaintyMs] = [this.#time.now(), this.#time.uncertaintyMs()]
    if (now === null || uncertaintyMs === null) return
    if (this.#samples.length >= lagClockSamplesMax) return
    const monotonicMs = this.#host.monotonicMs()
    this.#sampledMs = monotonicMs
    this.#samples.push({
      elapsed_us: Math.round((monotonicMs - this.#startedMs) * 1000),
      server_utc_us: Math.round(now * 1000),
      uncertainty_us: Math.min(0xffffffff, Math.round(uncertaintyMs * 1000)),
    })
  }
}

function placeOf(kind: number, outbound: boolean): number {
  return 2 * kind + (outbound ? 1 : 0)
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(packed).arrayBuffer())
}
