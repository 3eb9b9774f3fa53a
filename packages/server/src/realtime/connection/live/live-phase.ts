import { type Envelope, kinds } from '@guildhall/contract'
import type { Participant } from '../../play/participants/participant.ts'
import type { Player } from '../../ports.ts'
import type { ConnectionDeps } from '../connection-deps.ts'
import type { Inbound } from '../inbound/inbound.ts'
import type { PlayerConnection } from '../player-connection.ts'
import type { Connection } from '../transports/transport.ts'
import { type ClientState, newClientState } from './client-state.ts'
import { Liveness } from './liveness.ts'

/**
 * Messages of one connection that the script may have without having settled them. Its further ones
 * wait with the connection, so that a few connections cannot fill the inbox for all.
 */
const messagesOpenMax = 64

type LiveParts = {
  connection: PlayerConnection
  transport: Connection
  inbound: Inbound
  deps: ConnectionDeps
}

/**
 * A connection that plays under its participant: its envelopes are dispatched, or wait while the
 * script takes nothing more, and its peer has to give signs of life.
 */
export class LivePhase {
  readonly name = 'live'
  readonly participant: Participant
  readonly client: ClientState
  readonly #connection: PlayerConnection
  readonly #inbound: Inbound
  readonly #deps: ConnectionDeps
  readonly #liveness: Liveness

  /** Places the connection on a participant, a new one or one that was dropped. */
  constructor({ connection, transport, inbound, deps }: LiveParts, player: Player | undefined) {
    this.#connection = connection
    this.#inbound = inbound
    this.#deps = deps
    this.#liveness = new Liveness(transport, deps)
    this.client = newClientState(Math.floor(deps.clock.monotonicMs()))
    this.participant = deps.arrivals.place(connection, player)
  }

  /** Registers the participant and starts to play; `waiting` came behind the first frame. */
  begin(waiting: Envelope[]): void {
    const { arrivals, dispatch } = this.#deps
    this.#liveness.begin()
    arrivals.register(this.#connection)
    for (const options of waiting.filter(isOptions)) dispatch(this.#connection, options, false)
    const queued = waiting.filter((envelope) => !isOptions(envelope))
    this.#inbound.giveBack(queued)
    // What the gateway itself answers to them comes behind what the script sends to a newcomer.
    if (queued.length > 0) this.#inbound.pause('join')
    arrivals.begin(this.#connection, () => this.#inbound.resume('join'))
    this.#inbound.readAll()
    this.#inbound.resume('handshake')
    this.#inbound.pump()
  }

  take(envelope: Envelope): void {
    if (this.#mustWait(envelope)) {
      this.#inbound.putInLine(envelope)
      this.#deps.scriptTurns.await(this.#connection)
    } else {
      this.#deps.dispatch(this.#connection, envelope, false)
    }
  }

  /** Where a frame would wait for the script, a datagram is late already. */
  takeDatagram(envelope: Envelope): void {
    if (this.#mustWait(envelope)) this.#deps.metrics.datagram_limited_total += 1
    else this.#deps.dispatch(this.#connection, envelope, true)
  }

  /** Gives the script one envelope that waits; whether another one may go at its next turn. */
  serveScript(): boolean {
    if (!this.#mayCall()) return false
    const envelope = this.#inbound.takeFromLine()
    if (envelope === undefined) return false
    this.#deps.dispatch(this.#connection, envelope, false)
    this.#inbound.moveUp()
    return this.#inbound.hasLine && this.#mayCall()
  }

  messageSettled(): void {
    if (this.#inbound.hasLine) this.#deps.scriptTurns.await(this.#connection)
  }

  ponged(): void {
    this.#liveness.ponged()
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
    return this.participant.session_ends_at_unix_ms <= nowUnixMs
  }

  /** Whether the script takes nothing of this connection now, and the envelope is for it. */
  #mustWait(envelope: Envelope): boolean {
    const { script, isForScript } = this.#deps
    if (!this.#inbound.hasLine && this.#mayCall() && !script.congested()) return false
    return isForScript(envelope)
  }

  #mayCall(): boolean {
    return this.client.messagesOpen < messagesOpenMax
  }
}

function isOptions({ kind }: Envelope): boolean {
  return kind === kinds.SESSION_OPTIONS.first
}
