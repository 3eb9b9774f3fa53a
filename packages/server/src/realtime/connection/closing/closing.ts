import type { DeadlineQueue } from '../../../kernel/time/deadline-queue.ts'
import type { SendQueue } from '../send-queue/send-queue.ts'
import type { Connection } from '../transports/transport.ts'
import type { Closing } from './closings.ts'

type ClosingParts<Item> = {
  item: Item
  connection: Connection
  queue: SendQueue
  drains: DeadlineQueue<Item>
  partings: DeadlineQueue<Item>
}

/**
 * The end of a connection that was decided on. `draining` sends what is queued, `parting` has sent
 * the close and waits until the peer is gone. Both have their deadline.
 */
export class ClosingPhase<Item> {
  readonly #parts: ClosingParts<Item>
  readonly #closing: Closing
  #step: 'draining' | 'parting' = 'draining'

  constructor(closing: Closing, parts: ClosingParts<Item>) {
    this.#closing = closing
    this.#parts = parts
  }

  begin(): void {
    const { drains, queue, item } = this.#parts
    if (this.#closing.drains) {
      drains.add(item)
      this.flush()
    } else {
      // Nothing is waited for, but what the transport takes at once was queued before the decision.
      queue.transmit()
      this.part()
    }
  }

  /** The transport is closing by itself: only the peer is waited for. */
  beginParting(): void {
    this.#step = 'parting'
    this.#parts.queue.discard()
    this.#parts.partings.add(this.#parts.item)
  }

  flush(): void {
    const { queue } = this.#parts
    queue.transmit()
    if (queue.reliable === undefined) this.part()
  }

  /** Sends the close; what is still queued is lost. */
  part(): void {
    if (this.#step === 'parting') return
    const { connection, drains, item } = this.#parts
    drains.remove(item)
    this.beginParting()
    const { code, reason, drains: waits } = this.#closing
    connection.close(code, reason, waits)
  }

  gone(): void {
    const { drains, partings, item } = this.#parts
    drains.remove(item)
    partings.remove(item)
  }
}
