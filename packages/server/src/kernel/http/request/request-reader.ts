import { isForOperators, type Route } from '@guildhall/contract'
import { refuse } from '../../failure.ts'
import { validate, validateJson } from '../../json/validate.ts'
import type { Awaitable } from '../../time/awaitable.ts'
import type { Exchange } from '../exchange.ts'
import { decodeUtf8, expectJson, hasBody, readBody } from './media.ts'
import { readQuery } from './query.ts'

export type RequestParts = { params: never; query: never; body: never }

export type RequestReader = {
  /** The body as sent, within its bounds; empty where the route takes none. */
  bytes(exchange: Exchange): Promise<Buffer>
  /**
   * Path parameters, query and body, checked in this order. The body is read unless its bytes are
   * given; without one the parts are there at once.
   */
  parts(exchange: Exchange, bytes?: Buffer): Awaitable<RequestParts>
}

const noBytes = Buffer.alloc(0)

/**
 * Compiles the third step of a route: path parameters, query and body, in this order, each
 * refused with 400. What the route does not declare is not looked at.
 */
export function compileReader(route: Route): RequestReader {
  const { params, query, body } = route
  const queryKeys = new Set(Object.keys(query?.shape ?? {}))
  const bytesMax = route.bodyBytesMax ?? defaultBytesMax(route)
  return {
    bytes: readBytes,
    parts(exchange, bytes) {
      const checked = {
        params: params && validate(params, exchange.params),
        query: query && validate(query, readQuery(exchange.query, queryKeys)),
      }
      if (bytes !== undefined) return withBody(checked, bytes)
      if (isBare(exchange)) return withBody(checked, noBytes)
      return readBytes(exchange).then((read) => withBody(checked, read))
    },
  }

  function withBody(checked: { params: unknown; query: unknown }, bytes: Buffer): RequestParts {
    const { params, query } = checked
    // Each part has the type that its schema gives it; the handler's signature says which.
    return { params, query, body: parseBody(bytes) } as RequestParts
  }

  /** Nothing was sent where nothing is taken: nearly every GET. */
  function isBare({ message }: Exchange): boolean {
    return body === undefined && !hasBody(message)
  }

  async function readBytes(exchange: Exchange): Promise<Buffer> {
    const needed = body !== undefined && route.bodyNeeded !== 'optional'
    if (needed) expectOneJson(exchange)
    else if (!hasBody(exchange.message)) return noBytes
    const bytes = await readBody(exchange.message, bytesMax)
    // Any body will do where none is taken, but it has the same bound as every other.
    if (body === undefined) return noBytes
    if (!needed && bytes.length > 0) expectOneJson(exchange)
    return bytes
  }

  function expectOneJson({ message, head }: Exchange): void {
    if (head.contentTypes > 1 || head.contentEncodings > 1) {
      throw refuse.invalid('a header of the body is repeated')
    }
    expectJson(message.headers['content-type'], message.headers['content-encoding'])
  }

  function parseBody(bytes: Buffer): unknown {
    if (body === undefined) return undefined
    if (bytes.length === 0 && route.bodyNeeded === 'optional') return validate(body, {})
    return validateJson(body, decodeUtf8(bytes))
  }
}

/** Largest body in bytes where the route does not say otherwise. */
function defaultBytesMax(route: Route): number {
  return isForOperators(route) ? 65_536 : 16_384
}
