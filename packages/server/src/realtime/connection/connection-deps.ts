import type { Envelope } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import type { DeadlineQueue } from '../../kernel/time/deadline-queue.ts'
import type { Arrivals } from '../play/participants/arrivals.ts'
import type { GameScript, VerifyPlayer } from '../ports.ts'
import type { HandshakePolicy } from './greeting/handshake.ts'
import type { InboundDeps } from './inbound/inbound.ts'
import type { ScriptTurns } from './inbound/script-turns.ts'
import type { LiveSession } from './live/live-session.ts'
import type { LivenessConfig } from './live/liveness.ts'
import type { PlayerConnection } from './player-connection.ts'
import type { SendQueueDeps } from './send-queue/send-queue.ts'

/** What all connections of a gateway share. */
export type ConnectionDeps = InboundDeps &
  SendQueueDeps & {
    clock: Clock
    policy: HandshakePolicy
    liveness: LivenessConfig
    verifyPlayer: VerifyPlayer
    arrivals: Arrivals
    /** Connections without a decision; those that were not heard of in time get a close code. */
    greetings: DeadlineQueue<PlayerConnection>
    drains: DeadlineQueue<PlayerConnection>
    partings: DeadlineQueue<PlayerConnection>
    /** `unreliable`: it came as a datagram. */
    dispatch(live: LiveSession, envelope: Envelope, unreliable: boolean): void
    script: Pick<GameScript, 'congested'>
    scriptTurns: ScriptTurns
    /** Whether the script would be called for the envelope. */
    isForScript(envelope: Envelope): boolean
    /** Flushes the connection at the end of the turn. */
    flushLater(connection: PlayerConnection): void
    /** Too much is queued over all connections. */
    relieve(): void
    awaitRate(connection: PlayerConnection): void
    /** A connection has got its decision and is pending no more. */
    decided(): void
    gone(connection: PlayerConnection): void
  }
