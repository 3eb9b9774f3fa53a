import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
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
import { type Document, mountDocument, mountRoute } from './mount.ts'
import { createPathMatcher } from './path-matcher.ts'
import { createPipeline, expectSaneHead, headerBytesMax, type PipelineDeps } from './pipeline.ts'
import { refusalOf, unparsableAnswer } from './refusals.ts'

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
  upgrade?: { path: string; accept(request: IncomingMessage, socket: Duplex, head: Buffer): void }
  /** Told about every answered request, for the access log. */
  onAnswered?: ((request: AnsweredRequest) => void) | undefined
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
  const counters: HttpCounters = { http_requests_total: 0, http_requests_in_flight: 0 }
  const app = createApp(deps)
  const fail = createFailureReply(deps)
  addHooks(app, deps, counters)
  app.setErrorHandler((error, request, reply) => fail(error, request, reply))
  const methodsOf = createPathMatcher([...deps.routes.map(({ route }) => route), ...deps.documents])
  const cors = createCors(deps.config.cors_origins)
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request)
    const methods = methodsOf(path)
    if (methods.length === 0) return fail(refuse.notFound('no such path'), request, reply)
    if (isPreflight(request) && isPlayerPath(path) && cors.headersFor(request.headers.origin)) {
      return reply.code(204).headers(cors.preflightHeaders(methods)).send()
    }
    reply.header('allow', methods.join(', '))
    return fail(new Failure('method_not_allowed', { reason: request.method }), request, reply)
  })
  const pipeline = createPipeline(deps)
  for (const mounted of deps.routes) mountRoute(app, mounted.route, pipeline(mounted))
  for (const document of deps.documents) mountDocument(app, document)
  guardSockets(app, deps, counters)
  return {
    async listen(host, port) {
      await app.listen({ host, port })
      const bound = app.server.address() as AddressInfo
      return { host, port: bound.port }
    },
    async close(graceMs) {
      const closing = app.close()
      app.server.closeIdleConnections()
      const grace = deps.clock.after(graceMs, () => app.server.closeAllConnections())
      await closing
      grace.cancel()
    },
    setCertificate({ certificate, privateKey }) {
      if ('setSecureContext' in app.server && typeof app.server.setSecureContext === 'function') {
        app.server.setSecureContext({ cert: certificate, key: privateKey, minVersion: 'TLSv1.2' })
      }
    },
    counters: () => ({ ...counters }),
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
    routerOptions: { maxParamLength: 8192 },
    frameworkErrors: (error, request, reply) => {
      const badPath = error.code === 'FST_ERR_BAD_URL'
      const answer = refusalOf(badPath ? refuse.invalid('the path is not valid') : error)
      const headers = { ...baseHeaders(config, tls !== undefined), 'x-request-id': request.id }
      reply.raw.writeHead(answer.status, { ...headers, 'content-type': 'application/json' })
      reply.raw.end(answer.body)
    },
    ...(tls === undefined
      ? { http }
      : { https: { ...http, cert: tls.certificate, key: tls.privateKey, minVersion: 'TLSv1.2' } }),
  })
  // Bodies are read by the pipeline, after the caller is known.
  app.removeAllContentTypeParsers()
  return app as unknown as FastifyInstance
}

function addHooks(app: FastifyInstance, deps: HttpServerDeps, counters: HttpCounters): void {
  const cors = createCors(deps.config.cors_origins)
  const common = baseHeaders(deps.config, deps.tls !== undefined)
  const confidential = { ...common, 'cache-control': 'no-store' }
  const crossOrigin = deps.config.cors_origins.length > 0
  app.addHook('onRequest', (request, reply, done) => {
    counters.http_requests_in_flight += 1
    const path = pathOf(request)
    reply.headers(isPrivatePath(path) ? confidential : common)
    reply.header('x-request-id', request.id)
    if (crossOrigin && isPlayerPath(path)) {
      const headers = cors.headersFor(request.headers.origin)
      if (headers !== undefined) reply.headers(headers)
    }
    expectSaneHead(request, reply)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    counters.http_requests_in_flight -= 1
    counters.http_requests_total += 1
    deps.onAnswered?.({
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'other',
      status: reply.statusCode,
      duration_ms: reply.elapsedTime,
      client: deps.sourceOf(request.raw),
    })
    done()
  })
}

/** Turns what was thrown into the answer, and tells the log and the journal about 5xx. */
function createFailureReply({ log, onServerError }: HttpServerDeps) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const answer = refusalOf(error)
    const { method } = request
    const route = request.routeOptions.url ?? 'other'
    const fields = { request_id: request.id, method, route, status: answer.status }
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

/** Bytes that are no request, connections over the limit, upgrades. */
function guardSockets(app: FastifyInstance, deps: HttpServerDeps, counters: HttpCounters): void {
  const { config, newRequestId, upgrade } = deps
  const { server } = app
  let open = 0
  const release = () => {
    open -= 1
  }
  server.on('connection', (socket: Socket) => {
    open += 1
    socket.once('close', release)
    if (open > config.max_connections) socket.destroy()
  })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.off('close', release)
    release()
    upgrade?.accept(request, socket, head)
  })
  server.removeAllListeners('clientError')
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET' || error.code === timedOut) {
      socket.destroy()
      return
    }
    counters.http_requests_total += 1
    socket.end(unparsableAnswer(newRequestId(), baseHeaders(config, deps.tls !== undefined)))
  })
}

const timedOut = 'ERR_HTTP_REQUEST_TIMEOUT'

function baseHeaders({ behind_tls_proxy }: HttpConfig, tls: boolean): Record<string, string> {
  if (!tls && !behind_tls_proxy) return { ...securityHeaders }
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

function pathOf(request: FastifyRequest): string {
  const target = request.raw.url ?? '/'
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}
