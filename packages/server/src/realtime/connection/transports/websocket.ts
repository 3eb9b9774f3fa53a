import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { type Failure, refuse } from '../../../kernel/failure.ts'
import { hasBody } from '../../../kernel/http/request/media.ts'
import { headRefusal, readRequestHead } from '../../../kernel/http/request/request-head.ts'
import type { TransportConfig } from '../../config.ts'
import { closings } from '../closing/closings.ts'
import { limitGroupOf } from './limit-group.ts'
import { type Acceptor, type AcceptUpgrade, realtimePath, type Transport } from './transport.ts'
import { createMessageScratch, WebSocketConnection } from './websocket-connection.ts'
import { refuseUpgrade, type UpgradeAnswers } from './websocket-refusal.ts'

export type WebSocketTransportDeps = UpgradeAnswers & {
  config: TransportConfig
  gateway: Acceptor
  /** The address that limits count by, e.g. `203.0.113.9`. */
  sourceOf(request: IncomingMessage): string
}

/** Who has brought so much at once is read again in the next turn. */
const readPerTurnBytes = 16 * 1024
/** The one subprotocol that is selected when a client offers it; none is needed. */
const subprotocol = 'guildhall.0'

export function createWebSocketTransport(deps: WebSocketTransportDeps): Transport {
  const { enabled } = deps.config.websocket
  let bind = ''
  const open = { count: 0 }
  return {
    name: 'websocket',
    hasOwnSocket: false,
    async start(httpAddress) {
      bind = httpAddress
    },
    state: () => ({ enabled, available: enabled, bind, path: realtimePath }),
    acceptUpgrade: enabled ? createAccept(deps, open) : undefined,
    metrics: () => ({ websocket_connections_active: open.count }),
    // The sockets belong to the HTTP listener, and the gateway ends the connections.
    close: async () => {},
  }
}

function createAccept(deps: WebSocketTransportDeps, open: { count: number }): AcceptUpgrade {
  const { config, gateway, sourceOf } = deps
  const scratch = createMessageScratch()
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // Pings are answered by the connection, which keeps to the rate and to its buffer.
    autoPong: false,
    // Text is a protocol error whatever it says; the reason of a close is looked at below.
    skipUTF8Validation: true,
    maxPayload: config.websocket.max_message_bytes,
    WebSocket: GameSocket,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  })
  server.on('wsClientError', (_error, socket, request) => {
    refuseUpgrade(deps, { request, socket, failure: refuse.invalid('invalid upgrade request') })
  })
  return (request, socket, head) => {
    const group = limitGroupOf(sourceOf(request))
    const failure = objection(request) ?? (gateway.refuses(group) ? tooMany() : undefined)
    if (failure !== undefined) return refuseUpgrade(deps, { request, socket, failure })
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = new WebSocketConnection(webSocket, { socket, scratch, limitGroup: group })
      connection.events = gateway.accept(connection)
      webSocket.connection = connection
      open.count += 1
      webSocket.once('close', () => {
        open.count -= 1
      })
      socket.on('data', (bytes: Buffer) => {
        if (bytes.length >= readPerTurnBytes) connection.hasRead()
      })
      webSocket.on('message', onMessage)
      webSocket.on('ping', onPing)
      webSocket.on('pong', onPong)
      webSocket.on('error', ignoreError)
      webSocket.on('close', onClose)
    })
  }

  function objection(request: IncomingMessage): Failure | undefined {
    const rule = headRefusal(request, readRequestHead(request))
    if (rule !== undefined) return refuse.invalid(rule)
    if (request.httpVersionMinor !== 1) return refuse.invalid('an upgrade needs HTTP/1.1')
    if (hasBody(request)) return refuse.invalid('an upgrade has no body')
    if (request.headers['sec-websocket-version'] !== '13') {
      return refuse.invalid('WebSocket version 13 is needed')
    }
    const { origin } = request.headers
    const { allowed_origins } = config.websocket
    if (allowed_origins.length === 0 || origin === undefined) return undefined
    return allowed_origins.includes(origin) ? undefined : refuse.forbidden('origin not allowed')
  }
}

/** A close of the peer with this code, or without one, is meant; any other may come back. */
const normalClosure = 1000

/** A close whose reason is no UTF-8 is not sent back but answered with this. */
const invalidPayload = 1007

/** What `ws` reports when the peer has sent no close. */
const withoutClose = 1006

/** A WebSocket that knows its connection, so that listeners can be shared by all of them. */
class GameSocket extends WebSocket {
  connection: WebSocketConnection | undefined

  /**
   * Also called by `ws` itself, when the peer closes or breaks the protocol: the participant must
   * be gone then, however long the closing takes.
   */
  override close(code?: number, reason?: string | Buffer): void {
    if (Buffer.isBuffer(reason) && !isUtf8(reason)) {
      this.close(invalidPayload)
      return
    }
    // A close of the peer comes with its reason, be it empty; an error that `ws` found has none.
    const isLoss = code !== undefined && code !== normalClosure && reason !== undefined
    this.connection?.events?.ending(isLoss ? 'lost' : 'left')
    const { messageTooBig } = closings
    super.close(code, code === messageTooBig.code ? messageTooBig.reason : reason)
  }
}

/** Messages are parts of one stream of frames. */
const theStream = 0

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  const events = connectionOf(this)?.events
  if (!isBinary) events?.violated('text message')
  // With the default binary type a message is one Buffer, however it was fragmented.
  else if (data instanceof Uint8Array) events?.received(theStream, data)
}

function onPing(this: WebSocket, payload: Buffer): void {
  const connection = connectionOf(this)
  connection?.events?.pinged(payload.length)
  connection?.pongLater(payload)
}

function onPong(this: WebSocket): void {
  connectionOf(this)?.events?.ponged()
}

function onClose(this: WebSocket, code: number): void {
  connectionOf(this)?.events?.closed(code !== withoutClose)
}

function connectionOf(webSocket: WebSocket): WebSocketConnection | undefined {
  return webSocket instanceof GameSocket ? webSocket.connection : undefined
}

/** `ws` closes the connection itself, which is reported by `close`. */
function ignoreError(): void {}

function tooMany(): Failure {
  return refuse.rateLimited(1, 'too many connections')
}
