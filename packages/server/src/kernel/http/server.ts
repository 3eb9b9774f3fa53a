import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { atEndOfTurn, type Clock } from '../clock.ts'
import { Failure, refuse } from '../failure.ts'
import type { Log } from '../log/log.ts'
import { LaterTurns } from './connection/later-turns.ts'
import { ReadyAnswers } from './connection/ready-answers.ts'
import { refusalOf } from './connection/refusals.ts'
import { createSocketGuard, type Upgrade } from './connection/socket-guard.ts'
import { createCors } from './cors.ts'
import { type Document, serveDocument } from './documents.ts'
import { Exchange, type MountedRoute } from './exchange.ts'
import { acceptableRequestId, securityHeaders, strictTransportSecurity } from './headers.ts'
import { createPipeline, type PipelineDeps, type Serve } from './pipeline.ts'
import { createPathFacts } from './request/path-facts.ts'
import { headerBytesMax, headRefusal, readRequestHead } from './request/request-head.ts'
import { canonicalTarget, hasEmptySegment, pathOf, queryOf } from './request/target.ts'
import { createRouter, methodsOf } from './router.ts'

/** Not imported: that reads every member, of which one loads the whole client of `fetch`. */
const http = process.getBuiltinModule('node:http')
const net = process.getBuiltinModule('node:net')

/** The `http` section of the configuration. */
export type HttpConfig = {
  behind_tls_proxy: boolean
  cors_origins: readonly string[]
  max_connections: number
  headers_timeout_ms: number
  request_timeout_ms: number
  write_timeout_ms: number
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
  /** What is served without the pipeline, such as the metrics. */
  pages?: readonly { method: 'GET'; path: `/${string}`; serve: Serve }[]
  /** Takes over a WebSocket upgrade; without it every upgrade request is an ordinary request. */
  upgrade?: Upgrade
  /** Called for every answered request, for the access log and the metrics. */
  onAnswered?: ((answer: Answer, describe: () => AnsweredRequest) => void) | undefined
  /** Receives every 5xx, for the log and the error journal. */
  onServerError(error: unknown, request: FailedRequest): void
}

/** What may be said of a failed request: the route is its template. */
export type FailedRequest = { request_id: string; method: string; route: string; status: number }

/** What is at hand of every answer, without a look at the request. */
export type Answer = { method: string; route: string; status: number; duration_ms: number }

export type AnsweredRequest = FailedRequest & {
  duration_ms: number
  client: string
  /** Whether it was sent with what looks like an API key. */
  with_key: boolean
}

export type HttpCounters = {
  http_requests_total: number
  http_requests_in_flight: number
  /** Microseconds from the heads of requests to the ends of their answers. */
  http_request_microseconds_total: number
}

export type HttpServer = {
  /**
   * Binds the address and answers with the real one (port 0 takes a free port). With `isShared`
   * other processes of this user may have it too, and each gets its share of the connections.
   */
  listen(host: string, port: number, isShared?: boolean): Promise<{ host: string; port: number }>
  /** Stops accepting, lets running requests finish, then closes what is left. */
  close(graceMs: number): Promise<void>
  /** Replaces the certificate for new connections. */
  setCertificate(pair: { certificate: string; privateKey: string }): void
  counters(): HttpCounters
}

