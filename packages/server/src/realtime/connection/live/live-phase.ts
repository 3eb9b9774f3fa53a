import { type Envelope, kinds } from '@guildhall/contract'
import type { EnvelopeObserver } from '../../../kernel/play/recording.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import {
  type Claimed,
  type MessageOutcome,
  nowhere,
  type Place,
  type Receiver,
  type SeatFate,
} from '../../play.port.ts'
import type { Player } from '../../ports.ts'
import type { Closing } from '../closing/closings.ts'
import type { ConnectionDeps } from '../connection-deps.ts'
import type { Inbound } from '../inbound/inbound.ts'
import type { ScriptWaiter } from '../inbound/script-turns.ts'
import type { Connection } from '../transports/transport.ts'
import { type ClientState, newClientState } from './client-state.ts'
import type { LiveConnection } from './live-connection.ts'
import { Liveness } from './liveness.ts'

/**
 * Messages of one connection that the script may have without having settled them. Its further ones
 * wait with the connection, so that a few connections cannot fill the inbox for all.
 */
const messagesOpenMax = 64

type LiveParts = {
  connection: Pick<LiveConnection, 'send' | 'end'> & Receiver & ScriptWaiter
  transport: Connection
  inbound: Inbound
  deps: ConnectionDeps
}

/**
 * A connection that plays under its participant: its envelopes are dispatched, or wait while the
 * script takes nothing more, and its peer has to give signs of life.
 */
export class LivePhase implements LiveConnection {
  readonly name = 'live'
  readonly participant: number
  readonly userId: string | null
  /** Undefined for guests. */
  readonly account: Player | undefined
  readonly client: ClientState
  place: Place
  observer: EnvelopeObserver | undefined = undefined
  readonly #connection: LiveParts['connection']
  readonly #inbound: Inbound
  readonly #deps: ConnectionDeps
  readonly #liveness: Liveness
  #stage: 'new' | 'arrived' | 'left' = 'new'

  /** Plays as a new participant, or as the one that was claimed. */
  constructor(
    { connection, transport, inbound, deps }: LiveParts,
    { account, claimed }: { account: Player | undefined; claimed: Claimed | undefined },
  ) {
    this.participant = claimed?.participant ?? deps.nextParticipantId()
    this.place = claimed?.place ?? nowhere
    this.userId = account?.user_id ?? null
    this.account = account
    this.client = newClientState(account ? deps.lastCloses.take(account.session_id) : null)
    this.#connection = connection
    this.#inbound = inbound
    this.#deps = deps
    this.#liveness = new Liveness(transport, deps)
  }

  /** Starts to play; `waiting` came behind the first frame. */
  begin(waiting: Envelope[]): void {
    const { serverTime, dispatch } = this.#deps
    this.#liveness.begin()
    serverTime.offerUnasked(this)
    for (const options of waiting.filter(isOptions)) dispatch(this, options, false)
    const queued = waiting.filter((envelope) => !isOptions(envelope))
    this.#inbound.giveBack(queued)
    // What the gateway itself answers to them comes behind what the script sends to a newcomer.
    if (queued.length > 0) this.#inbound.pause('join')
    this.#arrive()
    this.#inbound.readAll()
    this.#inbound.resume('handshake')
    this.#inbound.pump()
  }

  take(envelope: Envelope): void {
    if (this.#mustWait(envelope)) {
      this.#inbound.putInLine(envelope)
      this.#deps.scriptTurns.await(this.#connection)
    } else {
      this.#deps.dispatch(this, envelope, false)
    }
  }

  /** Where a frame would wait for the script, a datagram is late already. */
  takeDatagram(envelope: Envelope): void {
    if (this.#mustWait(envelope)) this.#deps.metrics.datagram_limited_total += 1
    else this.#deps.dispatch(this, envelope, true)
  }

  /** Gives the script one envelope that waits; whether another one may go at its next turn. */
  serveScript(): boolean {
    if (!this.#mayCall()) return false
    const envelope = this.#inbound.takeFromLine()
    if (envelope === undefined) return false
    this.#deps.dispatch(this, envelope, false)
    this.#inbound.moveUp()
    return this.#inbound.hasLine && this.#mayCall()
  }

  send(kind: number, body: Uint8Array): void {
    this.#connection.send(kind, body)
  }

  sendFrame(frame: OutgoingFrame): void {
    this.#connection.deliver(frame, false)
  }

  end(closing: Closing): void {
    this.#connection.end(closing)
  }

  settled(kind: number, outcome: MessageOutcome): void {
    this.client.messagesOpen -= 1
    if (outcome === 'failed') this.#deps.notices(this, 'handler_failed', kind)
    if (outcome === 'unavailable') this.#deps.notices(this, 'script_unavailable', kind)
    if (this.#inbound.hasLine) this.#deps.scriptTurns.await(this.#connection)
  }

  /** Whether it was asked for. */
  ponged(): boolean {
    return this.#liveness.ponged()
  }

  /** What could not be seen while nothing was read does not count against the peer. */
  readAgain(pausedMs: number): void {
    this.#liveness.postpone(pausedMs)
  }

  /** False when the peer has been silent for too long while it was read from. */
  isAlive(nowMs: number): boolean {
    return !this.#inbound.isRead || this.#liveness.check(nowMs)
  }

  sessionEnded(nowUnixMs: number): boolean {
    return this.account !== undefined && this.account.refresh_expires_at_unix_ms <= nowUnixMs
  }

  /** What the client asked for before it arrived, it arrives with. */
  setFlags(flags: number): void {
    this.client.flags = flags
    if (this.#stage === 'arrived') this.#deps.play.setFlags(this.participant, flags)
  }

  /** The connection is over; `takeUnsent` gives the frames that a seat keeps. */
  leave(seat: SeatFate, takeUnsent: () => OutgoingFrame[]): void {
    const { play, graceMs, recording } = this.#deps
    recording.left(this.participant)
    const mayKeep = graceMs > 0 && this.account !== undefined && this.place.room_id !== null
    this.#stage = 'left'
    play.leave(this.participant, seat, seat !== 'none' && mayKeep ? takeUnsent() : [])
  }

  #arrive(): void {
    const { play, recheck } = this.#deps
    const { participant, account, client } = this
    // A connection that does not read may have ended by what it was sent so far.
    if (this.#stage === 'left') return
    this.#stage = 'arrived'
    const arrival = { participant, account, flags: client.flags ?? 0 }
    const welcomed = play.arrive(arrival, this.#connection)
    const goOn = () => this.#inbound.resume('join')
    if (welcomed === undefined) goOn()
    else welcomed.then(goOn, goOn)
    if (account !== undefined) recheck(account.session_id)
  }

  /** Whether the script takes nothing of this connection now, and the envelope is for it. */
  #mustWait(envelope: Envelope): boolean {
    const { play, isForScript } = this.#deps
    const takesNow = this.#mayCall() && (this.place.elsewhere === true || !play.script.congested())
    if (!this.#inbound.hasLine && takesNow) return false
    return isForScript(envelope, this.place)
  }

  #mayCall(): boolean {
    return this.client.messagesOpen < messagesOpenMax
  }
}

function isOptions({ kind }: Envelope): boolean {
  return kind === kinds.SESSION_OPTIONS.first
}
