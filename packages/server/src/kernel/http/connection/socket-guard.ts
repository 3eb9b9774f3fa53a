import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { unparsableAnswer } from './refusals.ts'

export type SocketGuardDeps = {
  /** Connections that are not upgraded; one more is closed at accept. */
  maxConnections: number
  /** How long a client may take no byte of an answer. */
  writeTimeoutMs: number
  newRequestId(): string
  /** Headers of the answer to bytes that are refused. */
  headers: Record<string, string>
  upgrade: Upgrade | undefined
  /** Called when that answer was given. */
  onRefused(reason: string): void
}

/** So many requests of a connection may be without an answer; whoever sends more is closed. */
export const unansweredMax = 64

/** Takes over a WebSocket upgrade from the HTTP server. */
export type Upgrade = {
  path: string
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/** The last request of a connection, and its answers that are not whole yet: mostly one. */
type Traffic = {
  message: IncomingMessage
  response: ServerResponse
  unanswered: ServerResponse[]
  /** What had been read when the last answer was out. */
  readBytes: number
  /** What came behind these requests is refused once all of them are answered. */
  refuseThen?: () => void
}

/** Looks after what lies below requests: connections, upgrades, and bytes that are refused. */
export function createSocketGuard(deps: SocketGuardDeps) {
  /**
   * By connection, since a Set of all running requests would keep each of them alive: it makes a
   * new table whenever many have come and gone, and a table that it gave up, once it is old, holds
   * what was in it until the next full garbage collection.
   */
  const traffics = new Map<Duplex, Traffic>()
  const connections = new Set<Socket>()
  const upgraded = new WeakSet<Duplex>()
  let isDraining = false

  /**
   * Keeps a request, so that later bytes on its connection can be judged. `ended` is called
   * once, when its answer is out or its client has left.
   */
  function began(message: IncomingMessage, response: ServerResponse, ended: () => void): void {
    const traffic = trafficOf(message, response)
    traffic.unanswered.push(response)
    if (isDraining) response.shouldKeepAlive = false
    // Other than the end of an answer, this comes also when the client leaves before it, and once.
    response.on('close', () => {
      traffic.unanswered = traffic.unanswered.filter((each) => each !== response)
      traffic.readBytes = message.socket.bytesRead
      ended()
      if (traffic.unanswered.length > 0) return
      if (traffic.refuseThen !== undefined) traffic.refuseThen()
      else if (isDraining) message.socket.destroySoon()
    })
  }

  /**
   * Whether one more request may begin: a client that sends on and on, and waits for no answer,
   * would otherwise have as many at work as its bytes can name. It is refused in its turn.
   */
  function admits({ socket }: IncomingMessage): boolean {
    const traffic = traffics.get(socket)
    if (traffic === undefined) return true
    if (traffic.refuseThen !== undefined || socket.destroyed) return false
    if (traffic.unanswered.length < unansweredMax) return true
    refuseInTurn(socket, 'too many requests without an answer')
    socket.prependOnceListener('close', withoutStacks)
    return false
  }

  function trafficOf(message: IncomingMessage, response: ServerResponse): Traffic {
    const { socket } = message
    const known = traffics.get(socket)
    if (known !== undefined) {
      known.message = message
      known.response = response
      return known
    }
    const traffic: Traffic = { message, response, unanswered: [], readBytes: 0 }
    traffics.set(socket, traffic)
    socket.once('close', () => traffics.delete(socket))
    return traffic
  }

  function* running(): Iterable<ServerResponse> {
    for (const { unanswered } of traffics.values()) yield* unanswered
  }

  /**
   * Lets the requests that are running, or still come, be the last ones of their connections, and
   * closes the connections that have not said anything, or nothing since their last answer.
   */
  function drain(): void {
    isDraining = true
    for (const response of running()) response.shouldKeepAlive = false
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    for (const { message, unanswered, readBytes } of traffics.values()) {
      const { socket } = message
      const isIdle = unanswered.length === 0 && socket.bytesRead === readBytes
      if (isIdle && !upgraded.has(socket)) socket.destroy()
    }
  }

  /**
   * Closes every connection, also what the HTTP server does not know: those that are upgraded, and
   * those whose TLS handshake has not ended.
   */
  function cut(): void {
    for (const socket of connections) socket.destroy()
  }

  function refuse(socket: Duplex, reason: string): void {
    deps.onRefused(reason)
    // The client may never close its side, so this side does not wait for it.
    socket.end(unparsableAnswer(deps.newRequestId(), deps.headers), () => socket.destroy())
  }

  /** Refuses what came last in its turn: behind the answers that the connection still owes. */
  function refuseInTurn(socket: Duplex, reason: string): void {
    const traffic = traffics.get(socket)
    if (traffic === undefined || mayAnswer(traffic)) {
      refuse(socket, reason)
    } else if (traffic.message.complete && traffic.unanswered.length > 0) {
      // Once large answers have left, Node.js would read on.
      if (traffic.refuseThen === undefined) socket.on('resume', () => socket.pause())
      socket.pause()
      traffic.refuseThen = () => {
        if (socket.writable) refuse(socket, reason)
      }
    } else {
      socket.destroy()
    }
  }

  /** Whether a connection owes an answer: then nothing else may be written to it. */
  const owesAnswer = (socket: Duplex) => (traffics.get(socket)?.unanswered.length ?? 0) > 0

  function watch(server: Server): void {
    limitConnections(server, deps)
    server.timeout = deps.writeTimeoutMs
    // To Node.js a connection is idle as soon as its answer was given to it, and its `close` would
    // cut answers that are leaving. `drain` knows better.
    server.closeIdleConnections = () => {}
    // It comes when for so long nothing was read, and nothing taken of what is written: also of an
    // idle connection, and while a handler is at work, which nobody should cut short.
    server.on('timeout', (socket: Socket) => {
      if (upgraded.has(socket)) return
      if (socket.writableLength > 0 || !owesAnswer(socket)) socket.destroy()
    })
    server.on('upgrade', (_request: IncomingMessage, socket: Duplex) => upgraded.add(socket))
    server.on('connection', (socket: Socket) => {
      connections.add(socket)
      socket.once('close', () => connections.delete(socket))
    })
    server.removeAllListeners('clientError')
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      const reason = error.code ?? ''
      // Anything but the HTTP parser has nobody left to answer: timeouts, resets, TLS.
      if (!reason.startsWith('HPE_') || !socket.writable) socket.destroy(error)
      else refuseInTurn(socket, reason)
    })
    // Without a listener the connection would close without a word.
    server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
      refuseInTurn(socket, 'CONNECT')
    })
    // An expectation that the server does not know is not met, but no reason to fail.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  }

  return { admits, began, drain, cut, watch, owesAnswer, running: () => [...running()].length }
}

