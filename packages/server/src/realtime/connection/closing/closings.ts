import type { SeatFate } from '../../play.port.ts'

/**
 * How the server ends a connection. `drains` gives what is queued reliably a last second. `seat` is
 * what becomes of the participant's place in its room.
 */
export type Closing = { code: number; reason: string; drains: boolean; seat: SeatFate }

/** What a peer did wrong; the text is part of the close reason. */
export type ProtocolDetail =
  | 'frame length'
  | 'incomplete frame'
  | 'text message'
  | 'repeated auth'
  | 'handshake'
  | 'rpc header'
  | 'stream stopped'

/** Every deliberate close but protocol errors. Slow and silent peers get nothing more. */
export const closings = {
  shutdown: { code: 1001, reason: 'shutdown', drains: true, seat: 'kept_elsewhere' },
  messageTooBig: { code: 1009, reason: 'message too big', drains: false, seat: 'none' },
  authRejected: { code: 4001, reason: 'auth rejected', drains: true, seat: 'none' },
  authTimeout: { code: 4002, reason: 'auth timeout', drains: false, seat: 'none' },
  sessionRevoked: { code: 4004, reason: 'session revoked', drains: true, seat: 'none' },
  sessionReplaced: {
    code: 4005,
    reason: 'session replaced',
    drains: false,
    seat: 'handed_over',
  },
  livenessTimeout: { code: 4006, reason: 'liveness timeout', drains: false, seat: 'kept' },
  slowConsumer: { code: 4008, reason: 'slow consumer', drains: false, seat: 'none' },
} as const satisfies Record<string, Closing>

export function protocolError(detail: ProtocolDetail): Closing {
  return { code: 4003, reason: `protocol error: ${detail}`, drains: true, seat: 'none' }
}
