import type { GuildhallError } from '../error.ts'
import type { CallOptions } from '../realtime/call-options.ts'
import type { Wire } from '../realtime/part.ts'
import { abortedBy, watchDeadline } from '../realtime/sending/deadline.ts'
import { queueFull } from '../realtime/sending/waiting-queue.ts'
import type { LiveRoom } from './live-room.ts'

/** What a request came to. A leave has no room. */
export type Answer = { room?: LiveRoom } | { error: GuildhallError }

export type RoomRequest = {
  /** `enter` and `accept` end with a room, `leave` ends with none. */
  type: 'enter' | 'accept' | 'leave'
  /** Sends it; an error that is thrown is its answer. False when there is nothing to wait for. */
  begin(): boolean
}

type Entry = RoomRequest & { isAbandoned: boolean; settle(answer: Answer): void }

/** Most requests that wait behind the present one, leaves not counted. */
const waitingMax = 4

/** Requests about rooms: one at a time, in order, as the server takes them. */
export class RoomRequests {
  readonly #wire: Wire
  #active: Entry | undefined
  #waiting: Entry[] = []

  constructor(wire: Wire) {
    this.#wire = wire
  }

  /** Whether a request is under way that ends in another room. */
  get isEntering(): boolean {
    return this.#active !== undefined && this.#active.type !== 'leave'
  }

  get isIdle(): boolean {
    return this.#active === undefined && this.#waiting.length === 0
  }

  /** Whether nothing waits for the answer of the present request any more. */
  get isAbandoned(): boolean {
    return this.#active?.isAbandoned ?? false
  }

  /** Calls `settled` exactly once. */
  submit(request: RoomRequest, call: CallOptions, settled: (answer: Answer) => void): void {
    const asking = this.#waiting.filter(({ type }) => type !== 'leave').length
    if (call.signal?.aborted) {
      settled({ error: abortedBy(call.signal) })
      return
    }
    if (request.type !== 'leave' && asking >= waitingMax) {
      settled({ error: queueFull() })
      return
    }
    let stopWatch = () => {}
    const entry: Entry = {
      ...request,
      isAbandoned: false,
      settle(answer) {
        stopWatch()
        if (entry.isAbandoned) return
        entry.isAbandoned = true
        settled(answer)
      },
    }
    stopWatch = watchDeadline(this.#wire.host, call, (error) => {
      this.#waiting = this.#waiting.filter((other) => other !== entry)
      entry.settle({ error })
    })
    this.#waiting.push(entry)
    this.pump()
  }

  /** The answer of the present request; the next one begins. */
  answer(answer: Answer): void {
    const active = this.#active
    if (active === undefined) return
    this.#active = undefined
    active.settle(answer)
    this.pump()
  }

  /** Begins the next request if it can. */
  pump(): void {
    while (this.#wire.isOpen && this.#active === undefined) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#active = next
      try {
        if (!next.begin()) this.answer({})
      } catch (error) {
        this.answer({ error: error as GuildhallError })
      }
    }
  }

  /** The link is lost: what was sent is void. */
  lost(error: GuildhallError): void {
    const active = this.#active
    this.#active = undefined
    active?.settle({ error })
  }

  closed(error: GuildhallError): void {
    this.lost(error)
    const waiting = this.#waiting
    this.#waiting = []
    for (const entry of waiting) entry.settle(entry.type === 'leave' ? {} : { error })
  }
}