/** Whether a connection was closed because a request on it took too long to come. */
export function isOverdue({ errored }: Duplex): boolean {
  return errored !== null && 'code' in errored && errored.code === 'ERR_HTTP_REQUEST_TIMEOUT'
}

const stackFrames = Error.stackTraceLimit

/** When a connection closes Node.js makes an error for each request that it leaves behind. */
function withoutStacks(): void {
  Error.stackTraceLimit = 0
  process.nextTick(() => {
    Error.stackTraceLimit = stackFrames
  })
}

/**
 * Whether broken bytes can be answered without the answer being taken for that of another request:
 * they begin a new one, or are the body of the only one that is not answered yet.
 */
function mayAnswer({ message, response, unanswered }: Traffic): boolean {
  if (unanswered.length === 0) return message.complete
  return unanswered.length === 1 && !message.complete && !response.headersSent
}

function limitConnections(server: Server, { maxConnections, upgrade }: SocketGuardDeps): void {
  let open = 0
  let upgraded = 0
  server.on('connection', (socket: Socket) => {
    open += 1
    socket.once('close', () => {
      open -= 1
    })
    if (open - upgraded > maxConnections) socket.destroy()
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Under TLS this is not the socket that was counted above; only their numbers correspond.
    upgraded += 1
    socket.once('close', () => {
      upgraded -= 1
    })
    upgrade?.accept(request, socket, head)
  })
}
