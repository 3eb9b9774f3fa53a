import { type IncomingMessage, type RequestOptions, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { createGunzip } from 'node:zlib'
import { ScriptFailure } from '../../kernel/play/script.ts'
import type { ResolvedAddress } from './outbound-http.addresses.ts'
import { fetchFailure } from './outbound-http.errors.ts'
import { type CheckedRequest, headerBytesMax, headersMax } from './outbound-http.requests.ts'

export type FetchResponse = {
  status: number
  /** By lower-case name; lines of one name are joined by commas. */
  headers: { [name: string]: string }
  body: Uint8Array
}

/** Largest body of a response, before and after it is decoded. */
const responseBytesMax = 1_048_576

/**
 * Sends one request over a connection of its own, to one of the addresses that were checked. No
 * redirect is followed, no cookie kept and no proxy used.
 *
 * @throws ScriptFailure; after `signal` has aborted always with `timeout`
 */
export async function send(
  request: CheckedRequest,
  addresses: readonly ResolvedAddress[],
  signal: AbortSignal,
): Promise<FetchResponse> {
  try {
    const message = await headOf(request, addresses, signal)
    const headers = headersOf(message)
    const body = await bodyOf(message)
    return { status: message.statusCode ?? 0, headers, body }
  } catch (error) {
    if (signal.aborted) throw fetchFailure('timeout')
    if (error instanceof ScriptFailure) throw error
    throw fetchFailure(
      codeOf(error) === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'request_failed',
    )
  }
}

function headOf(
  { isSecure, host, port, path, method, headers, body }: CheckedRequest,
  addresses: readonly ResolvedAddress[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = (isSecure ? requestSecure : requestPlain)({
    host,
    port,
    path,
    method,
    headers: {
      'accept-encoding': 'gzip',
      ...headers,
      ...(body === undefined ? {} : { 'content-length': body.byteLength }),
    },
    lookup: lookupOf(addresses),
    agent: false,
    maxHeaderSize: headerBytesMax,
    signal,
  })
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    request.once('upgrade', (_message, socket) => {
      socket.destroy()
      reject(fetchFailure('request_failed'))
    })
    request.end(body)
  })
}

/** Answers with the checked addresses, so that the name is not resolved a second time. */
function lookupOf(addresses: readonly ResolvedAddress[]): NonNullable<RequestOptions['lookup']> {
  return (_host, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family ?? 4)
  }
}

function headersOf(message: IncomingMessage): { [name: string]: string } {
  const headers: { [name: string]: string } = Object.create(null)
  if (message.rawHeaders.length > headersMax * 2) {
    message.destroy()
    throw fetchFailure('headers_too_large')
  }
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    headers[name] = values?.join(', ') ?? ''
  }
  return headers
}

/** The whole body, decoded when it is compressed by gzip. */
async function bodyOf(message: IncomingMessage): Promise<Uint8Array> {
  const isGzip = message.headers['content-encoding']?.trim().toLowerCase() === 'gzip'
  const chunks: Buffer[] = []
  const decoder = isGzip ? createGunzip() : undefined
  if (decoder !== undefined) message.on('error', (error) => decoder.destroy(error))
  let bytes = 0
  try {
    for await (const chunk of decoder === undefined ? message : message.pipe(decoder)) {
      bytes += chunk.length
      if (bytes > responseBytesMax) throw fetchFailure('response_too_large')
      chunks.push(chunk)
    }
  } catch (error) {
    // An answer to HEAD, and an empty one, has nothing to decode, whatever its headers say.
    const isEmpty = codeOf(error) === 'Z_BUF_ERROR' && decoder?.bytesWritten === 0
    if (!isEmpty || !message.complete) throw error
  } finally {
    message.destroy()
  }
  return Buffer.concat(chunks)
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
