import { GuildhallError } from '../error.ts'

/** An envelope that waits until it can go out. */
export type Waiting = {
  /** Calls go out on any next link, sends only if the server kept the player's seat. */
  isCall: boolean
  bytes: number
  /** Sends it; false when it has to go on waiting. */
  go(): boolean
}

const envelopesMax = 256
const bytesMax = 262_144

/** What waits for a link, or calls for an answer to make room: in order, and bounded. */
export class WaitingQueue {
  #entries: Waiting[] = []
  #bytes = 0

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

  /** Sends what can be sent, in order. */
  flush(): void {
    this.#keep((entry) => !hasGone(entry))
  }

  /** Discards the sends and returns how many there were. */
  dropSends(): number {
    const before = this.#entries.length
    this.#keep(({ isCall }) => isCall)
    return before - this.#entries.length
  }

  clear(): void {
    this.#keep(() => false)
  }

  #keep(holds: (entry: Waiting) => boolean): void {
    this.#entries = this.#entries.filter(holds)
    this.#bytes = this.#entries.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

/** A transport that is full takes it another time. */
function hasGone(entry: Waiting): boolean {
  try {
    return entry.go()
  } catch {
    return false
  }
}

export function queueFull(): GuildhallError {
  return new GuildhallError('queue_full', 'too much is waiting to be sent')
}
