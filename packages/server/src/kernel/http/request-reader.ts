import type { Route } from '@guildhall/contract'
import type { FastifyRequest } from 'fastify'
import { refuse } from '../failure.ts'
import type { HeaderLines } from './exchange.ts'
import { decodeUtf8, expectJson, hasBody, readBody } from './media.ts'
import { readQuery } from './query.ts'
import { queryOf } from './target.ts'
import { validate, validateJson } from './validate.ts'

export type RequestParts = { params: never; query: never; body: never }

export type RequestReader = {
  /** The body as sent, within its bounds; empty where the route takes none. */
  bytes(request: FastifyRequest, lines: HeaderLines): Promise<Buffer>
  /** Path parameters, query and body, checked in this order. `bytes` are those of the body. */
  parts(request: FastifyRequest, bytes: () => Promise<Buffer>): Promise<RequestParts>
}

const noBytes = Buffer.alloc(0)

/**
 * Compiles the third step of a route: path parameters, query and body, in this order, each
 * refused with 400. What the route does not declare is not looked at.
 */
export function compileReader(route: Route): RequestReader {
  const { params, query, body } = route
  const queryKeys = new Set(Object.keys(query?.shape ?? {}))
  const bytesMax = route.bodyBytesMax ?? bodyBytesMax(route.path)
  return {
    async bytes(request, lines) {
      const needed = body !== undefined && route.bodyNeeded !== 'optional'
      if (needed) expectOneJson(request, lines)
      else if (!hasBody(request.raw)) return noBytes
      const bytes = await readBody(request.raw, bytesMax)
      // Any body will do where none is taken, but it has the same bound as every other.
      if (body === undefined) return noBytes
      if (!needed && bytes.length > 0) expectOneJson(request, lines)
      return bytes
    },
    async parts(request, bytes) {
      const parts = {
        params: params && validate(params, request.params),
        query: query && validate(query, readQuery(queryOf(request.raw.url ?? ''), queryKeys)),
        body: parseBody(await bytes()),
      }
      // Each part has the type that its schema gives it; the handler's signature says which.
      return parts as RequestParts
    },
  }

  function expectOneJson({ raw }: FastifyRequest, lines: HeaderLines): void {
    if (lines.contentTypes > 1 || lines.contentEncodings > 1) {
      throw refuse.invalid('a header of the body is repeated')
    }
    expectJson(raw.headers['content-type'], raw.headers['content-encoding'])
  }

  function parseBody(bytes: Buffer): unknown {
    if (body === undefined) return undefined
    if (bytes.length === 0 && route.bodyNeeded === 'optional') return validate(body, {})
    return validateJson(body, decodeUtf8(bytes))
  }
}

/** Largest body in bytes where the route does not say otherwise. */
function bodyBytesMax(path: string): number {
  return path.startsWith('/console/') ? 65_536 : 16_384
}
