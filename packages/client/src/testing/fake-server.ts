import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as wire from '@guildhall/contract'
import { type AuthResult, kinds, type RoomPresence } from '@guildhall/contract'
import { type WebSocket, WebSocketServer } from 'ws'

/** A server of the test's own: it says over a real socket what the test has it say. */
export type FakeServer = {
  url: string
  /** How requests over HTTP are answered; the default is 404. */
  onRequest(request: IncomingMessage, response: ServerResponse): void
  /** What connections get before the test has them; the default accepts a guest. */
  greet: ((peer: Peer) => void) | null
  /** The next connection that the test has not seen. */
  connection(): Promise<Peer>
  /** Connections that were opened so far. */
  count(): number
  close(): Promise<void>
}

export type Peer = {
  /** The next envelope, in order of arrival. */
  next(): Promise<wire.Envelope>
  /** The next envelope of this kind; those before it are lost. */
  nextOf(kind: number): Promise<wire.Envelope>
  send(kind: number, body: Uint8Array): void
  sendRaw(bytes: Uint8Array | string): void
  accept(as?: Acceptance): void
  presence(presence: Partial<RoomPresence> & Pick<RoomPresence, 'event'>): void
  close(code: number, reason?: string): void
  /** Cuts the line without a closing handshake. */
  cut(): void
  closed: Promise<number>
}

export type Acceptance = {
  result?: AuthResult
  participant?: number
  room?: { room_id: number; map?: string; mode?: string }
  maxBytes?: number
  lastClose?: number | null
}

export async function openFakeServer(): Promise<FakeServer> {
  const peers: Peer[] = []
  const wanted: ((peer: Peer) => void)[] = []
  let opened = 0
  const http = createServer((request, response) => server.onRequest(request, response))
  const sockets = new WebSocketServer({ server: http, path: '/v1/realtime' })
  sockets.on('connection', (socket) => {
    opened += 1
    const peer = createPeer(socket)
    server.greet?.(peer)
    const want = wanted.shift()
    if (want === undefined) peers.push(peer)
    else want(peer)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const server: FakeServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    onRequest: (_request, response) => response.writeHead(404).end(),
    greet: (peer) => peer.accept(),
    connection() {
      const peer = peers.shift()
      return peer ? Promise.resolve(peer) : new Promise((resolve) => wanted.push(resolve))
    },
    count: () => opened,
    close() {
      for (const client of sockets.clients) client.terminate()
      sockets.close()
      http.closeAllConnections()
      return new Promise((resolve) => http.close(() => resolve()))
    },
  }
  return server
}

function createPeer(socket: WebSocket): Peer {
  const decoder = new wire.FrameDecoder(wire.envelopeBytesMax)
  const arrived: wire.Envelope[] = []
  const waiting: ((envelope: wire.Envelope) => void)[] = []
  socket.on('message', (data: Buffer) => {
    decoder.push(new Uint8Array(data))
    for (let next = decoder.next(); next; next = decoder.next()) {
      const wait = waiting.shift()
      if (wait === undefined) arrived.push(next)
      else wait(next)
    }
  })
  const peer: Peer = {
    closed: new Promise((resolve) => socket.on('close', resolve)),
    next() {
      const envelope = arrived.shift()
      return envelope ? Promise.resolve(envelope) : new Promise((resolve) => waiting.push(resolve))
    },
    async nextOf(kind) {
      for (;;) {
        const envelope = await peer.next()
        if (envelope.kind === kind) return envelope
      }
    },
    send: (kind, body) => socket.send(wire.encodeFrame(kind, body)),
    sendRaw: (bytes) => socket.send(bytes),
    accept: (as) => socket.send(acceptance(as)),
    presence: ({ version = 2, more = false, room_id = 7, entries = [], event }) => {
      const body = wire.roomPresenceBody.encode({ version, more, room_id, entries, event })
      peer.send(kinds.ROOM_PRESENCE.first, body)
    },
    close: (code, reason = '') => socket.close(code, reason),
    cut: () => socket.terminate(),
  }
  return peer
}

/** The frames of an accepting handshake, in one message. */
function acceptance({
  result = { status: 'guest' },
  participant = 42,
  room,
  maxBytes = 65536,
  lastClose = null,
}: Acceptance = {}): Uint8Array {
  const info = {
    flags: 9,
    participant,
    room_id: room?.room_id ?? null,
    max_envelope_bytes: maxBytes,
    last_close: lastClose,
  }
  const frames = [
    wire.encodeFrame(kinds.AUTH_RESULT.first, wire.authResultBody.encode(result)),
    wire.encodeFrame(kinds.SESSION_INFO.first, wire.sessionInfoBody.encode(info)),
  ]
  if (room !== undefined) {
    const joined = { map: 'arena1', mode: 'ffa', ...room }
    frames.push(wire.encodeFrame(kinds.ROOM_JOINED.first, wire.roomJoinedBody.encode(joined)))
  }
  return Buffer.concat(frames)
}