export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const { config, clock, log, newRequestId } = deps
  const counters = { http_requests_total: 0, http_request_microseconds_total: 0 }
  const guard = createSocketGuard({
    maxConnections: config.max_connections,
    writeTimeoutMs: config.write_timeout_ms,
    newRequestId,
    headers: baseHeaders(deps),
    upgrade: deps.upgrade,
    onRefused: (reason) => {
      counters.http_requests_total += 1
      log.debug('bytes of a connection were refused', { reason })
    },
  })
  const answers = new ReadyAnswers(clock)
  const later = new LaterTurns()
  const open = createOpening(deps, answers)
  const serve = createServing(deps)
  const fail = createFailing(deps)

  // Behind a request that is not answered yet, an upgrade is answered in its turn, and refused.
  const mayUpgrade = ({ socket }: IncomingMessage) => !guard.owesAnswer(socket)
  const server = listenerOf(deps, mayUpgrade, (message, response) => {
    if (!guard.admits(message)) return
    const isAhead = guard.owesAnswer(message.socket)
    let exchange: Exchange | undefined
    guard.began(message, response, () => {
      const ended = exchange
      if (ended === undefined || !response.headersSent) return
      const duration_ms = clock.monotonicMs() - ended.startedMs
      counters.http_requests_total += 1
      counters.http_request_microseconds_total += Math.round(duration_ms * 1000)
      const { route } = ended
      const status = response.statusCode
      deps.onAnswered?.({ method: message.method ?? '', route, status, duration_ms }, () => ({
        ...describe(ended, status),
        duration_ms,
        client: deps.sourceOf(message),
        with_key: message.headers.authorization?.startsWith('Bearer svc_') ?? false,
      }))
    })
    const begin = () => {
      if (message.socket.destroyed) return
      const begun = open(message, response)
      exchange = begun
      serve(begun).catch((error: unknown) => fail(error, begun))
    }
    if (isAhead) later.add(begin)
    else begin()
  })
  guard.watch(server)
  return {
    async listen(host, port, isShared = false) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(placeOf({ port, host, reusePort: isShared }), () => {
          server.off('error', reject)
          resolve()
        })
      })
      const bound = server.address() as AddressInfo
      return { host, port: bound.port }
    },
    async close(graceMs) {
      guard.drain()
      const closing = new Promise((resolve) => server.close(resolve))
      if (graceMs === 0) atEndOfTurn(guard.cut)
      const grace = clock.after(graceMs, guard.cut)
      await closing
      grace.cancel()
    },
    setCertificate({ certificate, privateKey }) {
      if ('setSecureContext' in server && typeof server.setSecureContext === 'function') {
        server.setSecureContext({ cert: certificate, key: privateKey, minVersion: 'TLSv1.2' })
      }
    },
    counters: () => ({ ...counters, http_requests_in_flight: guard.running() }),
  }
}

type Place = { host: string; port: number; reusePort: boolean }

/**
 * An address that is bound here is not looked up, for which Node.js would get ready for four
 * milliseconds. What cannot be bound so, or by an older Node.js, goes the long way and fails there.
 */
function placeOf(place: Place) {
  try {
    return { handle: new net.BoundSocket(place) }
  } catch {
    return place
  }
}

type OnRequest = (message: IncomingMessage, response: ServerResponse) => void

function listenerOf(
  { config, tls, upgrade }: HttpServerDeps,
  mayUpgrade: (request: IncomingMessage) => boolean,
  onRequest: OnRequest,
): Server {
  const options = {
    // The sum of the header lines is checked exactly later; this only bounds the parser.
    maxHeaderSize: 2 * headerBytesMax,
    headersTimeout: Math.min(config.headers_timeout_ms, config.request_timeout_ms),
    requestTimeout: config.request_timeout_ms,
    keepAliveTimeout: config.keep_alive_timeout_ms,
    connectionsCheckingInterval: 500,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) =>
      upgrade !== undefined && isUpgrade(request, upgrade.path) && mayUpgrade(request),
  }
  const server =
    tls === undefined
      ? http.createServer(options, onRequest)
      : createSecureServer(
          {
            ...options,
            cert: tls.certificate,
            key: tls.privateKey,
            minVersion: 'TLSv1.2',
            handshakeTimeout: options.headersTimeout,
          },
          onRequest,
        )
  // Header lines beyond the default of 2000 would be dropped unseen.
  server.maxHeadersCount = 0
  return server
}

/** Begins an exchange: its id, its canonical target, and the headers that every answer has. */
function createOpening(deps: HttpServerDeps, answers: ReadyAnswers) {
  const { config, clock, newRequestId } = deps
  const cors = createCors(config.cors_origins)
  const isOpen = config.cors_origins.length > 0
  const factsOf = createPathFacts(deps.routes.map(({ route }) => route))
  const common = Object.entries(baseHeaders(deps)).flat()
  const confidential = [...common, 'cache-control', 'no-store']
  return (message: IncomingMessage, response: ServerResponse): Exchange => {
    const canonical = canonicalTarget(message.url ?? '')
    const target = canonical ?? message.url ?? ''
    const path = pathOf(target)
    const { noStore, crossOrigin } = factsOf(path)
    const exchange = new Exchange({
      message,
      response,
      id: acceptableRequestId(message.headers['x-request-id']) ?? newRequestId(),
      path,
      query: queryOf(target),
      startedMs: clock.monotonicMs(),
      head: readRequestHead(message),
      isValid: canonical !== undefined,
      headers: noStore ? confidential : common,
      answers,
    })
    const headers = isOpen && crossOrigin ? cors.headersFor(message.headers.origin) : undefined
    if (headers !== undefined) {
      exchange.isCrossOrigin = true
      exchange.headers(headers)
    }
    return exchange
  }
}

