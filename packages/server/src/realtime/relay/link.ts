import { atEndOfTurn } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/cluster/bus.ts'
import { type Ask, encodeMessage, type Report } from './messages.ts'

/**
 * One direction of talk between the edge of some participants and the owner of their rooms. What
 * is sent arrives in order or not at all: a message that is missing resets the link.
 *
 * | state | what it does                                            | what comes next |
 * |-------|---------------------------------------------------------|-----------------|
 * | open  | messages count up; a beat goes out every second         | over            |
 * | over  | nothing of it counts any more, on either side           |                 |
 */
export class Link<Sent extends Ask | Report> {
  readonly peer: string
  readonly id: Uint8Array
  readonly #deps: LinkDeps
  readonly #side: 'asks' | 'reports'
  #waiting: Sent[] = []
  #isFlushDue = false
  #sent = 0
  #received = 0
  #heardMs: number
  #sentMs: number
  #isOver = false

  constructor(
    { peer, id, side }: { peer: string; id: Uint8Array; side: 'asks' | 'reports' },
    deps: LinkDeps,
  ) {
    this.peer = peer
    this.id = id
    this.#side = side
    this.#deps = deps
    this.#heardMs = deps.nowMs()
    this.#sentMs = deps.nowMs()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Leaves at the end of the turn, together with the others. */
  send(item: Sent): void {
    if (this.#isOver) return
    this.#waiting.push(item)
    this.#flushLater()
  }

  /** What was sent last, as long as it has not left: more of the same may be added to it. */
  last(): Sent | undefined {
    return this.#waiting.at(-1)
  }

  /** Whether a message is the next one; one that is not means that another one is missing. */
  takes(sequence: number): boolean {
    if (sequence !== this.#received) return false
    this.#received += 1
    this.#heardMs = this.#deps.nowMs()
    return true
  }

  /** Sends a sign of life where nothing else was sent; false when the peer has been silent. */
  beat(): boolean {
    const nowMs = this.#deps.nowMs()
    if (nowMs - this.#heardMs > silentMs) return false
    if (nowMs - this.#sentMs >= beatMs) this.#flushLater()
    return true
  }

  /** To be called when it is reset or closed. */
  end(): void {
    this.#isOver = true
    this.#waiting = []
  }

  /** What waits leaves now. */
  flush(): void {
    this.#isFlushDue = false
    if (this.#isOver) return
    const { bus, bootId, overflowed, sent } = this.#deps
    if (bus.waitingBytes > waitingBytesMax) {
      overflowed(this.peer, this.#side)
      return
    }
    const items = this.#waiting
    this.#waiting = []
    const sequence = this.#sent
    this.#sent += 1
    this.#sentMs = this.#deps.nowMs()
    const head = { link: this.id, sequence }
    const content =
      this.#side === 'asks'
        ? ({ type: 'asks', ...head, items: items as Ask[] } as const)
        : ({ type: 'reports', ...head, items: items as Report[] } as const)
    sent(items.length)
    bus.send(this.peer, encodeMessage(bootId, content))
  }

  #flushLater(): void {
    if (this.#isFlushDue) return
    this.#isFlushDue = true
    atEndOfTurn(() => this.flush())
  }
}

export type LinkDeps = {
  bus: Bus
  bootId: string
  nowMs(): number
  /** So many items have left. */
  sent(items: number): void
  /** The bus does not keep up: the link is to be reset. */
  overflowed(peer: string, side: 'asks' | 'reports'): void
}

export const beatMs = 1000
const silentMs = 5000
const waitingBytesMax = 16 * 1024 * 1024
