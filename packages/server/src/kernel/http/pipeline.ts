import { errorTable, type Route } from '@guildhall/contract'
import { bearerOf } from '../auth/bearer.ts'
import { guard, identify } from '../auth/guard.ts'
import type {
  ApiKeyPrincipal,
  HumanPrincipal,
  OperatorPrincipal,
  PlayerPrincipal,
  Verifiers,
} from '../auth/principal.ts'
import { Failure } from '../failure.ts'
import { JsonPieces, type JsonText } from '../json/json-pieces.ts'
import { compileWriter } from '../json/json-writer.ts'
import {
  AlreadyDone,
  type Idempotency,
  type IdempotentRequest,
  type Mutation,
  type RecordedAnswer,
} from '../mutation.ts'
import { type Exchange, FileAnswer, type MountedRoute, type RequestInfo } from './exchange.ts'
import { idempotentRequest, isMutation } from './idempotent-request.ts'
import { compileReader } from './request/request-reader.ts'
import type { SourceAddress } from './request/source-address.ts'

export type PipelineDeps = {
  verifiers: Verifiers
  sourceOf: SourceAddress
  /** Records that an API key passed the checks of a route, before its handler runs. */
  recordKeyRead(key: ApiKeyPrincipal, route: Route, method: string): void
  idempotency: Idempotency
  /** Named in answers that show this node; undefined on a node that plays with itself. */
  nodeId?: string | undefined
}

/** Serves one exchange; what it throws is the refusal or the bug that the server answers. */
export type Serve = (exchange: Exchange) => Promise<void>

/**
 * The one way of every request: who is it (401), may they (403), what do they say (400), do it,
 * filter the answer, reply. Nothing of the body is read before the first two.
 */
export function createPipeline(deps: PipelineDeps): (mounted: MountedRoute) => Serve {
  return (mounted) => {
    let serve: Serve | undefined
    // With the first request: a node starts before it has built the schemas of all routes.
    return (exchange) => {
      serve ??= compileRoute(deps, mounted)
      return serve(exchange)
    }
  }
}

function compileRoute(deps: PipelineDeps, mounted: MountedRoute): Serve {
  const { verifiers, sourceOf, recordKeyRead, idempotency, nodeId } = deps
  const { route } = mounted
  const reader = compileReader(route)
  const render = compileAnswer(route)
  const recordOf = (answer: unknown): RecordedAnswer => {
    const { status, body } = render(answer)
    return { status, body: body === null ? null : String(body) }
  }
  const looksAtBearer = route.access !== 'public' || route.bearer === 'optional'

  async function handle(exchange: Exchange, caller: Caller, with_: HandleWith) {
    const read = reported(mounted, caller.principal, () => reader.parts(exchange, with_.bytes))
    const input = read instanceof Promise ? await read : read
    const call = {
      // The guard has just made sure that the caller fits the access of the route.
      principal: caller.principal as never,
      ...input,
      bearer: route.bearer === undefined ? undefined : (caller.bearer as undefined),
      mutation: with_.mutation as undefined,
      request: new LazyRequestInfo(exchange, sourceOf),
    }
    const rendered = render(await answerOf(mounted, call))
    if (rendered.body instanceof JsonPieces) {
      await rendered.body.written(() => !exchange.response.destroyed)
    }
    return rendered
  }

  async function mutate(exchange: Exchange, caller: Caller, mutation: OperatorMutation) {
    if (exchange.head.idempotencyKeys.length === 0) return handle(exchange, caller, { mutation })
    const bytes = await reader.bytes(exchange)
    const { actor } = mutation
    const idempotent = idempotentRequest({ exchange, actor, route, bytes, recordOf })
    const { answer, replayed } = await once(idempotency, idempotent, () =>
      handle(exchange, caller, { bytes, mutation: { ...mutation, idempotent } }),
    )
    if (replayed) exchange.header('idempotency-replayed', 'true')
    return answer
  }

  return async (exchange) => {
    const bearer = looksAtBearer ? bearerOf(exchange.head.authorization) : undefined
    const known = identify(route, bearer, verifiers)
    const principal = known instanceof Promise ? await known : known
    reported(mounted, principal, () => guard(route, principal))
    if (principal?.kind === 'api_key') {
      recordKeyRead(principal, route, exchange.message.method ?? route.method)
    }
    if (principal !== undefined && principal.kind !== 'player') mounted.admit?.(principal)
    if (nodeId !== undefined && 'ofNode' in route) exchange.header('x-node-id', nodeId)
    const caller = { principal, bearer }
    const { status, body } =
      principal?.kind === 'human' && isMutation(route)
        ? await mutate(exchange, caller, { actor: principal, action: route.audit })
        : await handle(exchange, caller, {})
    if (route.attachment !== undefined) {
      exchange.header('content-disposition', `attachment; filename="${route.attachment}"`)
    }
    if (body instanceof FileAnswer) return exchange.replyFile(body)
    exchange.reply(status, body)
  }
}

