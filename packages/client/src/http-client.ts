import {
  type Api,
  type Client,
  type ClientInput,
  type ErrorBody,
  type ErrorCode,
  errorTable,
  type Route,
} from '@guildhall/contract'
import { parseExact, stringifyExact } from './exact-json.ts'

/** An error answer of the server, or a status that no answer of the server has (`code` null). */
export class GuildhallError extends Error {
  override readonly name = 'GuildhallError'
  /** HTTP status, e.g. 409. */
  readonly status: number
  /** One of the closed list of codes; null when the answer did not come from Guildhall. */
  readonly code: ErrorCode | null
  /** Seconds to wait before the next try; only with `rate_limited`. */
  readonly retryAfterSec: number | null

  constructor(status: number, body: ErrorBody | null, retryAfterSec: number | null) {
    super(body?.message ?? `unexpected status ${status}`)
    this.status = status
    this.code = body?.code ?? null
    this.retryAfterSec = retryAfterSec
  }
}

export type HttpClientOptions = {
  /** Where the node listens, without a path, e.g. `http://127.0.0.1:7350`. */
  baseUrl: string
  /** The credential of the next request; undefined sends none. */
  bearer?: () => string | undefined
}

/**
 * The typed client of an API: one function per route, made from the same table that the server is
 * made from. Integers that a number cannot hold exactly are bigint, in both directions. A refused
 * request rejects with `GuildhallError`; a connection that fails rejects with what `fetch` throws.
 *
 * @example
 * const players = createHttpClient(playerAccountsApi, { baseUrl, bearer: () => token })
 * const profile = await players.get({})
 */
export function createHttpClient<A extends Api>(api: A, options: HttpClientOptions): Client<A> {
  const functions = Object.entries(api).map(([name, route]) => [
    name,
    (input: ClientInput<Route>) => send(route, input, options),
  ])
  // Each function was made from the row of its name; only the mapped type knows that.
  return Object.fromEntries(functions) as Client<A>
}

type Input = {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  idempotencyKey?: string | undefined
}

async function send(route: Route, input: Input, { baseUrl, bearer }: HttpClientOptions) {
  const credential = bearer?.()
  const response = await fetch(baseUrl + pathOf(route, input), {
    method: route.method,
    headers: {
      ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
      ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(input.idempotencyKey === undefined ? {} : { 'idempotency-key': input.idempotencyKey }),
    },
    ...(input.body === undefined ? {} : { body: stringifyExact(input.body) }),
  })
  if (response.ok) return response.status === 204 ? undefined : parseExact(await response.text())
  throw await errorOf(response)
}

function pathOf({ path }: Route, { params = {}, query = {} }: Input): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value))
  }
  return search.size === 0 ? filled : `${filled}?${search}`
}

async function errorOf(response: Response): Promise<GuildhallError> {
  const body: unknown = await response.json().catch(() => null)
  const retryAfter = response.headers.get('retry-after')
  const retryAfterSec = retryAfter === null ? null : Number(retryAfter)
  return new GuildhallError(response.status, isErrorBody(body) ? body : null, retryAfterSec)
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false
  if (!('code' in body && 'message' in body)) return false
  const { code, message } = body
  return typeof code === 'string' && Object.hasOwn(errorTable, code) && typeof message === 'string'
}
