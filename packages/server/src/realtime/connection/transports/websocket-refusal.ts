import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Failure } from '../../../kernel/failure.ts'
import { refusalOf } from '../../../kernel/http/connection/refusals.ts'
import { acceptableRequestId, securityHeaders } from '../../../kernel/http/headers.ts'

/** What the answers to refused upgrades need, so that they look like all other answers. */
export type UpgradeAnswers = {
  newRequestId(): string
  /** Headers that depend on the configuration, such as Strict-Transport-Security and CORS. */
  answerHeaders?(request: IncomingMessage): Record<string, string>
}

/** Answers an upgrade request that is refused as plain HTTP, and closes its connection. */
export function refuseUpgrade(
  { newRequestId, answerHeaders }: UpgradeAnswers,
  refused: { request: IncomingMessage; socket: Duplex; failure: Failure },
): void {
  const { request, socket, failure } = refused
  const { status, body, retryAfterSec } = refusalOf(failure)
  const headers: Record<string, string> = {
    ...securityHeaders,
    ...answerHeaders?.(request),
    'x-request-id': acceptableRequestId(request.headers['x-request-id']) ?? newRequestId(),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  if (retryAfterSec !== undefined) headers['retry-after'] = String(retryAfterSec)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => socket.destroy())
  // A peer that neither reads nor leaves must not keep the socket.
  socket.once('finish', () => socket.destroy())
  const { STATUS_CODES } = process.getBuiltinModule('node:http')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
