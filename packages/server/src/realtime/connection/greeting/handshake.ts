import type { Envelope } from '@guildhall/contract'
import { type AuthRejection, authBody, authTokenBytesMax, kinds } from '@guildhall/contract'
import { decoded } from '../../../kernel/play/decoded.ts'
import { type Closing, closings, type ProtocolDetail, protocolError } from '../closing/closings.ts'

/** Who gets in: anybody, only accounts by AUTH, or only accounts whatever comes first. */
export type HandshakePolicy = 'guests_welcome' | 'no_guests' | 'auth_required'

/** What a connection did first. */
export type FirstFrame =
  | 'valid_token'
  | 'other_token'
  | 'empty_auth'
  | 'other_kind'
  | 'broken'
  | 'silence'

export type HandshakeOutcome =
  | { result: 'account' }
  | { result: 'guest' }
  | { result: 'rejected'; reason: AuthRejection }
  | { result: 'timeout' }

const account = { result: 'account' } as const
const guest = { result: 'guest' } as const
const failed = { result: 'rejected', reason: 'authentication_failed' } as const
const required = { result: 'rejected', reason: 'authentication_required' } as const
const violation = { result: 'rejected', reason: 'protocol_violation' } as const
const timeout = { result: 'timeout' } as const

/**
 * The whole decision. A guest that sent another kind first is accepted and its frame is then
 * processed; a token that is not valid is never treated as a guest.
 */
export const handshakeTable: Record<FirstFrame, Record<HandshakePolicy, HandshakeOutcome>> = {
  valid_token: { guests_welcome: account, no_guests: account, auth_required: account },
  other_token: { guests_welcome: failed, no_guests: failed, auth_required: failed },
  empty_auth: { guests_welcome: guest, no_guests: required, auth_required: required },
  other_kind: { guests_welcome: guest, no_guests: required, auth_required: violation },
  broken: { guests_welcome: violation, no_guests: violation, auth_required: violation },
  silence: { guests_welcome: timeout, no_guests: timeout, auth_required: timeout },
}

export function handshakePolicy(auth: {
  require_auth: boolean
  allow_guests: boolean
}): HandshakePolicy {
  if (auth.require_auth) return 'auth_required'
  return auth.allow_guests ? 'guests_welcome' : 'no_guests'
}

/** How the connection ends when its handshake does not succeed. */
export function closingAfter(
  outcome: Extract<HandshakeOutcome, { result: 'rejected' | 'timeout' }>,
  detail: ProtocolDetail = 'handshake',
): Closing {
  if (outcome.result === 'timeout') return closings.authTimeout
  return outcome.reason === 'protocol_violation' ? protocolError(detail) : closings.authRejected
}

/**
 * The first frame as far as it can be judged without asking: a body that cannot be a token is
 * already `other_token`, and one that may be is returned as the token to verify.
 */
export function readFirstFrame({ kind, body }: Envelope): FirstFrame | { token: string } {
  if (kind !== kinds.AUTH.first) return 'other_kind'
  if (body.length === 0) return 'empty_auth'
  if (body.length > authTokenBytesMax) return 'other_token'
  const auth = decoded(authBody, body)
  return auth === undefined ? 'other_token' : { token: auth.access_token }
}