/** Runs what may refuse an attempt before its handler, and reports to the route when it does. */
function reported<T>({ refused }: MountedRoute, principal: Caller['principal'], step: () => T): T {
  const report = (error: unknown): never => {
    if (principal !== undefined && principal.kind !== 'player') refused?.(principal, error)
    throw error
  }
  try {
    const done = step()
    if (refused === undefined || !(done instanceof Promise)) return done
    return done.catch(report) as T
  } catch (error) {
    return report(error)
  }
}

type Caller = {
  principal: PlayerPrincipal | OperatorPrincipal | undefined
  bearer?: string | undefined
}
/**
 * Most handlers never ask where a request comes from. A class, because V8 makes a hidden class of
 * its own for every object literal with a getter, which keeps the request alive for long.
 */
class LazyRequestInfo implements RequestInfo {
  readonly id: string
  readonly #exchange: Exchange
  readonly #sourceOf: SourceAddress

  constructor(exchange: Exchange, sourceOf: SourceAddress) {
    this.id = exchange.id
    this.#exchange = exchange
    this.#sourceOf = sourceOf
  }

  get source(): string {
    return this.#sourceOf(this.#exchange.message)
  }

  header(name: string, value: string): void {
    this.#exchange.header(name, value)
  }
}

type HandleWith = { bytes?: Buffer; mutation?: Mutation }
type OperatorMutation = Mutation & { actor: HumanPrincipal }

type Rendered = { status: number; body: JsonText | FileAnswer | null }
type Render = (answer: unknown) => Rendered

/** Renders the answer of a handler: declared members only, with the declared status. */
function compileAnswer(route: Route): Render {
  const write = route.ok === undefined ? undefined : compileWriter(route.ok)
  const { status } = route
  return (answer) => {
    if (answer instanceof FileAnswer) return { status: 200, body: answer }
    if (write === undefined) return { status: 204, body: null }
    if (typeof status !== 'object') {
      return { status: status ?? 200, body: write(answer) }
    }
    const chosen = answer as { status: number; body: unknown }
    return { status: chosen.status, body: write(chosen.body) }
  }
}

/** Does the work unless its request was done before; then the answer is the recorded one. */
async function once(
  idempotency: Idempotency,
  request: IdempotentRequest,
  work: () => Promise<Rendered>,
): Promise<{ answer: Rendered; replayed: boolean }> {
  const recorded = await idempotency.enter(request)
  if (recorded !== undefined) return { answer: recorded, replayed: true }
  let refusal: Error
  try {
    return { answer: await work(), replayed: false }
  } catch (error) {
    // Another node may have done it meanwhile: that is also why a rule of the change refused it.
    if (!(error instanceof AlreadyDone || error instanceof Failure)) throw error
    refusal = error
  } finally {
    idempotency.leave(request)
  }
  const meanwhile = await idempotency.enter(request)
  if (meanwhile !== undefined) return { answer: meanwhile, replayed: true }
  idempotency.leave(request)
  throw refusal
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
