import type { Envelope } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import type { DeadlineQueue } from '../../kernel/time/deadline-queue.ts'
import type { Place, PlayPort } from '../play.port.ts'
import type { VerifyPlayer } from '../ports.ts'
import type { LastCloses } from './closing/last-closes.ts'
import type { Notices } from './dispatch/notices.ts'
import type { ServerTime } from './dispatch/server-time.ts'
import type { HandshakePolicy } from './greeting/handshake.ts'
import type { InboundDeps } from './inbound/inbound.ts'
import type { ScriptTurns } from './inbound/script-turns.ts'
import type { LiveConnection } from './live/live-connection.ts'
import type { LivenessConfig } from './live/liveness.ts'
import type { RecordingClients } from './recording/recording-clients.ts'
import type { Rpc } from './rpc/rpc.ts'
import type { SendQueueDeps } from './send-queue/send-queue.ts'
import type { Sessions } from './sessions.ts'
import type { TimedConnection } from './timed-connection.ts'

/** What all connections of a gateway share. */
export type ConnectionDeps = InboundDeps &
  SendQueueDeps & {
    clock: Clock
    policy: HandshakePolicy
    liveness: LivenessConfig
    verifyPlayer: VerifyPlayer
    sessions: Sessions
    lastCloses: LastCloses
    play: PlayPort
    nextParticipantId(): number
    /** How long a seat is kept; 0 keeps none. */
    graceMs: number
    /** Asks again soon whether a session is live. */
    recheck(sessionId: string): void
    /** Connections without a decision; those that were not heard of in time get a close code. */
    greetings: DeadlineQueue<TimedConnection>
    drains: DeadlineQueue<TimedConnection>
    partings: DeadlineQueue<TimedConnection>
    /** `unreliable`: it came as a datagram. */
    dispatch(live: LiveConnection, envelope: Envelope, unreliable: boolean): void
    notices: Notices
    rpc: Pick<Rpc, 'replied'>
    serverTime: Pick<ServerTime, 'offerUnasked'>
    recording: Pick<RecordingClients, 'left'>
    scriptTurns: ScriptTurns
    /** Whether the script would be called for the envelope. */
    isForScript(envelope: Envelope, place: Place): boolean
    /** Flushes the connection at the end of the turn. */
    flushLater(connection: TimedConnection): void
    /** Too much is queued over all connections. */
    relieve(): void
    awaitRate(connection: TimedConnection): void
    /** A connection has got its decision and is pending no more. */
    decided(): void
    gone(connection: TimedConnection): void
  }
