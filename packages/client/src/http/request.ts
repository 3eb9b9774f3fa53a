import { type ErrorBody, errorTable, parseExact, stringifyExact } from '@guildhall/contract/wire'
import { GuildhallError } from '../error.ts'
import type { Host } from '../host.ts'

/** Of a route what a request needs: rows of the contract's tables are such values. */
export type RouteLine = { method: string; path: string }

/** The parts of a request. */
export type RequestParts = {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  idempotencyKey?: string | undefined
}

export type RequestOptions = {
  /** Where the node listens, without a path and without a slash at the end. */
  baseUrl: string
  bearer?: string | undefined
  fetch?: typeof fetch
  signal?: AbortSignal
}

/** A success, read to its end. */
export type Answered = { body: unknown; headers: Headers }

/**
 * Sends one request and reads its answer.
 *
 * @throws GuildhallError with the answer's code, or `network_error` for no answer and for one that
 * is not Guildhall's
 */
export async function sendRequest(
  route: RouteLine,
  parts: RequestParts,
  options: RequestOptions,
): Promise<Answered> {
  const { response, text, file } = await exchange(route, parts, options)
  if (!response.ok) throw refusalOf(response, text)
  if (file !== undefined) return { body: file, headers: response.headers }
  if (response.status === 204) return { body: undefined, headers: response.headers }
  try {
    return { body: parseExact(text), headers: response.headers }
  } catch (cause) {
    throw notGuildhall(response.status, cause)
  }
}

/** Runs `work` with a signal that aborts after `ms`: its request rejects with `network_error`. */
export async function withDeadline<T>(
  host: Host,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController()
  const cancel = host.startTimer(ms, () => abort.abort())
  try {
    return await work(abort.signal)
  } finally {
    cancel()
  }
}

/** Of routes that answer the bytes of a file. */
const fileType = 'application/octet-stream'

async function exchange(route: RouteLine, parts: RequestParts, options: RequestOptions) {
  const { body, idempotencyKey } = parts
  const { baseUrl, bearer, signal } = options
  const send = options.fetch ?? fetch
  const init = {
    method: route.method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: stringifyExact(body) }),
    ...(signal === undefined ? {} : { signal }),
  }
  try {
    const response = await send(baseUrl + pathOf(route, parts), init)
    if (response.headers.get('content-type') !== fileType) {
      return { response, text: await response.text() }
    }
    return { response, text: '', file: new Uint8Array(await response.arrayBuffer()) }
  } catch (cause) {
    throw new GuildhallError('network_error', 'the server did not answer', { cause })
  }
}

function pathOf({ path }: RouteLine, { params = {}, query = {} }: RequestParts): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}

function refusalOf({ status, headers }: Response, text: string): GuildhallError {
  const body = errorBodyIn(text)
  if (body === undefined) return notGuildhall(status)
  const retryAfter = headers.get('retry-after')
  const retryAfterSec = retryAfter === null ? undefined : Number(retryAfter)
  return new GuildhallError(body.code, body.message, { status, retryAfterSec })
}

function notGuildhall(status: number, cause?: unknown): GuildhallError {
  const facts = { status, cause }
  return new GuildhallError('network_error', `unexpected answer with status ${status}`, facts)
}

function errorBodyIn(text: string): ErrorBody | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isErrorBody(body) ? body : undefined
  } catch {
    return undefined
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false
  if (!('code' in body && 'message' in body)) return false
  const { code, message } = body
  return typeof code === 'string' && Object.hasOwn(errorTable, code) && typeof message === 'string'
}
