import {
  type AuthResult,
  authResultBody,
  type Envelope,
  frameHeaderBytes,
  kinds,
} from '@guildhall/contract'
import type { Clock } from '../kernel/clock.ts'
import { type Closing, closings, type ProtocolDetail, protocolError } from './closings.ts'
import type { DeadlineQueue } from './deadline-queue.ts'
import {
  closingAfter,
  type FirstFrame,
  type HandshakePolicy,
  handshakeTable,
  readFirstFrame,
} from './handshake.ts'
import { Inbound, type InboundConsumer, type InboundDeps } from './inbound.ts'
import type { LiveSession } from './live-session.ts'
import { Liveness, type LivenessConfig } from './liveness.ts'
import { Outbox, type OutboxDeps } from './outbox.ts'
import { type OutgoingFrame, outgoingFrame } from './outgoing-frame.ts'
import { newParticipant, type Participant } from './participant.ts'
import type { GameScript, Player, VerifyPlayer } from './ports.ts'
import type { Registry } from './registry.ts'
import type { Connection, ConnectionEvents } from './transports/transport.ts'

/**
 * The life of one connection. `greeting` waits for the first frame, `verifying` for an answer
 * about a token, `live` plays. From `closing` on nothing comes in and nothing new goes out: first
 * `draining` what is queued, then `parting` until the peer is gone.
 */
type SessionState =
  | { name: 'greeting' }
  | { name: 'verifying'; waiting: Envelope[]; waitingBytes: number }
  | { name: 'live' }
  | { name: 'closing'; step: 'draining' | 'parting'; closing: Closing }
  | { name: 'gone' }

/** What all sessions of a gateway share. */
export type SessionDeps = InboundDeps &
  OutboxDeps & {
    clock: Clock
    policy: HandshakePolicy
    liveness: LivenessConfig
    script: GameScript
    verifyPlayer: VerifyPlayer
    registry: Registry
    /** Sessions without a decision; those that were not heard of in time get a close code. */
    greetings: DeadlineQueue<Session>
    drains: DeadlineQueue<Session>
    partings: DeadlineQueue<Session>
    dispatch(live: LiveSession, envelope: Envelope): void
    /** Whether the envelope must wait because the script takes nothing more at the moment. */
    mustWait(envelope: Envelope): boolean
    /** Runs what the end of a participant entails, in order. */
    depart(live: LiveSession): void
    flushLater(session: Session): void
    /** Too much is queued over all connections. */
    relieve(): void
    awaitScript(session: Session): void
    awaitRate(session: Session): void
    recheck(sessionId: string): void
    /** A connection has got its decision and is pending no more. */
    decided(): void
    gone(session: Session): void
  }

/** Frames that may wait behind AUTH; then reading pauses. */
const waitingFramesMax = 64
const waitingBytesMax = 256 * 1024
const incompleteFrameMsMax = 30_000

export class Session implements ConnectionEvents, InboundConsumer, LiveSession {
  readonly #connection: Connection
  readonly #deps: SessionDeps
  readonly #inbound: Inbound
  readonly #outbox: Outbox
  readonly #liveness: Liveness
  #state: SessionState = { name: 'greeting' }
  #participant: Participant | undefined
  #pending = true
  #flushQueued = false

  constructor(connection: Connection, deps: SessionDeps) {
    this.#connection = connection
    this.#deps = deps
    this.#inbound = new Inbound(connection, this, deps)
    this.#outbox = new Outbox(connection, deps)
    this.#liveness = new Liveness(connection, deps)
    deps.greetings.add(this)
  }

  get limitGroup(): string | undefined {
    return this.#connection.limitGroup
  }

  get queuedBytes(): number {
    return this.#outbox.bytes
  }

