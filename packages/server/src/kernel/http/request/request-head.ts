import type { IncomingMessage } from 'node:http'
import { targetBytesMax } from './target.ts'

/** The header lines that must be judged one by one, because Node joins or drops repeated ones. */
export type RequestHead = {
  authorization: readonly string[]
  idempotencyKeys: readonly string[]
  contentTypes: number
  contentEncodings: number
  hosts: number
  /** All header lines with their separators and line ends. */
  bytes: number
}

const none: readonly string[] = []

/** One pass over the raw header lines of a request. */
export function readRequestHead({ rawHeaders }: IncomingMessage): RequestHead {
  const head = {
    authorization: none,
    idempotencyKeys: none,
    contentTypes: 0,
    contentEncodings: 0,
    hosts: 0,
    bytes: 0,
  }
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const value = rawHeaders[i + 1] ?? ''
    head.bytes += name.length + value.length + 4
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === 'host') head.hosts += 1
        break
      case 12:
        if (name.toLowerCase() === 'content-type') head.contentTypes += 1
        break
      case 13:
        if (name.toLowerCase() === 'authorization') {
          head.authorization = [...head.authorization, value]
        }
        break
      case 15:
        if (name.toLowerCase() === 'idempotency-key') {
          head.idempotencyKeys = [...head.idempotencyKeys, value]
        }
        break
      case 16:
        if (name.toLowerCase() === 'content-encoding') head.contentEncodings += 1
        break
    }
  }
  return head
}

/** Largest sum of a request's header lines in bytes. */
export const headerBytesMax = 16_384

/** The rule that the head of a request breaks although the HTTP parser let it through. */
export function headRefusal(message: IncomingMessage, head: RequestHead): string | undefined {
  if (message.httpVersionMajor !== 1) return 'the version of HTTP is not supported'
  if ((message.url?.length ?? 0) > targetBytesMax) return 'the target is over 8 KiB'
  if (head.bytes > headerBytesMax) return 'the headers are over 16 KiB'
  if (head.hosts > 1) return 'Host is repeated'
  if (head.hosts === 0 && message.httpVersionMinor > 0) return 'Host is missing'
  return codingRefusal(message)
}

/**
 * A proxy in front may see the end of such a body elsewhere, so that what follows would be a
 * request to one of the two and a body to the other. Nor is any coding but `chunked` undone.
 */
function codingRefusal({ headers, httpVersionMinor }: IncomingMessage): string | undefined {
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  if (httpVersionMinor === 0) return 'HTTP/1.0 has no Transfer-Encoding'
  return coding.toLowerCase() === 'chunked' ? undefined : 'Transfer-Encoding must be chunked'
}
