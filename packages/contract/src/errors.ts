/**
 * The closed list of error codes. Every error answer of the HTTP API is
 * `{"code": <one of these>, "message": <text>}` with the status that stands here.
 *
 * `text` says whether the message is always `message` (`fixed`), or may be replaced by a short
 * safe text that names the field or the rule (`open`), never a value from the request.
 */
export const errorTable = {
  invalid_request: { status: 400, message: 'invalid request', text: 'open' },
  authentication_failed: { status: 401, message: 'authentication failed', text: 'fixed' },
  forbidden: { status: 403, message: 'forbidden', text: 'fixed' },
  not_found: { status: 404, message: 'not found', text: 'fixed' },
  method_not_allowed: { status: 405, message: 'method not allowed', text: 'fixed' },
  conflict: { status: 409, message: 'conflict', text: 'open' },
  rate_limited: { status: 429, message: 'too many requests', text: 'fixed' },
  internal_error: { status: 500, message: 'internal server error', text: 'fixed' },
  not_implemented: { status: 501, message: 'not implemented', text: 'fixed' },
  runtime_unavailable: { status: 503, message: 'game script unavailable', text: 'fixed' },
  deadline_exceeded: { status: 504, message: 'deadline exceeded', text: 'fixed' },
} as const satisfies Record<string, ErrorRow>

type ErrorRow = { status: number; message: string; text: 'fixed' | 'open' }

/** One of the closed list of error codes, e.g. `'conflict'`. */
export type ErrorCode = keyof typeof errorTable

/** The body of every error answer, e.g. `{"code":"not_found","message":"not found"}`. */
export type ErrorBody = { code: ErrorCode; message: string }

/** Longest message of an error answer, in bytes of UTF-8. */
export const errorMessageBytesMax = 200
