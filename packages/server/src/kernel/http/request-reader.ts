import type { Route } from '@guildhall/contract'
import type { FastifyRequest } from 'fastify'
import { refuse } from '../failure.ts'
import type { HeaderLines } from './exchange.ts'
import { decodeUtf8, expectJson, hasBody, readBody } from './media.ts'
import { readQuery } from './query.ts'
import { queryOf } from './target.ts'
import { validate, validateJson } from './validate.ts'

export type RequestParts = { params: never; query: never; body: never }

/**
 * Compiles the third step of a route: path parameters, query and body, in this order, each
 * refused with 400. What the route does not declare is not looked at.
 */
export function compileReader(route: Route) {
  const { params, query, body } = route
  const queryKeys = new Set(Object.keys(query?.shape ?? {}))
  const bytesMax = route.bodyBytesMax ?? bodyBytesMax(route.path)
  return async (request: FastifyRequest, lines: HeaderLines): Promise<RequestParts> => {
    const parts = {
      params: params && validate(params, request.params),
      query: query && validate(query, readQuery(queryOf(request.raw.url ?? ''), queryKeys)),
      body: await (body ? readJsonBody(request, lines) : ignoreBody(request)),
    }
    // Each part has the type that its schema gives it; the handler's signature says which.
    return parts as RequestParts
  }

  /** Any body will do where none is taken, but it has the same bound as every other. */
  async function ignoreBody({ raw }: FastifyRequest): Promise<void> {
    if (hasBody(raw)) await readBody(raw, bytesMax)
  }

  async function readJsonBody(request: FastifyRequest, lines: HeaderLines): Promise<unknown> {
    const { headers } = request.raw
    if (route.bodyNeeded === 'optional' && !hasBody(request.raw)) return validate(schema(), {})
    if (lines.contentTypes > 1 || lines.contentEncodings > 1) {
      throw refuse.invalid('a header of the body is repeated')
    }
    if (route.bodyNeeded !== 'optional') {
      expectJson(headers['content-type'], headers['content-encoding'])
    }
    const bytes = await readBody(request.raw, bytesMax)
    if (route.bodyNeeded === 'optional') {
      if (bytes.length === 0) return validate(schema(), {})
      expectJson(headers['content-type'], headers['content-encoding'])
    }
    return validateJson(schema(), decodeUtf8(bytes))
  }

  function schema() {
    if (body === undefined) throw new Error(`${route.path} declares no body`)
    return body
  }
}

/** Largest body in bytes where the route does not say otherwise. */
function bodyBytesMax(path: string): number {
  return path.startsWith('/console/') ? 65_536 : 16_384
}
