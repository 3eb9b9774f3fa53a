import {
  authResultBody,
  type Envelope,
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  kinds,
  sessionInfoBody,
} from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { heard, openBench, settle } from '../../testing/connected.ts'
import type { StateEvent } from '../connection-types.ts'
import type { Message } from '../sending/payload.ts'

type Behaviour = 'accepts' | 'rejects' | 'is silent' | 'fails' | 'refuses what it is given'
type FakeBehaviour = {
  is: Behaviour
  makesWritable?: boolean
  /** Takes no further write. */
  stalls?: boolean
}

/** What browsers have as WebTransport, with a server behind it that lives in this file. */
function fakeWebTransport(behaviour: FakeBehaviour) {
  const sessions: FakeSession[] = []
  class FakeSession {
    readonly url: string
    readonly options: object | undefined
    readonly ready: Promise<void>
    readonly closed: Promise<{ closeCode?: number; reason?: string }>
    readonly envelopes: Envelope[] = []
    readonly sentDatagrams: Uint8Array[] = []
    readonly datagrams
    readonly incomingUnidirectionalStreams: ReadableStream<ReadableStream<Uint8Array>>
    readonly decoder = new FrameDecoder(envelopeBytesMax)
    end!: (info: { closeCode?: number; reason?: string }) => void
    toClient!: ReadableStreamDefaultController<Uint8Array>
    datagramsToClient!: ReadableStreamDefaultController<Uint8Array>

    constructor(url: string, options?: object) {
      sessions.push(this)
      if (behaviour.is === 'refuses what it is given') throw new Error('no')
      this.url = url
      this.options = options
      this.ready = behaviour.is === 'fails' ? Promise.reject(new Error('no')) : Promise.resolve()
      this.closed = new Promise((resolve) => {
        this.end = resolve
      })
      const fromServer = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.toClient = controller
        },
      })
      this.incomingUnidirectionalStreams = new ReadableStream({
        start: (controller) => controller.enqueue(fromServer),
      })
      const writable = new WritableStream<Uint8Array>({
        write: (bytes) => void this.sentDatagrams.push(bytes),
      })
      this.datagrams = {
        maxDatagramSize: 1024,
        readable: new ReadableStream<Uint8Array>({
          start: (controller) => {
            this.datagramsToClient = controller
          },
        }),
        ...(behaviour.makesWritable ? { createWritable: () => writable } : { writable }),
      }
    }

    async createBidirectionalStream() {
      const write = (bytes: Uint8Array) => {
        this.take(bytes)
        return behaviour.stalls ? new Promise<void>(() => {}) : undefined
      }
      return { writable: new WritableStream<Uint8Array>({ write }) }
    }

    take(bytes: Uint8Array): void {
      this.decoder.push(bytes)
      for (let next = this.decoder.next(); next; next = this.decoder.next()) {
        this.envelopes.push(next)
        if (next.kind === kinds.AUTH.first) this.greet()
      }
    }

    greet(): void {
      if (behaviour.is === 'is silent') return
      const result =
        behaviour.is === 'rejects'
          ? ({ status: 'rejected', reason: 'authentication_failed' } as const)
          : ({ status: 'guest' } as const)
      const info = { flags: 9, participant: 42, room_id: null, max_envelope_bytes: 65536 }
      this.say(kinds.AUTH_RESULT.first, authResultBody.encode(result))
      if (behaviour.is === 'accepts') {
        this.say(kinds.SESSION_INFO.first, sessionInfoBody.encode(info))
      }
    }

    say(kind: number, body: Uint8Array): void {
      const frame = encodeFrame(kind, body)
      // Streams have no messages: a frame may come in pieces.
      this.toClient.enqueue(frame.slice(0, 3))
      this.toClient.enqueue(frame.slice(3))
    }

    closedWith: { closeCode?: number; reason?: string } | undefined

    close(info: { closeCode?: number; reason?: string } = {}): void {
      this.closedWith = info
      this.end(info)
    }
  }
  return { sessions, WebTransport: FakeSession }
}

const offer = { url: 'https://play.example.com/v1/realtime' }

async function openWith(is: Behaviour) {
  const behaviour: FakeBehaviour = { is }
  const fake = fakeWebTransport(behaviour)
  return { ...fake, behaviour, ...(await openBench({ WebTransport: fake.WebTransport })) }
}

it.each([
  ['has', false],
  ['makes', true],
])(
  '[R-SDK-6] WebTransport of a browser that %s the stream of datagrams carries frames and datagrams',
  async (_does, makesWritable) => {
    const { player, sessions, server, behaviour } = await openWith('accepts')
    behaviour.makesWritable = makesWritable
    const connection = await player.connect({ webTransport: offer })
    expect(connection.transport).toBe('webtransport')
    expect(server.count()).toBe(0)
    const [session] = sessions
    connection.send(100, 'reliable')
    connection.send(101, 'datagram', { unreliable: true })
    connection.send(102, new Uint8Array(2000), { unreliable: true })
    await settle()
    expect(session?.envelopes.map(({ kind }) => kind)).toEqual([5, 44, 36, 100, 102])
    expect(session?.sentDatagrams.map((bytes) => bytes[1])).toEqual([101])
    const messages = heard<Message>((call) => connection.on('message', call))
    session?.datagramsToClient.enqueue(new Uint8Array([0, 100, 1]))
    session?.datagramsToClient.enqueue(new Uint8Array([0]))
    session?.say(103, new Uint8Array([2]))
    await vi.waitFor(() => expect(messages.map(({ kind }) => kind)).toEqual([100, 103]))
    const states = heard<StateEvent>((call) => connection.on('state', call))
    session?.close({ closeCode: 4004 })
    await vi.waitFor(() => expect(connection.state).toBe('closed'))
    expect(states).toEqual([{ state: 'closed', reason: 'session_revoked', closeCode: 4004 }])
  },
)

