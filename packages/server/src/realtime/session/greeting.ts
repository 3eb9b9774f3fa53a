import { type Envelope, frameHeaderBytes } from '@guildhall/contract'
import type { Player, VerifyPlayer } from '../ports.ts'
import {
  type FirstFrame,
  type HandshakePolicy,
  handshakeTable,
  readFirstFrame,
} from './handshake.ts'

/** What the handshake asks of its session. */
export type GreetingHost = {
  /** `waiting` are the envelopes behind the first frame, as far as they are there. */
  accept(player: Player | undefined, waiting: Envelope[]): void
  refuse(first: FirstFrame): void
  /** The envelopes that have arrived, up to `max`. */
  takeAvailable(max: number): Envelope[]
  /** Nothing more is read until the decision. */
  pauseReading(): void
}

type GreetingDeps = { policy: HandshakePolicy; verifyPlayer: VerifyPlayer }

/** Frames that may wait behind AUTH; then reading pauses. */
const waitingFramesMax = 64
const waitingBytesMax = 256 * 1024

/** The handshake of one connection: the first frame, and the answer about its token. */
export class Greeting {
  readonly #host: GreetingHost
  readonly #deps: GreetingDeps
  #waiting: Envelope[] | undefined
  #waitingBytes = 0

  constructor(host: GreetingHost, deps: GreetingDeps) {
    this.#host = host
    this.#deps = deps
  }

  /** True from the first frame to the decision. */
  get verifying(): boolean {
    return this.#waiting !== undefined
  }

  take(envelope: Envelope): void {
    if (this.#waiting === undefined) this.#greet(envelope)
    else this.#wait(this.#waiting, envelope)
  }

  #wait(waiting: Envelope[], envelope: Envelope): void {
    waiting.push(envelope)
    this.#waitingBytes += frameHeaderBytes + envelope.body.length
    if (waiting.length >= waitingFramesMax || this.#waitingBytes >= waitingBytesMax) {
      this.#host.pauseReading()
    }
  }

  #greet(envelope: Envelope): void {
    const first = readFirstFrame(envelope)
    if (typeof first !== 'string') {
      this.#verify(first.token)
    } else if (handshakeTable[first][this.#deps.policy].result === 'guest') {
      const kept = first === 'other_kind' ? [envelope] : []
      const available = this.#host.takeAvailable(waitingFramesMax)
      this.#host.accept(undefined, [...kept, ...available])
    } else {
      this.#host.refuse(first)
    }
  }

  #verify(token: string): void {
    const waiting: Envelope[] = []
    this.#waiting = waiting
    const decide = (player: Player | undefined) => {
      if (player === undefined) this.#host.refuse('other_token')
      else this.#host.accept(player, waiting)
    }
    // A backend that fails must not look different from a token that is unknown.
    this.#deps.verifyPlayer(token).then(decide, () => decide(undefined))
  }
}
