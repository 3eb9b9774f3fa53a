import type { TransportLimits } from '../../config.ts'

/**
 * How much a connection may still send: envelopes and bytes, each refilled at its rate up to its
 * burst. What was already received may go into debt; the reader then waits until it is paid.
 */
export class TokenBuckets {
  readonly #limits: TransportLimits
  #envelopes: number
  #bytes: number
  #filledAtMs: number

  constructor(limits: TransportLimits, nowMs: number) {
    this.#limits = limits
    this.#envelopes = envelopeBurst(limits)
    this.#bytes = limits.inbound_bytes_burst
    this.#filledAtMs = nowMs
  }

  /** Takes one envelope of `bytes`; false when a bucket is now empty. */
  spend(bytes: number): boolean {
    this.#envelopes -= 1
    this.#bytes -= bytes
    return this.#hasTokens()
  }

  /** Adds what has come in since; true when nothing is empty any more. */
  refill(nowMs: number): boolean {
    const elapsedSec = Math.max(0, nowMs - this.#filledAtMs) / 1000
    const limits = this.#limits
    this.#filledAtMs = nowMs
    this.#envelopes = Math.min(
      envelopeBurst(limits),
      this.#envelopes + elapsedSec * limits.inbound_envelopes_per_sec,
    )
    this.#bytes = Math.min(
      limits.inbound_bytes_burst,
      this.#bytes + elapsedSec * limits.inbound_bytes_per_sec,
    )
    return this.#hasTokens()
  }

  /** Full buckets need not be kept. */
  isFull(): boolean {
    const limits = this.#limits
    return this.#envelopes >= envelopeBurst(limits) && this.#bytes >= limits.inbound_bytes_burst
  }

  #hasTokens(): boolean {
    const { inbound_envelopes_per_sec, inbound_bytes_per_sec } = this.#limits
    return (
      (this.#envelopes >= 1 || inbound_envelopes_per_sec === 0) &&
      (this.#bytes > 0 || inbound_bytes_per_sec === 0)
    )
  }
}

/** A burst below one envelope would never let anything through. */
function envelopeBurst({ inbound_envelope_burst }: TransportLimits): number {
  return Math.max(1, inbound_envelope_burst)
}
