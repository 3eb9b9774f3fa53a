import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { atEndOfTurn, type Clock } from '../clock.ts'
import { Failure, refuse } from '../failure.ts'
import type { Log } from '../log.ts'
import { createCors, isPlayerPath } from './cors.ts'
import type { MountedRoute } from './exchange.ts'
import {
  acceptableRequestId,
  isPrivatePath,
  securityHeaders,
  strictTransportSecurity,
} from './headers.ts'
import { type Document, mountDocument, mountRoute, unreachable } from './mount.ts'
import { createPathMatcher } from './path-matcher.ts'
import { createPipeline, expectSaneHead, headerBytesMax, type PipelineDeps } from './pipeline.ts'
import { refusalOf } from './refusals.ts'
import { createSocketGuard, type SocketGuard, type Upgrade } from './socket-guard.ts'
import { canonicalTarget, hasEmptySegment, pathOf, targetBytesMax } from './target.ts'

/** The `http` section of the configuration. */
export type HttpConfig = {
  behind_tls_proxy: boolean
  cors_origins: readonly string[]
  max_connections: number
  headers_timeout_ms: number
  request_timeout_ms: number
  keep_alive_timeout_ms: number
}

export type HttpServerDeps = PipelineDeps & {
  config: HttpConfig
  clock: Clock
  log: Log
  /** PEM texts; without them the listener speaks plain HTTP. */
  tls?: { certificate: string; privateKey: string }
  newRequestId(): string
  routes: readonly MountedRoute[]
  documents: readonly Document[]
  /** Takes over a WebSocket upgrade; without it every upgrade request is an ordinary request. */
  upgrade?: Upgrade
  /** Told about every answered request, for the access log, which describes few of them. */
  onAnswered?: ((status: number, describe: () => AnsweredRequest) => void) | undefined
  /** Told about every 5xx, for the log and the error journal. */
  onServerError(error: unknown, request: FailedRequest): void
}

/** What may be said of a failed request: the route is its template. */
export type FailedRequest = { request_id: string; method: string; route: string; status: number }

export type AnsweredRequest = FailedRequest & { duration_ms: number; client: string }

export type HttpCounters = { http_requests_total: number; http_requests_in_flight: number }

export type HttpServer = {
  /** Binds the address and answers with the real one (port 0 takes a free port). */
  listen(host: string, port: number): Promise<{ host: string; port: number }>
  /** Stops accepting, lets running requests finish, then closes what is left. */
  close(graceMs: number): Promise<void>
  /** Replaces the certificate for new connections. */
  setCertificate(pair: { certificate: string; privateKey: string }): void
  counters(): HttpCounters
}

export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const counters = { http_requests_total: 0 }
  const app = createApp(deps)
  const fail = createFailureReply(deps)
  const guard = createSocketGuard({
    maxConnections: deps.config.max_connections,
    newRequestId: deps.newRequestId,
    headers: baseHeaders(deps),
    upgrade: deps.upgrade,
    onRefused: (reason) => {
      counters.http_requests_total += 1
      deps.log.debug('bytes that are no request were refused', { reason })
    },
  })
  addHooks(app, { deps, counters, guard, answerUnknown: createUnknownReply(deps, fail) })
  app.setErrorHandler((error, request, reply) => fail(error, request, reply))
  app.setNotFoundHandler(unreachable)
  const pipeline = createPipeline(deps)
  for (const mounted of deps.routes) mountRoute(app, mounted.route, pipeline(mounted))
  for (const document of deps.documents) mountDocument(app, document)
  guard.watch(app.server)
  return {
    async listen(host, port) {
      await app.listen({ host, port })
      const bound = app.server.address() as AddressInfo
      return { host, port: bound.port }
    },
    async close(graceMs) {
      guard.drain()
      const closing = app.close()
      app.server.closeIdleConnections()
      const cut = () => app.server.closeAllConnections()
      if (graceMs === 0) atEndOfTurn(cut)
      const grace = deps.clock.after(graceMs, cut)
      await closing
      grace.cancel()
    },
    setCertificate({ certificate, privateKey }) {
      if ('setSecureContext' in app.server && typeof app.server.setSecureContext === 'function') {
        app.server.setSecureContext({ cert: certificate, key: privateKey, minVersion: 'TLSv1.2' })
      }
    },
    counters: () => ({ ...counters, http_requests_in_flight: guard.running() }),
  }
}

function createApp({ config, tls, newRequestId, upgrade }: HttpServerDeps): FastifyInstance {
  const { request_timeout_ms, keep_alive_timeout_ms, headers_timeout_ms } = config
  const http = {
    // The sum of the header lines is checked exactly later; this only bounds the parser.
    maxHeaderSize: 2 * headerBytesMax,
    headersTimeout: Math.min(headers_timeout_ms, request_timeout_ms),
    connectionsCheckingInterval: 500,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) =>
      upgrade !== undefined && isUpgrade(request, upgrade.path),
  }
  const app = fastify({
    logger: false,
    genReqId: (raw) => acceptableRequestId(raw.headers['x-request-id']) ?? newRequestId(),
    requestTimeout: request_timeout_ms,
    keepAliveTimeout: keep_alive_timeout_ms,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // The router sees valid targets only; the others are refused by the first hook.
    rewriteUrl: ({ url }) => canonicalTarget(url ?? '') ?? '/',
    routerOptions: { maxParamLength: targetBytesMax },
    ...(tls === undefined
      ? { http }
      : { https: { ...http, cert: tls.certificate, key: tls.privateKey, minVersion: 'TLSv1.2' } }),
  })
  // Bodies are read by the pipeline, after the caller is known.
  app.removeAllContentTypeParsers()
  // Header lines beyond its default of 2000 would be dropped unseen.
  app.server.maxHeadersCount = 0
  return app as unknown as FastifyInstance
}

