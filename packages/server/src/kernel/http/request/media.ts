import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { refuse } from '../../failure.ts'

/** Refuses a body that is not JSON in UTF-8 and as it is, before any of it is read. */
export function expectJson(contentType: string | undefined, contentEncoding: string | undefined) {
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity') {
    throw refuse.invalid('content-encoding must be identity')
  }
  if (contentType === undefined || !isJsonType(contentType)) {
    throw refuse.invalid('content-type must be application/json in UTF-8')
  }
}

/** `application/json`, the form nearly every client sends, costs one comparison. */
function isJsonType(contentType: string): boolean {
  if (contentType === 'application/json') return true
  const [type = '', ...parameters] = contentType.toLowerCase().split(';')
  if (!/^application\/(?:json|[!#$&^_.+a-z0-9-]+\+json)$/.test(type.trim())) return false
  const charsets = parameters
    .map((parameter) => /^charset="?([^"]*)"?$/.exec(parameter.trim())?.[1])
    .filter((charset) => charset !== undefined)
  return charsets.every((charset) => charset === 'utf-8' || charset === 'utf8')
}

/** Nobody sends more pieces than this that are as small on an average. */
const crumbsMax = 1024
const crumbBytesMin = 8

/** Reads a whole body of at most `bytesMax` bytes; beyond that the rest is not read. */
export function readBody(message: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const announced = Number(message.headers['content-length'] ?? 0)
  if (announced > bytesMax) return Promise.reject(tooLarge(bytesMax))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const stop = (settle: () => void) => {
      message.off('data', take).off('end', finish).off('close', abort).off('error', abort)
      settle()
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      const isCrumbs = chunks.length > crumbsMax && size < chunks.length * crumbBytesMin
      if (size <= bytesMax && !isCrumbs) return
      message.pause()
      stop(() => reject(isCrumbs ? refuse.invalid('the body is in crumbs') : tooLarge(bytesMax)))
    }
    const finish = () => stop(() => resolve(joined(chunks)))
    const abort = () => stop(() => reject(refuse.invalid('the body ended early')))
    message.on('data', take).on('end', finish).on('close', abort).on('error', abort)
  })
}

/** Whether a request announces or streams a body at all. */
export function hasBody(message: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = message.headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

/** The text of a body, or a refusal when it is not UTF-8. */
export function decodeUtf8(body: Buffer): string {
  if (!isUtf8(body)) throw refuse.invalid('the body must be valid UTF-8')
  return body.toString('utf8')
}

function joined(chunks: Buffer[]): Buffer {
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
}

function tooLarge(bytesMax: number) {
  return refuse.invalid(`the body must be at most ${bytesMax} bytes`)
}