  /** Only a session that was registered has a participant; asking any other is a bug. */
  get participant(): Participant {
    if (this.#participant === undefined) throw new Error('a session without participant')
    return this.#participant
  }

  // What the transport reports.

  received(bytes: Uint8Array): void {
    this.#inbound.push(bytes)
  }

  receivedText(): void {
    this.#inbound.breakOff('text message')
  }

  pinged(bytes: number): void {
    if (!this.#isClosing()) this.#inbound.spend(bytes)
  }

  ponged(): void {
    this.#liveness.ponged()
  }

  drained(): void {
    this.flush()
  }

  failed(): void {
    this.#beginClosing({ ...closings.shutdown, drains: false }, 'parting')
  }

  closed(): void {
    if (this.#state.name === 'gone') return
    this.#fence({ name: 'gone' })
    this.#outbox.discard()
    this.#deps.drains.remove(this)
    this.#deps.partings.remove(this)
    this.#deps.gone(this)
  }

  // What the stream of frames brings.

  take(envelope: Envelope): void {
    const state = this.#state
    if (state.name === 'live') {
      if (this.#deps.mustWait(envelope)) this.#postpone(envelope)
      else this.#deps.dispatch(this, envelope)
    } else if (state.name === 'verifying') {
      state.waiting.push(envelope)
      state.waitingBytes += frameHeaderBytes + envelope.body.length
      if (state.waiting.length >= waitingFramesMax || state.waitingBytes >= waitingBytesMax) {
        this.#inbound.pause('handshake')
      }
    } else if (state.name === 'greeting') {
      this.#greet(envelope)
    }
  }

  broken(detail: ProtocolDetail): void {
    // Behind AUTH it waits for the decision like a frame does: how the stream was cut into messages
    // must not change what happens.
    if (this.#state.name !== 'verifying') this.#violate(detail)
  }

  throttled(): void {
    this.#deps.awaitRate(this)
  }

  // What the gateway asks for.

  send(kind: number, body: Uint8Array): void {
    this.deliver(outgoingFrame(kind, body), false)
  }

  deliver(frame: OutgoingFrame, unreliable: boolean): void {
    if (this.#isClosing()) return
    if (unreliable) this.#outbox.queueUnreliable(frame)
    else if (!this.#outbox.queueReliable(frame)) this.endAsSlow()
    if (!this.#flushQueued) {
      this.#flushQueued = true
      this.#deps.flushLater(this)
    }
    const { ledger, limits } = this.#deps
    if (ledger.queuedBytes > limits.max_queued_bytes_total) this.#deps.relieve()
  }

  endAsSlow(): void {
    if (this.#isClosing()) return
    this.#deps.metrics.slow_consumer_closes_total += 1
    this.end(closings.slowConsumer)
  }

  end(closing: Closing): void {
    this.#beginClosing(closing, 'draining')
  }

  /** Hands the transport what is queued; a session that only waited for that closes now. */
  flush(): void {
    this.#flushQueued = false
    this.#outbox.transmit()
    if (this.#state.name !== 'closing' || this.#state.step !== 'draining') return
    if (this.#outbox.reliable === undefined) this.part()
  }

  /** Sends the close; what is still queued is lost. */
  part(): void {
    if (this.#state.name !== 'closing' || this.#state.step !== 'draining') return
    const { closing } = this.#state
    this.#state = { name: 'closing', step: 'parting', closing }
    this.#outbox.discard()
    this.#deps.drains.remove(this)
    this.#deps.partings.add(this)
    this.#connection.close(closing.code, closing.reason)
  }

  destroy(): void {
    this.#connection.destroy()
  }

  /** Nothing was heard within the handshake timeout. */
  timeOut(): void {
    if (this.#state.name === 'greeting') this.#refuse('silence')
  }

  resumeAfterScript(): void {
    this.#liveness.postpone(this.#inbound.resume('script'))
  }

  /** True when the session need not be asked again, because it reads again or is over. */
  resumeAfterRate(nowMs: number): boolean {
    if (this.#isClosing()) return true
    if (!this.#inbound.refill(nowMs)) return false
    this.#liveness.postpone(this.#inbound.resume('rate'))
    return true
  }

  /** Looks at everything that has a deadline and no queue of its own. */
  sweep(nowMs: number): void {
    if (this.#isClosing()) return
    if (this.#inbound.incompleteForMs(nowMs) > incompleteFrameMsMax) {
      this.#deps.metrics.decode_errors_total += 1
      this.#violate('incomplete frame')
    } else if (this.#state.name === 'live' && !this.#inbound.paused) {
      if (!this.#liveness.check(nowMs)) this.end(closings.livenessTimeout)
    }
  }

  sessionEnded(nowUnixMs: number): boolean {
    return this.#state.name === 'live' && this.participant.session_ends_at_unix_ms <= nowUnixMs
  }

  /** The script takes nothing more at the moment, so nothing more is read for it. */
  #postpone(envelope: Envelope): void {
    this.#inbound.giveBack([envelope])
    this.#inbound.pause('script')
    this.#deps.awaitScript(this)
  }

  #greet(envelope: Envelope): void {
    const first = readFirstFrame(envelope)
    if (typeof first !== 'string') {
      this.#state = { name: 'verifying', waiting: [], waitingBytes: 0 }
      this.#deps.verifyPlayer(first.token).then(
        (player) => this.#verified(player),
        // A backend that fails must not be told apart from a token that is unknown.
        () => this.#verified(undefined),
      )
    } else if (handshakeTable[first][this.#deps.policy].result === 'guest') {
      const kept = first === 'other_kind' ? [envelope] : []
      this.#accept(undefined, [...kept, ...this.#inbound.takeAvailable(waitingFramesMax)])
    } else {
      this.#refuse(first)
    }
  }

  #verified(player: Player | undefined): void {
    if (this.#state.name !== 'verifying') return
    if (player === undefined) {
      this.#refuse('other_token')
      return
    }
    this.#accept(player, this.#state.waiting)
    this.#inbound.resume('handshake')
    this.#inbound.pump()
  }

  #accept(player: Player | undefined, waiting: Envelope[]): void {
    const { registry, script } = this.#deps
    if (player) registry.bySession(player.session_id)?.end(closings.sessionReplaced)
    this.#tell(player ? { status: 'account', user_id: player.user_id } : { status: 'guest' })
    if (this.#isClosing()) return
    const participant = newParticipant(registry.nextId(), player)
    this.#participant = participant
    this.#state = { name: 'live' }
    this.#decide()
    this.#liveness.begin()
    registry.add(this)
    const isOptions = ({ kind }: Envelope) => kind === kinds.SESSION_OPTIONS.first
    for (const options of waiting.filter(isOptions)) this.#deps.dispatch(this, options)
    const queued = waiting.filter((envelope) => !isOptions(envelope))
    this.#inbound.giveBack(queued)
    // What the gateway itself answers to them comes behind what the script says at the door.
    if (queued.length > 0) this.#inbound.pause('join')
    script.join(participant.context, () => this.#joined())
    if (player) this.#deps.recheck(player.session_id)
  }

  #joined(): void {
    this.#liveness.postpone(this.#inbound.resume('join'))
  }

  #refuse(first: FirstFrame, detail: ProtocolDetail = 'handshake'): void {
    const outcome = handshakeTable[first][this.#deps.policy]
    if (outcome.result !== 'rejected' && outcome.result !== 'timeout') return
    const { metrics } = this.#deps
    if (outcome.result === 'rejected') {
      metrics.handshake_rejected_total += 1
      this.#tell({ status: 'rejected', reason: outcome.reason })
    } else {
      metrics.handshake_timeouts_total += 1
    }
    this.end(closingAfter(outcome, detail))
  }

  /** Ends a connection whose peer broke a rule, in the way its state asks for. */
  #violate(detail: ProtocolDetail): void {
    if (this.#state.name === 'live') this.end(protocolError(detail))
    else if (!this.#isClosing()) this.#refuse('broken', detail)
  }

  #tell(result: AuthResult): void {
    this.send(kinds.AUTH_RESULT.first, authResultBody.encode(result))
  }

  #beginClosing(closing: Closing, step: 'draining' | 'parting'): void {
    if (this.#isClosing()) return
    this.#fence({ name: 'closing', step, closing })
    if (step === 'parting') {
      this.#outbox.discard()
      this.#deps.partings.add(this)
    } else if (closing.drains) {
      this.#deps.drains.add(this)
      this.flush()
    } else {
      // Nothing is waited for, but what the transport takes at once was queued before the decision.
      this.#outbox.transmit()
      this.part()
    }
  }

  /** From here on nothing comes in; a participant that was there departs. */
  #fence(next: SessionState): void {
    const wasLive = this.#state.name === 'live'
    this.#state = next
    this.#inbound.stop()
    this.#decide()
    if (wasLive) this.#deps.depart(this)
  }

  #decide(): void {
    if (!this.#pending) return
    this.#pending = false
    this.#deps.greetings.remove(this)
    this.#deps.decided()
  }

  #isClosing(): boolean {
    return this.#state.name === 'closing' || this.#state.name === 'gone'
  }
}
