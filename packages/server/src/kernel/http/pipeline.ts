import type { IncomingMessage } from 'node:http'
import { errorTable, type Route } from '@guildhall/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bearerOf } from '../auth/bearer.ts'
import { authenticate, guard } from '../auth/guard.ts'
import type { ApiKeyPrincipal, Verifiers } from '../auth/principal.ts'
import { Failure, refuse } from '../failure.ts'
import { headerBytes, hostLines, type MountedRoute, readHeaderLines } from './exchange.ts'
import { compileWriter } from './json-writer.ts'
import { compileReader } from './request-reader.ts'
import type { SourceAddress } from './source-address.ts'
import { canonicalTarget, targetBytesMax } from './target.ts'

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
  return (mounted: MountedRoute) => {
    const { route } = mounted
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
      const call = {
        // The guard has just made sure that the caller fits the access of the route.
        principal: principal as never,
        ...input,
        bearer: route.bearer === 'optional' ? (bearer as undefined) : undefined,
        request: { id: request.id, source: sourceOf(request.raw) },
      }
      return reply(response, await answerOf(mounted, call))
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

async function answerOf({ route, handle }: MountedRoute, call: Parameters<typeof handle>[0]) {
  try {
    return await handle(call)
  } catch (error) {
    throw asDeclared(route, error)
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
export function expectSaneHead(request: FastifyRequest, reply: FastifyReply): void {
  const rule = headRefusal(request.raw, request.originalUrl)
  if (rule !== undefined) {
    reply.header('connection', 'close')
    throw refuse.invalid(rule)
  }
  if (canonicalTarget(request.originalUrl) === undefined) {
    throw refuse.invalid('the path is not valid')
  }
}

function headRefusal(raw: IncomingMessage, target: string): string | undefined {
  if (raw.httpVersionMajor !== 1) return 'the version of HTTP is not supported'
  if (target.length > targetBytesMax) return 'the target is over 8 KiB'
  if (headerBytes(raw) > headerBytesMax) return 'the headers are over 16 KiB'
  const hosts = hostLines(raw)
  if (hosts > 1) return 'Host is repeated'
  if (hosts === 0 && raw.httpVersionMinor > 0) return 'Host is missing'
  return undefined
}

/** Largest sum of a request's header lines in bytes. */
export const headerBytesMax = 16_384
