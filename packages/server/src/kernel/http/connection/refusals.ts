import { type ErrorCode, errorMessageBytesMax, errorTable } from '@guildhall/contract'
import { Failure } from '../../failure.ts'
import { cutText } from '../../log/cut-text.ts'
import { securityHeaders } from '../headers.ts'

/** An error answer, ready to be written. */
export type Refusal = {
  code: ErrorCode
  status: number
  retryAfterSec: number | undefined
  body: string
}

/**
 * Turns whatever was thrown into the answer: a Failure becomes its row of the error table,
 * everything else is a bug and becomes the generic 500.
 */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof Failure)) return refusal('internal_error', undefined, undefined)
  return refusal(error.code, error.text, error.retryAfterSec)
}

function refusal(code: ErrorCode, text: string | undefined, retryAfterSec: number | undefined) {
  const { status, message, text: rule } = errorTable[code]
  const shown =
    rule === 'open' && text !== undefined ? cutText(text, errorMessageBytesMax) : message
  const body = JSON.stringify({ code, message: shown })
  if (code !== 'rate_limited') return { code, status, retryAfterSec: undefined, body }
  // Zero would invite the caller back at once.
  return { code, status, retryAfterSec: Math.max(1, Math.ceil(retryAfterSec ?? 1)), body }
}

/** The answer to bytes that are refused: written to the bare socket, which then closes. */
export function unparsableAnswer(requestId: string, extra: Record<string, string>): string {
  const body = JSON.stringify({ code: 'invalid_request', message: 'invalid request' })
  const headers = {
    ...securityHeaders,
    ...extra,
    'x-request-id': requestId,
    'content-type': 'application/json',
    // The path that was meant is unknown.
    'cache-control': 'no-store',
    'content-length': String(body.length),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`
}