/** Finds the route of an exchange and serves it: 404 for the path, 405 for the method. */
function createServing(deps: HttpServerDeps): Serve {
  const cors = createCors(deps.config.cors_origins)
  const pipeline = createPipeline(deps)
  const find = createRouter([
    ...deps.routes.flatMap((mounted) => mountedRows(mounted, pipeline)),
    ...deps.documents.map((document) => ({ ...document, serve: serveDocument(document) })),
    ...(deps.pages ?? []),
  ])
  return async (exchange) => {
    expectSaneHead(exchange)
    const { message, path, isCrossOrigin } = exchange
    const match = hasEmptySegment(path) ? undefined : find(path)
    if (match === undefined) throw refuse.notFound('no such path')
    const serve = match.methods.get(message.method ?? '')
    if (serve !== undefined) {
      exchange.route = match.template
      exchange.params = match.params
      return serve(exchange)
    }
    const methods = methodsOf(match)
    if (isPreflight(message) && isCrossOrigin) {
      exchange.headers(cors.preflightHeaders(methods))
      return exchange.reply(204, null)
    }
    exchange.header('allow', methods.join(', '))
    throw new Failure('method_not_allowed', { reason: message.method ?? '' })
  }
}

/** The rows of the router for one route: one that writes its answers itself has OPTIONS too. */
function mountedRows(mounted: MountedRoute, pipeline: (mounted: MountedRoute) => Serve) {
  const { route, serve } = mounted
  const { method, path } = route
  const options = 'OPTIONS' as const
  if (serve === undefined) return [{ method, path, serve: pipeline(mounted) }]
  return [
    { method, path, serve },
    { method: options, path, serve },
  ]
}

/** Refuses what the HTTP parser lets through but the product does not. */
function expectSaneHead(exchange: Exchange): void {
  const rule = headRefusal(exchange.message, exchange.head)
  if (rule !== undefined) {
    exchange.header('connection', 'close')
    throw refuse.invalid(rule)
  }
  if (!exchange.isValid) throw refuse.invalid('the path is not valid')
}

/** Turns what was thrown into the answer, and reports 5xx to the log and the journal. */
function createFailing({ log, onServerError }: HttpServerDeps) {
  return (error: unknown, exchange: Exchange): void => {
    const { status, retryAfterSec, body } = refusalOf(error)
    if (status === 504) log.warn('a request passed its deadline', describe(exchange, status))
    else if (status >= 500 && !isGateClosed(error)) onServerError(error, describe(exchange, status))
    else log.debug('a request was refused', describe(exchange, status))
    if (leavesMuchUnread(exchange.message)) exchange.header('connection', 'close')
    if (retryAfterSec !== undefined) exchange.header('retry-after', String(retryAfterSec))
    exchange.reply(status, body)
  }
}

/** While the game's script is not ready every answer says so; the script's own end is an error. */
function isGateClosed(error: unknown): boolean {
  return error instanceof Failure && error.code === 'runtime_unavailable'
}

function describe({ id, message, route }: Exchange, status: number): FailedRequest {
  return { request_id: id, method: message.method ?? '', route, status }
}

function baseHeaders({ config, tls }: HttpServerDeps): Record<string, string> {
  if (tls === undefined && !config.behind_tls_proxy) return { ...securityHeaders }
  return { ...securityHeaders, 'strict-transport-security': strictTransportSecurity }
}

function isUpgrade(request: IncomingMessage, path: string): boolean {
  return (
    request.method === 'GET' &&
    request.headers.upgrade?.toLowerCase() === 'websocket' &&
    pathOf(canonicalTarget(request.url ?? '') ?? '') === path
  )
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && 'access-control-request-method' in headers
}

/** Beyond this, what is left of a refused body is cut off instead of being read and dropped. */
const unreadBytesMax = 1_048_576

function leavesMuchUnread(message: IncomingMessage): boolean {
  const { complete, headers } = message
  if (complete) return false
  // Nobody reads what is left of one that was refused in the middle.
  if (message.isPaused()) return true
  const announced = headers['content-length']
  if (announced === undefined) return headers['transfer-encoding'] !== undefined
  return Number(announced) > unreadBytesMax
}
