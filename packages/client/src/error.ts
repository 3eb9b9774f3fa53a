import type { ErrorCode } from '@guildhall/contract/wire'

/** What the SDK refuses or reports itself, beside the codes of HTTP answers. */
export type ClientErrorCode =
  | 'invalid_argument'
  | 'network_error'
  | 'signed_out'
  | 'store_failed'
  | 'timeout'
  | 'aborted'
  | 'closed'
  | 'connection_lost'
  | 'queue_full'
  | 'rpc_refused'
  | 'room_refused'
  | 'malformed_reply'
  | 'not_in_room'
  | 'ticket_removed'

/** What is known of a failure beside its code and message. */
export type ErrorFacts = {
  status?: number | undefined
  retryAfterSec?: number | undefined
  closeCode?: number | undefined
  refusal?: Refusal | undefined
  cause?: unknown
}

/** What the game's script says to the program, beside the text of `guildhall.fail`. */
export type Refusal = {
  /** `rpc_failed` where the script gave none, and for refusals of the node itself. */
  readonly code: string
  /** What JSON can say; null where the script gave none. */
  readonly data: unknown
}

/**
 * Every failure of the SDK. Functions that return a promise reject with it, others throw it.
 *
 * @example
 * try { await player.connect() } catch (error) {
 *   if (error instanceof GuildhallError && error.code === 'network_error') showOffline()
 * }
 */
export class GuildhallError extends Error {
  override readonly name = 'GuildhallError'
  readonly code: ErrorCode | ClientErrorCode
  /** HTTP status, e.g. 409, when there was an answer over HTTP. */
  readonly status: number | undefined
  /** Seconds to wait before the next try; only with `rate_limited`. */
  readonly retryAfterSec: number | undefined
  /** Close code of the connection, e.g. 4001, when the server said one. */
  readonly closeCode: number | undefined
  /** Code and data of a refused RPC; only with `rpc_refused`. */
  readonly refusal: Refusal | undefined

  constructor(code: ErrorCode | ClientErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, { cause: facts.cause })
    this.code = code
    this.status = facts.status
    this.retryAfterSec = facts.retryAfterSec
    this.closeCode = facts.closeCode
    this.refusal = facts.refusal
  }
}

/** A refusal before anything is sent. */
export function invalidArgument(message: string, cause?: unknown): GuildhallError {
  return new GuildhallError('invalid_argument', message, { cause })
}
