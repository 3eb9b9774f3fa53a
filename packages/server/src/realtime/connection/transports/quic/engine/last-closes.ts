import { keyOf } from './routes.ts'

/** How long after a close it may be said again; each time twice as long. */
const againMs = 10
/** So long a peer may send to a connection that is over, and so many are kept. */
const keptMs = 10_000
const keptMax = 1000

type Kept = { readonly close: Uint8Array; readonly untilMs: number; gapMs: number; atMs: number }

/**
 * The last packets of connections that were cut, for peers that have lost them: whatever they send
 * then is answered with the same packet, ever more seldom (RFC 9000, 10.2.1).
 */
export class LastCloses {
  readonly #kept = new Map<string, Kept>()

  add(key: string, close: Uint8Array, nowMs: number): void {
    this.#forget(nowMs, keptMax - 1)
    const untilMs = nowMs + keptMs
    this.#kept.set(key, { close, untilMs, gapMs: againMs, atMs: nowMs + againMs })
  }

  /** Undefined for a packet of another connection, and while it is too soon. */
  answer(packet: Uint8Array, address: string, nowMs: number): Uint8Array | undefined {
    this.#forget(nowMs, keptMax)
    if (this.#kept.size === 0) return undefined
    const kept = this.#kept.get(keyOf(packet, address))
    if (kept === undefined || nowMs < kept.atMs) return undefined
    kept.gapMs *= 2
    kept.atMs = nowMs + kept.gapMs
    return kept.close
  }

  /** The oldest come first: those whose time is over go, and those beyond `max`. */
  #forget(nowMs: number, max: number): void {
    for (const [oldest, { untilMs }] of this.#kept) {
      if (untilMs > nowMs && this.#kept.size <= max) return
      this.#kept.delete(oldest)
    }
  }
}
