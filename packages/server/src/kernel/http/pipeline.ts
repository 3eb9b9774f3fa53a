import type { IncomingMessage } from 'node:http'
import { errorTable, type Route } from '@guildhall/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bearerOf } from '../auth/bearer.ts'
import { authenticate, guard } from '../auth/guard.ts'
import type { ApiKeyPrincipal, Verifiers } from '../auth/principal.ts'
import { Failure, refuse } from '../failure.ts'
import { headerBytes, hostLines, type MountedRoute, readHeaderLines } from './exchange.ts'
import { compileWriter } from './json-writer.ts'
import {
  AlreadyDone,
  type Idempotency,
  type Mutation,
  type RecordedAnswer,
  type RepeatableRequest,
} from './mutation.ts'
import { isMutation, repeatableRequest } from './repeatable.ts'
import { compileReader } from './request-reader.ts'
import type { SourceAddress } from './source-address.ts'
import { canonicalTarget, targetBytesMax } from './target.ts'

export type PipelineDeps = {
  verifiers: Verifiers
  sourceOf: SourceAddress
  /** Records that an API key passed the checks of a route, before its handler runs. */
  recordKeyRead(key: ApiKeyPrincipal, route: Route): void
  idempotency: Idempotency
}

/**
 * The one way of every request: who is it (401), may they (403), what do they say (400), do it,
 * filter the answer, reply. Nothing of the body is read before the first two.
 */
export function createPipeline(deps: PipelineDeps) {
  const { verifiers, sourceOf, recordKeyRead, idempotency } = deps
  return (mounted: MountedRoute) => {
    const { route } = mounted
    const reader = compileReader(route)
    const render = compileAnswer(route)
    const looksAtBearer = route.access !== 'public' || route.bearer === 'optional'
    return async (request: FastifyRequest, response: FastifyReply): Promise<FastifyReply> => {
      const lines = readHeaderLines(request.raw)
      const bearer = looksAtBearer ? bearerOf(lines.authorization) : undefined
      const principal = await authenticate(route, bearer, verifiers)
      guard(route, principal)
      if (principal?.kind === 'api_key') recordKeyRead(principal, route)

      const handle = async (
        bytes: () => Promise<Buffer>,
        mutation?: Mutation,
      ): Promise<RecordedAnswer> => {
        const input = await reader.parts(request, bytes)
        const call = {
          // The guard has just made sure that the caller fits the access of the route.
          principal: principal as never,
          ...input,
          bearer: route.bearer === 'optional' ? (bearer as undefined) : undefined,
          mutation: mutation as undefined,
          request: { id: request.id, source: sourceOf(request.raw) },
        }
        return render(await answerOf(mounted, call))
      }

      const readBytes = () => reader.bytes(request, lines)
      if (principal?.kind !== 'human' || !isMutation(route)) {
        const answer = await handle(readBytes)
        if (route.attachment !== undefined) {
          response.header('content-disposition', `attachment; filename="${route.attachment}"`)
        }
        return send(response, answer)
      }
      const mutation = { principal, action: route.audit, repeatable: undefined, render }
      if (lines.idempotencyKeys.length === 0) {
        return send(response, await handle(readBytes, mutation))
      }
      const bytes = await readBytes()
      const repeatable = repeatableRequest({ request, lines, principal, route, bytes })
      const { answer, replayed } = await once(idempotency, repeatable, () =>
        handle(async () => bytes, { ...mutation, repeatable }),
      )
      if (replayed) response.header('idempotency-replayed', 'true')
      return send(response, answer)
    }
  }
}

/** Renders the answer of a handler: declared members only, with the declared status. */
function compileAnswer(route: Route) {
  const write = route.ok === undefined ? undefined : compileWriter(route.ok)
  const { status } = route
  return (answer: unknown): RecordedAnswer => {
    if (write === undefined) return { status: 204, body: null }
    if (typeof status !== 'object') return { status: status ?? 200, body: write(answer) }
    const chosen = answer as { status: number; body: unknown }
    return { status: chosen.status, body: write(chosen.body) }
  }
}

function send(response: FastifyReply, { status, body }: RecordedAnswer): FastifyReply {
  if (body === null) return response.code(status).send()
  return response.code(status).header('content-type', 'application/json').send(body)
}

/** Does the work unless its request was done before; then the answer is the recorded one. */
async function once(
  idempotency: Idempotency,
  request: RepeatableRequest,
  work: () => Promise<RecordedAnswer>,
): Promise<{ answer: RecordedAnswer; replayed: boolean }> {
  const recorded = await idempotency.enter(request)
  if (recorded !== undefined) return { answer: recorded, replayed: true }
  try {
    return { answer: await work(), replayed: false }
  } catch (error) {
    if (!(error instanceof AlreadyDone)) throw error
  } finally {
    idempotency.leave(request)
  }
  return once(idempotency, request, work)
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
  // A caller whose account ends while the request is under way is refused like any other.
  if (code === 'authentication_failed' && route.access !== 'public') return true
  return route.errors?.includes(code) ?? false
}

/** Refuses what the HTTP parser lets through but the product does not. */
export function expectSaneHead(request: FastifyRequest, reply: FastifyReply): void {
  const rule = headRefusal(request.raw, request.originalUrl)
  if (rule !== undefined) {
    reply.header('connection', 'close')
    throw refuse.invalid(rule)
  }
  // A target that was not rewritten is the canonical one.
  if (request.url !== request.originalUrl && canonicalTarget(request.originalUrl) === undefined) {
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
