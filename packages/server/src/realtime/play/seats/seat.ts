import { applicationKindMin, kinds } from '@guildhall/contract'
import type { TransportLimits } from '../../config.ts'
import { kindOf, type OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { QueueTotals } from '../../frames/queue-totals.ts'
import type { Receiver } from '../../play.port.ts'
import type { Participant } from '../participants/participant.ts'

type SeatDeps = {
  limits: TransportLimits
  totals: QueueTotals
  /** The seat holds more than it may. */
  overflowed(seat: Seat): void
  /** Too much is queued over all connections and seats. */
  relieve(): void
}

/**
 * What is kept for a dropped participant until it returns: its reliable frames, as far as they
 * still mean something to a client that comes back.
 */
export class Seat implements Receiver {
  readonly participant: Participant
  readonly droppedAtMs: number
  /** Whether its connection is open at another node, and is to come back by a new link. */
  isAwaited = (): boolean => false
  readonly #deps: SeatDeps
  #frames: OutgoingFrame[] = []
  #bytes = 0
  #over = false
  #unsent: PromiseWithResolvers<void> | undefined

  constructor(participant: Participant, droppedAtMs: number, deps: SeatDeps) {
    this.participant = participant
    this.droppedAtMs = droppedAtMs
    this.#deps = deps
  }

  get bytes(): number {
    return this.#bytes
  }

  /** What was under way to the connection comes back later: it belongs before all else. */
  awaitUnsent(): void {
    this.#unsent ??= Promise.withResolvers()
  }

  /** Settles when what was under way is there; undefined when nothing is to come. */
  get unsent(): Promise<void> | undefined {
    return this.#unsent?.promise
  }

  /** Takes over what the connection had not sent, before what came since. */
  inherit(frames: readonly OutgoingFrame[]): void {
    const since = this.#over ? [] : this.#frames
    const isMeant = (frame: OutgoingFrame) => {
      const kind = kindOf(frame)
      return isForAccount(kind) || kind >= applicationKindMin
    }
    if (!this.#over) {
      this.#frames = []
      for (const frame of frames) if (isMeant(frame)) this.#keep(frame)
      this.#frames.push(...since)
    }
    this.#unsent?.resolve()
    this.#unsent = undefined
  }

  deliver(frame: OutgoingFrame, unreliable: boolean): void {
    if (unreliable || this.#over || kindOf(frame) < applicationKindMin) return
    const { limits, totals } = this.#deps
    const { reliable_queue_capacity, reliable_queue_bytes } = limits
    const fits =
      this.#frames.length < reliable_queue_capacity &&
      this.#bytes + frame.bytes.length <= reliable_queue_bytes
    if (fits) this.#keep(frame)
    else this.#deps.overflowed(this)
    if (totals.queuedBytes > limits.max_queued_bytes_total) this.#deps.relieve()
  }

  /** A position means nothing any more to who comes back. */
  deliverPositions(): void {}

  // The connection that would have been sent these is gone.
  placed(): void {}
  settled(): void {}
  unhandled(): void {}
  replied(): void {}

  /** Gives back what was kept; nothing is kept from here on. */
  clear(): OutgoingFrame[] {
    const frames = this.#frames
    this.#deps.totals.queuedBytes -= this.#bytes
    this.#frames = []
    this.#bytes = 0
    this.#over = true
    this.#unsent?.resolve()
    this.#unsent = undefined
    return frames
  }

  #keep(frame: OutgoingFrame): void {
    this.#frames.push(frame)
    this.#bytes += frame.bytes.length
    this.#deps.totals.queuedBytes += frame.bytes.length
  }
}

/** What an account is sent wherever it is. */
function isForAccount(kind: number): boolean {
  return kind >= kinds.MATCHMAKER_MATCHED.first && kind <= kinds.CHAT_EVENT.first
}
