import { type AuthResult, type Envelope, frameHeaderBytes } from '@guildhall/contract'
import type { GatewayMetrics } from '../../metrics.ts'
import type { Player, VerifyPlayer } from '../../ports.ts'
import type { Closing, ProtocolDetail } from '../closing/closings.ts'
import {
  closingAfter,
  type FirstFrame,
  type HandshakePolicy,
  handshakeTable,
  readFirstFrame,
} from './handshake.ts'

/** What the handshake asks of its connection. */
export type GreetingHost = {
  /** Whether the connection has ended, or got its decision, while its token was verified. */
  isOver(): boolean
  /** `waiting` are the envelopes behind the first frame, as far as they are there. */
  accept(player: Player | undefined, waiting: Envelope[]): void
  answer(result: AuthResult): void
  end(closing: Closing): void
  /** The envelopes that have arrived, up to `max`. */
  takeAvailable(max: number): Envelope[]
  /** Nothing more is read until the decision. */
  pauseReading(): void
}

type GreetingDeps = {
  policy: HandshakePolicy
  verifyPlayer: VerifyPlayer
  metrics: GatewayMetrics
}

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

  /** Nothing was heard within the handshake timeout. A token that is verified has longer. */
  timeOut(): void {
    if (!this.verifying) this.refuse('silence')
  }

  /** Ends the connection as the table says; `detail` is what the peer did wrong. */
  refuse(first: FirstFrame, detail: ProtocolDetail = 'handshake'): void {
    const { metrics, policy } = this.#deps
    const outcome = handshakeTable[first][policy]
    if (outcome.result !== 'rejected' && outcome.result !== 'timeout') return
    if (outcome.result === 'rejected') {
      metrics.handshake_rejected_total += 1
      this.#host.answer({ status: 'rejected', reason: outcome.reason })
    } else {
      metrics.handshake_timeouts_total += 1
    }
    this.#host.end(closingAfter(outcome, detail))
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
      this.refuse(first)
    }
  }

  #verify(token: string): void {
    const waiting: Envelope[] = []
    this.#waiting = waiting
    const decide = (player: Player | undefined) => {
      if (this.#host.isOver()) return
      if (player === undefined) this.refuse('other_token')
      else this.#host.accept(player, waiting)
    }
    // A backend that fails must not look different from a token that is unknown.
    this.#deps.verifyPlayer(token).then(decide, () => decide(undefined))
  }
}
