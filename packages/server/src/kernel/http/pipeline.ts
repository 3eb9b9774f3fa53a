import type { IncomingMessage } from 'node:http'
import { errorTable, type Route } from '@guildhall/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bearerOf } from '../auth/bearer.ts'
import { authenticate, guard } from '../auth/guard.ts'
import type { ApiKeyPrincipal, Verifiers } from '../auth/principal.ts'
import { Failure, refuse } from '../failure.ts'
import { headerBytes, type MountedRoute, readHeaderLines } from './exchange.ts'
import { compileWriter } from './json-writer.ts'
import { compileReader } from './request-reader.ts'
import type { SourceAddress } from './source-address.ts'

export type PipelineDeps = {
  verifiers: Verifiers
  sourceOf: SourceAddress
  /** Records that an API key passed the checks of a route, before its handler runs. */
  recordKeyRead(key: ApiKeyPrincipal, route: Route): void
}

/**
 * The one way of every request: who is it (401), may they (403), what do they say (400), do it,
 * filter the answer, reply. Nothing of the body is read before the first two.
 */
export function createPipeline({ verifiers, sourceOf, recordKeyRead }: PipelineDeps) {
  return ({ route, handle }: MountedRoute) => {
    const read = compileReader(route)
    const reply = compileReply(route)
    const looksAtBearer = route.access !== 'public' || route.bearer === 'optional'
    return async (request: FastifyRequest, response: FastifyReply): Promise<FastifyReply> => {
      const lines = readHeaderLines(request.raw)
      const bearer = looksAtBearer ? bearerOf(lines.authorization) : undefined
      const principal = await authenticate(route, bearer, verifiers)
      guard(route, principal)
      if (principal?.kind === 'api_key') recordKeyRead(principal, route)
      const input = await read(request, lines)
      const answer = await handle({
        // The guard has just made sure that the caller fits the access of the route.
        principal: principal as never,
        ...input,
        bearer: route.bearer === 'optional' ? (bearer as undefined) : undefined,
        request: { id: request.id, source: sourceOf(request.raw) },
      }).catch((error: unknown) => {
        throw asDeclared(route, error)
      })
      return reply(response, answer)
    }
  }
}

/** Writes the answer of a handler: declared members only, with the declared status. */
function compileReply(route: Route) {
  const write = route.ok === undefined ? undefined : compileWriter(route.ok)
  const { status } = route
  return (response: FastifyReply, answer: unknown): FastifyReply => {
    if (write === undefined) return response.code(204).send()
    response.header('content-type', 'application/json')
    if (typeof status !== 'object') return response.code(status ?? 200).send(write(answer))
    const chosen = answer as { status: number; body: unknown }
    return response.code(chosen.status).send(write(chosen.body))
  }
}

/** A refusal that the table does not declare for the route is a bug: it becomes a 500. */
function asDeclared(route: Route, error: unknown): unknown {
  if (!(error instanceof Failure) || isDeclared(route, error)) return error
  return new Error(`${route.method} ${route.path} refused with the undeclared ${error.code}`, {
    cause: error,
  })
}

function isDeclared(route: Route, { code }: Failure): boolean {
  if (code === 'invalid_request' || errorTable[code].status >= 500) return true
  return route.errors?.includes(code) ?? false
}

/** Refuses what the HTTP parser lets through but the product does not. */
export function expectSaneHead({ raw }: FastifyRequest, reply: FastifyReply): void {
  const rule = headRefusal(raw)
  if (rule === undefined) return
  reply.header('connection', 'close')
  throw refuse.invalid(rule)
}

function headRefusal(raw: IncomingMessage): string | undefined {
  if ((raw.url?.length ?? 0) > targetBytesMax) return 'the target is over 8 KiB'
  if (headerBytes(raw) > headerBytesMax) return 'the headers are over 16 KiB'
  if (raw.httpVersionMinor === 1 && raw.headers.host === undefined) return 'Host is missing'
  return undefined
}

/** Largest request target in bytes. */
const targetBytesMax = 8192
/** Largest sum of a request's header lines in bytes. */
export const headerBytesMax = 16_384