it('[R-SDK-6] what /status offers is taken, with its certificate, and asked for once', async () => {
  const { player, sessions, server } = await openWith('accepts')
  let asked = 0
  const certificate_sha256 = Buffer.alloc(32, 7).toString('base64')
  server.onRequest = (request, response) => {
    asked += Number(request.url === '/status')
    const webtransport = { available: true, bind: '127.0.0.1:7351', certificate_sha256 }
    response.writeHead(200).end(JSON.stringify({ transports: { webtransport } }))
  }
  await (await player.connect()).close()
  await (await player.connect()).close()
  expect(asked).toBe(1)
  expect(sessions[0]?.url).toBe('https://127.0.0.1:7351/v1/realtime')
  expect(sessions[0]?.options).toEqual({
    serverCertificateHashes: [{ algorithm: 'sha-256', value: new Uint8Array(32).fill(7) }],
  })
})

it.each([
  ['[::1]:7351', 'https://[::1]:7351/v1/realtime'],
  ['localhost:7351', 'https://localhost:7351/v1/realtime'],
  ['0.0.0.0:7351', 'https://127.0.0.1:7351/v1/realtime'],
  ['192.0.2.7:7351', 'https://127.0.0.1:7351/v1/realtime'],
])('[R-SDK-6] a node of this machine that is bound to %s is at %s', async (bind, url) => {
  const { player, sessions, server } = await openWith('accepts')
  server.onRequest = (_request, response) => {
    const webtransport = { available: true, bind, certificate_sha256: null }
    response.writeHead(200).end(JSON.stringify({ transports: { webtransport } }))
  }
  await (await player.connect()).close()
  expect(sessions[0]?.url).toBe(url)
})

it.each(['fails', 'is silent', 'refuses what it is given'] as const)(
  '[R-SDK-6] when WebTransport %s the attempt goes on over WebSocket, for 10 minutes',
  async (is) => {
    const { player, sessions, host, server, behaviour } = await openWith(is)
    const connecting = player.connect({ webTransport: offer })
    await vi.waitFor(() => expect(sessions).toHaveLength(1))
    await settle()
    if (is === 'is silent') host.advance(3_000)
    await server.connection()
    const connection = await connecting
    expect(connection.transport).toBe('websocket')
    await connection.close()
    behaviour.is = 'accepts'
    host.advance(599_999)
    await (await player.connect({ webTransport: offer })).close()
    expect(sessions).toHaveLength(1)
    host.advance(1)
    const again = await player.connect({ webTransport: offer })
    expect(again.transport).toBe('webtransport')
  },
)

it('[R-SDK-6] a rejecting AUTH_RESULT is final', async () => {
  const { player, server } = await openWith('rejects')
  await expect(player.connect({ webTransport: offer })).rejects.toMatchObject({ closeCode: 4001 })
  expect(server.count()).toBe(0)
})

it('[R-SDK-6] without an offer it is WebSocket, and webtransport alone does not fall back', async () => {
  const { player, sessions, host, server, behaviour } = await openWith('fails')
  // The node does not answer: two seconds, and then WebSocket.
  server.onRequest = () => {}
  const connecting = player.connect()
  await settle()
  host.advance(2_000)
  const connection = await connecting
  expect([connection.transport, sessions.length]).toEqual(['websocket', 0])
  await connection.close()
  const failure = { code: 'network_error' }
  const alone = { transport: 'webtransport', webTransport: offer } as const
  for (const is of ['fails', 'refuses what it is given'] as const) {
    behaviour.is = is
    await expect(player.connect(alone)).rejects.toMatchObject(failure)
  }
  await expect(player.connect({ transport: 'webtransport' })).rejects.toMatchObject(failure)
  const none = await openBench()
  await expect(none.player.connect(alone)).rejects.toMatchObject(failure)
})

it('[R-SDK-6] a write that is not taken for 5 s is a failure: it comes back over WebSocket', async () => {
  const { player, sessions, host, server, behaviour } = await openWith('accepts')
  const connection = await player.connect({ webTransport: offer })
  const states = heard<StateEvent>((call) => connection.on('state', call))
  connection.send(100, 'taken')
  // The last question for the server's clock leaves after 1.2 s.
  for (const stepMs of [700, 700, 6_000]) {
    await settle()
    host.advance(stepMs)
  }
  expect(connection.state).toBe('open')
  behaviour.stalls = true
  connection.send(100, 'the last one that leaves')
  connection.send(100, 'waits')
  await settle()
  host.advance(4_999)
  expect(connection.state).toBe('open')
  host.advance(1)
  expect(connection.state).toBe('reconnecting')
  expect(sessions[0]?.closedWith?.closeCode).toBe(1001)
  host.advance(500)
  await server.connection()
  await vi.waitFor(() => expect(connection.state).toBe('open'))
  expect([connection.transport, sessions.length]).toEqual(['websocket', 1])
  expect(states.map(({ state }) => state)).toEqual(['reconnecting', 'open'])
})

it('[R-SDK-6] the address that the node gives is taken as it is', async () => {
  const { player, sessions, server } = await openWith('accepts')
  const url = 'https://udp.example.com:443/v1/realtime'
  server.onRequest = (_request, response) => {
    const webtransport = { available: true, bind: '10.0.0.7:7351', url }
    response.writeHead(200).end(JSON.stringify({ transports: { webtransport } }))
  }
  await (await player.connect()).close()
  expect(sessions[0]?.url).toBe(url)
  expect(sessions[0]?.options).toBeUndefined()
})
