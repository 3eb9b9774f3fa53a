import { type Envelope, kinds } from '@guildhall/contract'
import type { Participant } from '../../play/participants/participant.ts'
import type { Player } from '../../ports.ts'
import type { ConnectionDeps } from '../connection-deps.ts'
import type { Inbound, PauseReason } from '../inbound/inbound.ts'
import type { PlayerConnection } from '../player-connection.ts'
import type { Connection } from '../transports/transport.ts'
import { type ClientState, newClientState } from './client-state.ts'
import { Liveness } from './liveness.ts'

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
    arrivals.begin(this.#connection, () => this.resume('join'))
    this.#inbound.readAll()
    this.#inbound.resume('handshake')
    this.#inbound.pump()
  }

  take(envelope: Envelope): void {
    if (this.#deps.mustWait(envelope)) this.#postpone(envelope)
    else this.#deps.dispatch(this.#connection, envelope, false)
  }

  /** Where a frame would wait for the script, a datagram is late already. */
  takeDatagram(envelope: Envelope): void {
    if (this.#deps.mustWait(envelope)) this.#deps.metrics.datagram_limited_total += 1
    else this.#deps.dispatch(this.#connection, envelope, true)
  }

  ponged(): void {
    this.#liveness.ponged()
  }

  /** What could not be seen while nothing was read does not count against the peer. */
  resume(reason: PauseReason): void {
    this.#liveness.postpone(this.#inbound.resume(reason))
  }

  /** False when the peer has been silent for too long while it was read from. */
  isAlive(nowMs: number): boolean {
    return this.#inbound.paused || this.#liveness.check(nowMs)
  }

  sessionEnded(nowUnixMs: number): boolean {
    return this.participant.session_ends_at_unix_ms <= nowUnixMs
  }

  /** The script takes nothing more at the moment, so nothing more is read for it. */
  #postpone(envelope: Envelope): void {
    this.#inbound.giveBack([envelope])
    this.#inbound.pause('script')
    this.#deps.awaitScript(this.#connection)
  }
}

function isOptions({ kind }: Envelope): boolean {
  return kind === kinds.SESSION_OPTIONS.first
}
