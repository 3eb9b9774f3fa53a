import { type AuthResult, authResultBody, type Envelope, kinds } from '@guildhall/contract'
import type { RpcOutcome } from '../../kernel/play/calls.ts'
import { type OutgoingFrame, outgoingFrame } from '../frames/outgoing-frame.ts'
import type {
  Claimed,
  MessageOutcome,
  Place,
  Receiver,
  SeatFate,
  UnhandledReason,
} from '../play.port.ts'
import type { Player } from '../ports.ts'
import { ClosingPhase } from './closing/closing.ts'
import { type Closing, closings, type ProtocolDetail, protocolError } from './closing/closings.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import { Greeting, type GreetingHost } from './greeting/greeting.ts'
import { Inbound, type InboundConsumer } from './inbound/inbound.ts'
import { LivePhase } from './live/live-phase.ts'
import { SendQueue } from './send-queue/send-queue.ts'
import type { TimedConnection } from './timed-connection.ts'
import type { Connection, ConnectionEvents, PeerEnd } from './transports/transport.ts'

/**
 * The life of one connection.
 *
 * | phase    | what it does                                        | what comes next     |
 * |----------|-----------------------------------------------------|---------------------|
 * | greeting | waits for the first frame and for its verification  | live, closing, gone |
 * | live     | plays: envelopes are dispatched                     | closing, gone       |
 * | closing  | nothing comes in, nothing new goes out              | gone                |
 * | gone     | the transport is closed                             |                     |
 */
type Phase =
  | { name: 'greeting'; greeting: Greeting }
  | LivePhase
  | { name: 'closing'; closing: ClosingPhase<TimedConnection> }
  | { name: 'gone' }

const incompleteFrameMsMax = 30_000

