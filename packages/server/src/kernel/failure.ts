import type { ErrorCode } from '@guildhall/contract'

/**
 * A refusal that the caller sees. Anything else that is thrown is a bug and becomes a
 * 500. `text` is the short safe text of 400 and 409 answers. `reason` goes to the log only, and of
 * what is not there or forbidden to the script.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: ErrorCode
  readonly text: string | undefined
  readonly retryAfterSec: number | undefined
  /** Of a call of several operations: which one was the first to fail. */
  readonly index: number | undefined
  /** Of a value that its schema refuses: where in the value. */
  readonly path: readonly PropertyKey[]

  constructor(code: ErrorCode, detail: FailureDetail) {
    super(detail.reason)
    this.code = code
    this.text = detail.text
    this.retryAfterSec = detail.retryAfterSec
    this.index = detail.index
    this.path = detail.path ?? []
  }
}

type FailureDetail = {
  reason: string
  text?: string
  retryAfterSec?: number
  index?: number
  path?: readonly PropertyKey[]
}

/** The refusal of one of several operations, with its position among them. */
export function atIndex({ code, message: reason, text }: Failure, index: number): Failure {
  return new Failure(code, { reason, index, ...(text === undefined ? {} : { text }) })
}

/**
 * The refusals by name: `throw refuse.conflict('username is taken')`. The argument of `invalid` and
 * `conflict` is shown to the caller, that of `notFound` and `forbidden` to scripts: it must hold no
 * value of the request. The other reasons are only logged.
 */
export const refuse = {
  invalid: (text: string) => new Failure('invalid_request', { reason: text, text }),
  unauthenticated: (reason: string) => new Failure('authentication_failed', { reason }),
  forbidden: (reason: string) => new Failure('forbidden', { reason }),
  notFound: (reason: string) => new Failure('not_found', { reason }),
  conflict: (text: string) => new Failure('conflict', { reason: text, text }),
  rateLimited: (retryAfterSec: number, reason: string) =>
    new Failure('rate_limited', { reason, retryAfterSec }),
  runtimeUnavailable: (reason: string) => new Failure('runtime_unavailable', { reason }),
  internal: (reason: string) => new Failure('internal_error', { reason }),
} as const