type Hooks = {
  deps: HttpServerDeps
  counters: Pick<HttpCounters, 'http_requests_total'>
  guard: SocketGuard
  answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply
}

function addHooks(app: FastifyInstance, { deps, counters, guard, answerUnknown }: Hooks): void {
  const cors = createCors(deps.config.cors_origins)
  const common = baseHeaders(deps)
  const confidential = { ...common, 'cache-control': 'no-store' }
  const crossOrigin = deps.config.cors_origins.length > 0
  app.addHook('onRequest', (request, reply, done) => {
    guard.began(request.raw, reply.raw)
    // The router was given `/` in place of a target that is not valid.
    const path = pathOf(request.url === '/' ? request.originalUrl : request.url)
    reply.serializer(asWritten).headers(isPrivatePath(path) ? confidential : common)
    reply.header('x-request-id', request.id)
    if (crossOrigin && isPlayerPath(path)) {
      const headers = cors.headersFor(request.headers.origin)
      if (headers !== undefined) reply.headers(headers)
    }
    expectSaneHead(request, reply)
    if (request.is404 || hasEmptySegment(path)) answerUnknown(request, reply)
    else done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    counters.http_requests_total += 1
    deps.onAnswered?.(reply.statusCode, () => ({
      request_id: request.id,
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      duration_ms: reply.elapsedTime,
      client: deps.sourceOf(request.raw),
    }))
    done()
  })
}

/** Bodies are JSON texts already; the framework would add a charset to their type. */
const asWritten = (payload: unknown) => String(payload)

type Fail = ReturnType<typeof createFailureReply>

/**
 * Answers what no route matched: 404 for the path, 405 for the method, or a preflight. It runs in a
 * hook, before the framework would judge the type of a body that nobody reads.
 */
function createUnknownReply({ routes, documents, config }: HttpServerDeps, fail: Fail) {
  const methodsOf = createPathMatcher([...routes.map(({ route }) => route), ...documents])
  const cors = createCors(config.cors_origins)
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = pathOf(request.url)
    const methods = methodsOf(path)
    if (methods.length === 0) return fail(refuse.notFound('no such path'), request, reply)
    if (isPreflight(request) && isPlayerPath(path) && cors.headersFor(request.headers.origin)) {
      return reply.code(204).headers(cors.preflightHeaders(methods)).send()
    }
    reply.header('allow', methods.join(', '))
    return fail(new Failure('method_not_allowed', { reason: request.method }), request, reply)
  }
}

/** Turns what was thrown into the answer, and tells the log and the journal about 5xx. */
function createFailureReply({ log, onServerError }: HttpServerDeps) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const answer = refusalOf(error)
    const { method } = request
    const fields = {
      request_id: request.id,
      method,
      route: routeOf(request),
      status: answer.status,
    }
    if (answer.status >= 500) {
      onServerError(error, fields)
    } else {
      log.debug('a request was refused', fields)
    }
    if (leavesMuchUnread(request)) reply.header('connection', 'close')
    if (answer.retryAfterSec !== undefined) reply.header('retry-after', answer.retryAfterSec)
    return reply.code(answer.status).header('content-type', 'application/json').send(answer.body)
  }
}

function baseHeaders({ config, tls }: HttpServerDeps): Record<string, string> {
  if (tls === undefined && !config.behind_tls_proxy) return { ...securityHeaders }
  return { ...securityHeaders, 'strict-transport-security': strictTransportSecurity }
}

function isUpgrade(request: IncomingMessage, path: string): boolean {
  const target = request.url ?? ''
  return (
    request.method === 'GET' &&
    request.headers.upgrade?.toLowerCase() === 'websocket' &&
    (target === path || target.startsWith(`${path}?`))
  )
}

function isPreflight(request: FastifyRequest): boolean {
  return request.method === 'OPTIONS' && 'access-control-request-method' in request.headers
}

/** Beyond this, what is left of a refused body is cut off instead of being read and dropped. */
const unreadBytesMax = 1_048_576

function leavesMuchUnread({ raw }: FastifyRequest): boolean {
  if (raw.complete) return false
  const announced = raw.headers['content-length']
  if (announced === undefined) return raw.headers['transfer-encoding'] !== undefined
  return Number(announced) > unreadBytesMax
}

/** The template as the table writes it; `other` for what no route matched. */
function routeOf(request: FastifyRequest): string {
  const { url } = request.routeOptions
  if (url === undefined || request.is404) return 'other'
  return url.replace(/:([^/]+)/g, '{$1}')
}
