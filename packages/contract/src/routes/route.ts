import type { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import { type ReadRows, readRows, type Written } from '../values/once.ts'
import type { AuditAction } from './audit-actions.ts'
import type { Scope } from './principals.ts'

/**
 * A route is a value: method, path, who may call it, what it takes, what it answers. The router,
 * the checks before the handler, the output filter, the audit trail, `openapi.json`, the typed
 * client and the role matrix test are all derived from it.
 */
export type Route =
  | PublicRoute
  | PlayerRoute
  | OperatorRead
  | OperatorPostRead
  | SignOut
  | AdminWrite

/** No credential is needed. With `bearer: 'optional'` a well-formed one is handed on unverified. */
export type PublicRoute = Shape & {
  method: Method
  access: 'public'
  bearer?: 'optional'
  scope?: never
  audit?: never
}

/** Needs the access token of a live session of an active account. */
export type PlayerRoute = Shape & {
  method: Method
  access: 'player'
  bearer?: never
  scope?: never
  audit?: never
}

/**
 * A console GET. Whether API keys may call it must be decided: by a scope, by every valid key
 * (`any key`), or by none (`no key`). `access: 'admin'` keeps viewers out.
 */
export type OperatorRead = Shape & {
  method: 'GET'
  access: 'operator' | 'admin'
  bearer?: never
  scope: Scope | 'any key' | 'no key'
  audit?: AuditAction
  /**
   * Reads of what was recorded: machines do that again and again, and the durable audit trail must
   * not fill up with it. They stand in the ring and in the process log.
   */
  trail?: 'ring'
  /** Shows the node that answers, which the header X-Node-Id names where several play together. */
  ofNode?: true
}

/** The database explorer's reads: the only POST routes that an API key may call. */
export type OperatorPostRead = Shape & {
  method: 'POST'
  access: 'operator'
  bearer?: never
  scope: 'database:read'
  audit: Extract<AuditAction, `database.${string}`>
}

/**
 * The end of an operator's token, which every human may ask for and which comes to the handler.
 * Ending it twice is ending it once, so it takes no Idempotency-Key.
 */
export type SignOut = Shape & {
  method: 'POST'
  access: 'operator'
  bearer: 'handed on'
  scope: 'no key'
  audit: 'console.logout'
}

/** A console mutation: human admins only, and always audited. It cannot have a scope. */
export type AdminWrite = Shape & {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  access: 'admin'
  bearer?: never
  scope?: never
  audit: AuditAction
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type Shape = {
  /** Template with named segments, e.g. `/console/v1/groups/{id}`. */
  path: `/${string}`
  /** One sentence for the API reference. */
  summary: string
  /** One string schema per named segment of the path. */
  params?: z.ZodObject
  /**
   * Declared keys; any other, and any repeated one, is refused. Without it the query is ignored.
   */
  query?: z.ZodObject
  /** A strict object. Without it a body is ignored. */
  body?: z.ZodType
  /** `optional`: a missing or empty body counts as `{}`. */
  bodyNeeded?: 'optional'
  /** Largest body in bytes; the default is 65,536 for operators and 16,384 for all others. */
  bodyBytesMax?: number
  /** No cache may keep the answer. Always so for operators. */
  noStore?: true
  /** Pages of the origins in `http.cors_origins` may call it. The default is: players' routes. */
  crossOrigin?: boolean
  /** What leaves the process: undeclared members are dropped. Without it the answer is 204. */
  ok?: z.ZodType
  /** A success is offered to browsers as a file of this name. */
  attachment?: `${string}.json`
  /** The answer is the bytes of a file, which browsers are offered to save. */
  file?: true
  /**
   * The handler reads the request and writes the answer by itself, OPTIONS included: no rule on
   * bodies, queries and other origins holds.
   */
  raw?: true
  /**
   * Every attempt of a known caller is audited, whatever comes of it, by the handler itself. What
   * it does may be repeated, so that an Idempotency-Key is ignored.
   */
  auditsAttempts?: true
  /** The answer shows a secret once: it is never recorded to be given again. */
  answerHoldsSecret?: true
  /** Status of success (default 200, or 204 without `ok`); a list lets the handler choose. */
  status?: 101 | 201 | readonly [200, 201] | readonly [200, 503]
  /** Refusals beyond those that every route of this access has. */
  errors?: readonly ErrorCode[]
}

/** Whether only operators may call a route. */
export function isForOperators({ access }: Route): boolean {
  return access === 'operator' || access === 'admin'
}

/** The routes of one feature by name. */
export type Api = Readonly<Record<string, Route>>

/**
 * Declares a feature's routes. Schemas are given by functions, and are made when they are first
 * read.
 *
 * @example
 * export const groupsApi = defineApi({
 *   list: { method: 'GET', path: '/console/v1/groups', access: 'operator', scope: 'groups:read',
 *     summary: 'Groups by id', query: GroupQuery, ok: () => pageOf(GroupSummary()) },
 * })
 */
export function defineApi<const A extends WrittenApi>(
  api: A & OnlyMembersOfRoutes<A>,
): ReadRows<A> {
  return readRows<A>(api)
}

type WrittenApi = Readonly<Record<string, Written<Route, 'params' | 'query' | 'body' | 'ok'>>>

/** A misspelt optional member would otherwise be one more that nothing reads. */
type OnlyMembersOfRoutes<A extends WrittenApi> = {
  [K in keyof A]: { [M in Exclude<keyof A[K], MemberOf<Route>>]: never }
}
type MemberOf<R> = R extends Route ? keyof R : never

/** What a handler is given: everything of the request, already checked. */
export type Call<
  R extends Route,
  Principals extends PrincipalByAccess,
  Request,
  Mutation = never,
> = {
  /** Who calls: nobody for public routes. */
  principal: Principals[R['access']]
  params: OutputOf<R['params']>
  query: OutputOf<R['query']>
  body: OutputOf<R['body']>
  /**
   * Only where the route declares it: the well-formed credential as sent; with `optional` it is not
   * yet verified.
   */
  bearer: R extends { bearer: 'optional' }
    ? string | undefined
    : R extends { bearer: 'handed on' }
      ? string
      : undefined
  /** Only for console mutations: what their change needs to be audited and repeatable. */
  mutation: R extends AdminWrite
    ? R extends { auditsAttempts: true }
      ? undefined
      : Mutation
    : undefined
  request: Request
}

/** What a handler answers: the body, or status and body where the route leaves a choice. */
export type Answer<R extends Route> = R extends { status: readonly (infer S)[] }
  ? { status: S; body: BodyOf<R> }
  : BodyOf<R>

/** One handler per route; a missing one does not compile. */
export type Handlers<
  A extends Api,
  Principals extends PrincipalByAccess,
  Request,
  Mutation = never,
  File = never,
> = {
  [K in keyof A]: (call: Call<A[K], Principals, Request, Mutation>) => Promise<Answer<A[K]> | File>
}

/** What a caller is, by the access of the route. */
export type PrincipalByAccess = Record<Route['access'], unknown>

/** The typed client of an API: one function per route. */
export type Client<A extends Api> = {
  [K in keyof A]: (
    input: ClientInput<A[K]>,
  ) => Promise<A[K] extends { file: true } ? Uint8Array : BodyOf<A[K]>>
}

/**
 * The parts of a request that a route declares, as the sender writes them; mutations of the
 * console may name themselves to be repeated safely.
 */
export type ClientInput<R extends Route> = {
  [P in 'params' | 'query' as undefined extends R[P] ? never : P]: TextInputOf<R[P]>
} & { [P in 'body' as undefined extends R[P] ? never : P]: InputOf<R[P]> } & (R extends AdminWrite
    ? { idempotencyKey?: string | undefined }
    : unknown)

type OutputOf<S> = S extends z.ZodType ? z.output<S> : undefined
/** What goes through a path or a query as text may also be given as what it stands for. */
type TextInputOf<S> = S extends z.ZodType
  ? {
      [K in keyof z.input<S>]:
        | z.input<S>[K]
        | (K extends keyof z.output<S> ? z.output<S>[K] : never)
    }
  : never
type InputOf<S> = S extends z.ZodType ? z.input<S> : never
type BodyOf<R extends Route> = R extends { ok: z.ZodType } ? z.input<R['ok']> : undefined