export class PlayerConnection
  implements ConnectionEvents, InboundConsumer, TimedConnection, Receiver
{
  readonly #connection: Connection
  readonly #deps: ConnectionDeps
  readonly #inbound: Inbound
  readonly #queue: SendQueue
  #phase: Phase
  /** The live phase, also when it is over. */
  #lived: LivePhase | undefined
  /** The seat that was asked for, until it is there. */
  #claim: Promise<Claimed | undefined> | undefined
  /** While it is the connection of its session. */
  #sessionId: string | undefined
  /** Its session, once it was closed as slow. */
  #slowSessionId: string | undefined
  #pending = true
  #flushDue = false

  constructor(connection: Connection, deps: ConnectionDeps) {
    this.#connection = connection
    this.#deps = deps
    this.#inbound = new Inbound(connection, this, deps)
    this.#queue = new SendQueue(connection, deps)
    this.#phase = { name: 'greeting', greeting: new Greeting(this.#greetingHost(), deps) }
    deps.greetings.add(this)
  }

  get limitGroup(): string | undefined {
    return this.#connection.limitGroup
  }

  get queuedBytes(): number {
    return this.#queue.bytes
  }

  backlogBytes(): number {
    return this.#queue.reliable?.bytes ?? 0
  }

  // What the transport reports.

  received(stream: number, bytes: Uint8Array): void {
    this.#inbound.push(stream, bytes)
  }

  streamEnded(stream: number): void {
    this.#inbound.end(stream)
  }

  receivedDatagram(datagram: Uint8Array): void {
    this.#inbound.datagram(datagram, this.#phase.name === 'live')
  }

  violated(detail: ProtocolDetail): void {
    this.#inbound.breakOff(detail)
  }

  pinged(bytes: number): void {
    if (!this.#isClosing()) this.#inbound.spend(bytes)
  }

  ponged(): void {
    const isAnswer = this.#phase.name === 'live' && this.#phase.ponged()
    if (!isAnswer) this.pinged(0)
  }

  drained(): void {
    this.flush()
  }

  ending(end: PeerEnd): void {
    if (this.#isClosing() || this.#inbound.defers(() => this.ending(end))) return
    const closing = this.#newClosing(closings.shutdown)
    this.#shut({ name: 'closing', closing }, end === 'lost' ? 'kept' : 'none')
    closing.beginParting()
  }

  closed(confirmed = false): void {
    if (this.#phase.name === 'gone' || this.#inbound.defers(() => this.closed(confirmed))) return
    if (confirmed && this.#slowSessionId !== undefined) {
      this.#deps.lastCloses.remove(this.#slowSessionId)
    }
    if (this.#phase.name === 'closing') this.#phase.closing.gone()
    this.#shut({ name: 'gone' }, 'kept')
    this.#queue.discard()
    this.#deps.gone(this)
  }

  // What the stream of frames brings.

  take(envelope: Envelope): void {
    const phase = this.#phase
    this.#lived?.observer?.received(envelope.kind, false, envelope.body.length)
    if (phase.name === 'live') phase.take(envelope)
    else if (phase.name === 'greeting') phase.greeting.take(envelope)
  }

  takeDatagram(envelope: Envelope): void {
    if (this.#phase.name !== 'live') return
    this.#lived?.observer?.received(envelope.kind, true, envelope.body.length)
    this.#phase.takeDatagram(envelope)
  }

  broken(detail: ProtocolDetail): void {
    // Behind AUTH it waits for the decision like a frame does: how the stream was cut into messages
    // must not change what happens.
    if (this.#phase.name === 'greeting' && this.#phase.greeting.verifying) return
    this.#violate(detail)
  }

  throttled(): void {
    this.#deps.awaitRate(this)
  }

  readAgain(pausedMs: number): void {
    if (this.#phase.name === 'live') this.#phase.readAgain(pausedMs)
  }

  // What the gateway asks for.

  send(kind: number, body: Uint8Array): void {
    this.deliver(outgoingFrame(kind, body), false)
  }

  deliver(frame: OutgoingFrame, unreliable: boolean): void {
    if (this.#isClosing()) return
    const queue = this.#queue
    if (this.#lived?.observer !== undefined) queue.report(this.#lived?.observer, frame, unreliable)
    const fits = unreliable ? queue.queueUnreliable(frame) : queue.queueReliable(frame)
    if (!fits) this.endAsSlow()
    if (!this.#flushDue) {
      this.#flushDue = true
      this.#deps.flushLater(this)
    }
    this.#relieveIfFull()
  }

  deliverPositions(positions: readonly OutgoingFrame[], own: number): void {
    if (this.#isClosing()) return
    const others = this.#lived?.observer && positions.filter(({ mergeKey }) => mergeKey !== own)
    for (const frame of others ?? []) this.#queue.report(this.#lived?.observer, frame, true)
    if (!this.#queue.queuePositions(positions, own)) this.endAsSlow()
    this.flush()
    this.#relieveIfFull()
  }

  placed(place: Place): void {
    this.#accepted().place = place
  }

  settled(kind: number, outcome: MessageOutcome): void {
    this.#accepted().settled(kind, outcome)
  }

  unhandled(kind: number, reason: UnhandledReason): void {
    this.#deps.notices(this.#accepted(), reason, kind)
  }

  replied(requestId: bigint, outcome: RpcOutcome): void {
    this.#deps.rpc.replied(this.#accepted(), requestId, outcome)
  }

  endAsSlow(): void {
    if (this.#isClosing()) return
    this.#deps.metrics.slow_consumer_closes_total += 1
    this.#slowSessionId = this.#sessionId
    if (this.#sessionId !== undefined) {
      this.#deps.lastCloses.add(this.#sessionId, closings.slowConsumer.code)
    }
    this.end(closings.slowConsumer)
  }

  end(how: Closing): void {
    if (this.#isClosing()) return
    const closing = this.#newClosing(how)
    this.#shut({ name: 'closing', closing }, how.seat)
    closing.begin()
  }

  isParticipant(participant: number): boolean {
    return this.#lived?.participant === participant
  }

  /** Hands the transport what is queued; a connection that only waited for that closes now. */
  flush(): void {
    this.#flushDue = false
    if (this.#phase.name === 'closing') this.#phase.closing.flush()
    else this.#queue.transmit()
  }

  /** The time to drain is over. */
  part(): void {
    if (this.#phase.name === 'closing') this.#phase.closing.part()
  }

  destroy(): void {
    this.#connection.destroy()
  }

  /** Nothing was heard within the handshake timeout. */
  timeOut(): void {
    if (this.#phase.name === 'greeting') this.#phase.greeting.timeOut()
  }

  serveScript(): boolean {
    return this.#phase.name === 'live' && this.#phase.serveScript()
  }

  /** True when the connection need not be asked again, because it reads again or is over. */
  resumeAfterRate(nowMs: number): boolean {
    if (this.#isClosing()) return true
    if (!this.#inbound.refill(nowMs)) return false
    this.#inbound.resume('rate')
    return true
  }

  /** Looks at everything that has a deadline and no queue of its own. */
  sweep(nowMs: number): void {
    if (this.#isClosing()) return
    if (this.#phase.name === 'live' && this.#inbound.isHeldUp) this.#connection.probe?.()
    if (this.#inbound.incompleteForMs(nowMs) > incompleteFrameMsMax) {
      this.#deps.metrics.decode_errors_total += 1
      this.#violate('incomplete frame')
    } else if (this.#phase.name === 'live' && !this.#phase.isAlive(nowMs)) {
      this.end(closings.livenessTimeout)
    }
  }

  sessionEnded(nowUnixMs: number): boolean {
    return this.#phase.name === 'live' && this.#phase.sessionEnded(nowUnixMs)
  }

  /** Only a connection that was accepted has a participant; asking any other is a bug. */
  #accepted(): LivePhase {
    if (this.#lived === undefined) throw new Error('a connection that was not accepted')
    return this.#lived
  }

  #greetingHost(): GreetingHost {
    return {
      isOver: () => this.#phase.name !== 'greeting',
      accept: (player, waiting) => this.#accept(player, waiting),
      answer: (result) => this.#answer(result),
      end: (closing) => this.end(closing),
      takeAvailable: (max) => this.#inbound.takeAvailable(max),
      pauseReading: () => this.#inbound.pause('handshake'),
    }
  }

  #relieveIfFull(): void {
    const { totals, limits } = this.#deps
    if (totals.queuedBytes > limits.max_queued_bytes_total) this.#deps.relieve()
  }

  #accept(account: Player | undefined, waiting: Envelope[]): void {
    const { sessions, play } = this.#deps
    if (account === undefined) {
      this.#answer({ status: 'guest' })
      if (!this.#isClosing()) this.#play({ account, claimed: undefined }, waiting)
      return
    }
    const older = sessions.byId(account.session_id)
    older?.end(closings.sessionReplaced)
    this.#answer({ status: 'account', user_id: account.user_id })
    if (this.#isClosing()) return
    this.#sessionId = account.session_id
    sessions.add(account.session_id, this)
    const claim = play.claim(account, older?.takeClaim())
    if (claim instanceof Promise) this.#awaitSeat(account, claim, waiting)
    else this.#play({ account, claimed: claim }, waiting)
  }

  #awaitSeat(account: Player, claim: Promise<Claimed | undefined>, waiting: Envelope[]): void {
    this.#claim = claim
    const go = (claimed?: Claimed) => {
      if (this.#claim !== claim) return
      this.#claim = undefined
      this.#play({ account, claimed }, waiting)
    }
    // Without an answer there is no seat.
    claim.then(go, () => go())
  }

  /** The newer connection of the session goes on with what this one has asked for. */
  takeClaim(): Promise<Claimed | undefined> | undefined {
    const claim = this.#claim
    this.#claim = undefined
    return claim
  }

  #play(as: { account: Player | undefined; claimed: Claimed | undefined }, waiting: Envelope[]) {
    const [transport, inbound, deps] = [this.#connection, this.#inbound, this.#deps]
    if (this.#phase.name !== 'greeting') {
      if (as.claimed !== undefined) deps.play.leave(as.claimed.participant, 'kept', [])
      return
    }
    const live = new LivePhase({ connection: this, transport, inbound, deps }, as)
    this.#lived = live
    this.#phase = live
    this.#decide()
    live.begin(waiting)
  }

  /** Ends a connection whose peer broke a rule, in the way its phase asks for. */
  #violate(detail: ProtocolDetail): void {
    if (this.#phase.name === 'live') this.end(protocolError(detail))
    else if (this.#phase.name === 'greeting') this.#phase.greeting.refuse('broken', detail)
  }

  #answer(result: AuthResult): void {
    this.send(kinds.AUTH_RESULT.first, authResultBody.encode(result))
  }

  #newClosing(how: Closing): ClosingPhase<TimedConnection> {
    const { drains, partings } = this.#deps
    const [connection, queue] = [this.#connection, this.#queue]
    return new ClosingPhase(how, { item: this, connection, queue, drains, partings })
  }

  /** From here on nothing comes in; a participant that was there departs. */
  #shut(next: Phase, seat: SeatFate): void {
    const live = this.#phase.name === 'live' ? this.#phase : undefined
    this.#phase = next
    this.#inbound.stop()
    this.#decide()
    if (this.#sessionId !== undefined) this.#deps.sessions.remove(this.#sessionId)
    this.#sessionId = undefined
    live?.leave(seat, () => this.#queue.takeReliable())
  }

  #decide(): void {
    if (!this.#pending) return
    this.#pending = false
    this.#deps.greetings.remove(this)
    this.#deps.decided()
  }

  #isClosing(): boolean {
    return this.#phase.name === 'closing' || this.#phase.name === 'gone'
  }
}
