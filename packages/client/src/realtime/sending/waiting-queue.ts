import { GuildhallError } from '../../error.ts'
import type { Host } from '../../host.ts'

/** An envelope that waits until it can go out. */
export type Waiting = {
  /** Calls go out on any next link, sends only if the server kept the player's seat. */
  isCall: boolean
  bytes: number
  /** Sends it; false when it has to go on waiting. Throws when the transport is full. */
  go(): boolean
}

const envelopesMax = 256
const bytesMax = 262_144
/** How often a full transport is looked at: it has no event for that. */
const pollMs = 50

/** What waits for a link, or calls for an answer to make room: in order, and bounded. */
export class WaitingQueue {
  #entries: Waiting[] = []
  #bytes = 0
  readonly #host: Host
  /** The transport was full at the last flush: nothing may overtake what waits. */
  #isBlocked = false
  #cancelPoll = () => {}

  constructor(host: Host) {
    this.#host = host
  }

  /** @throws GuildhallError `queue_full`, and then nothing is queued */
  push(entry: Waiting): void {
    if (this.#entries.length >= envelopesMax || this.#bytes + entry.bytes > bytesMax) {
      throw queueFull()
    }
    this.#entries.push(entry)
    this.#bytes += entry.bytes
  }

  remove(entry: Waiting): void {
    this.#keep((other) => other !== entry)
  }

  /** Sends what can be sent, in order; with a full transport again in a moment. */
  flush(): void {
    this.#cancelPoll()
    this.#isBlocked = false
    this.#keep((entry) => this.#isBlocked || !this.#hasGone(entry))
    if (this.#isBlocked) this.#cancelPoll = this.#host.startTimer(pollMs, () => this.flush())
  }

  /** Whether the transport takes something new, behind everything that waited for room in it. */
  isClear(): boolean {
    if (this.#isBlocked) this.flush()
    return !this.#isBlocked
  }

  /** Discards the sends and returns how many there were. */
  dropSends(): number {
    const before = this.#entries.length
    this.#keep(({ isCall }) => isCall)
    return before - this.#entries.length
  }

  clear(): void {
    this.#cancelPoll()
    this.#isBlocked = false
    this.#keep(() => false)
  }

  /** A transport that is full takes it another time. */
  #hasGone(entry: Waiting): boolean {
    try {
      return entry.go()
    } catch {
      this.#isBlocked = true
      return false
    }
  }

  #keep(holds: (entry: Waiting) => boolean): void {
    this.#entries = this.#entries.filter(holds)
    this.#bytes = this.#entries.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

export function queueFull(): GuildhallError {
  return new GuildhallError('queue_full', 'too much is waiting to be sent')
}
