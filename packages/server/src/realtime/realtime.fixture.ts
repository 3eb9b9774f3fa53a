import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect as connectTcp, type Socket } from 'node:net'
import { type Envelope, encodeFrame, FrameDecoder } from '@guildhall/contract'
import { vi } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { createFakeClock, type FakeClock } from '../kernel/clock.fake.ts'
import { createIds } from '../kernel/ids.ts'
import { createRecordedLog, type RecordedLog } from '../kernel/log/log.fake.ts'
import { type MatchRecorder, noMatchRecords } from '../kernel/play/match-recorder.ts'
import type { TransportConfig, TransportLimits } from './config.ts'
import type { Acceptor, Transport } from './connection/transports/transport.ts'
import { joinTransports, type Transports } from './connection/transports/transports.ts'
import { createWebSocketTransport } from './connection/transports/websocket.ts'
import type { Gateway, GatewayDeps } from './gateway.ts'
import { createPlaced } from './placement.fixture.ts'
import type { MatchmakerConfig } from './play/matchmaker/config.ts'
import type { PartyConfig } from './play/parties/config.ts'
import { noPeople, type People } from './play/parties/people.port.ts'
import type { RoomsConfig } from './play/rooms/config.ts'
import type { LiveSessions, Player } from './ports.ts'
import { createRecordingScript, type RecordingScript } from './recording-script.fixture.ts'
import type { ClusterDeps } from './relay/relay-deps.ts'
import { upgradeRequest } from './websocket-bytes.fixture.ts'

/** A gateway behind a real listener, with a script that records and a clock that stands still. */
export type RealtimeFixture = {
  port: number
  gateway: Gateway
  clock: FakeClock
  script: RecordingScript
  transports: Transports
  log: RecordedLog
  /** What the tokens are worth; a test may replace the answer of the backend. */
  backend: Backend
  connect(options?: ClientOptions & { protocols?: string[] }): Promise<TestClient>
  /** A client that has sent AUTH with the token and was accepted; no token is a guest. */
  join(token?: string): Promise<TestClient>
  connectRaw(request?: string): Promise<RawClient>
  close(): Promise<void>
}

export type Backend = {
  players: Map<string, Player>
  live: Set<string>
  /** Makes one more account with a session. */
  add(name: string): void
  verify(token: string): Promise<Player | undefined>
  liveSessions: LiveSessions
}

export type FixtureOptions = {
  limits?: Partial<TransportLimits>
  auth?: Partial<TransportConfig['auth']>
  websocket?: Partial<TransportConfig['websocket']>
  sourceOf?(request: IncomingMessage): string
  nodeSlot?: number
  /** One that several nodes share. */
  clock?: FakeClock
  backend?: Backend
  cluster?: ClusterDeps
  rooms?: Partial<RoomsConfig>
  serverTimeOffer?: 'on_request' | 'always'
  matchmaker?: Partial<MatchmakerConfig>
  party?: Partial<PartyConfig>
  people?: People
  records?: MatchRecorder
  mayMakeRooms?(): boolean
  webtransport?: boolean
  /** How many connections the engine of QUIC may have. */
  quicConnectionsMax?: number
  /** More transports beside WebSocket. */
  transports?(parts: TransportParts): Transport[]
}

/** How the clients of scenarios reach the node, where it is not by WebSocket. */
export type ClientPlacement = {
  transports(parts: TransportParts): Transport[]
  open(transports: Transports): Promise<TestClient>
}

let placement: ClientPlacement | undefined

/** By which transport clients come from here on; WebSocket if not given. */
export function placeClients(where?: ClientPlacement): void {
  placement = where
}

/** What transports of tests are made of. */
export type TransportParts = {
  gateway: Acceptor
  config: TransportConfig
  clock: FakeClock
  log: RecordedLog
}

export async function startRealtime(options: FixtureOptions = {}): Promise<RealtimeFixture> {
  const clock = options.clock ?? createFakeClock()
  const script = createRecordingScript()
  const log = createRecordedLog()
  const backend = options.backend ?? createBackend(clock)
  const config = transportConfig(options)
  const deps: Omit<GatewayDeps, 'online'> = {
    config,
    clock,
    log,
    script,
    verifyPlayer: (token) => backend.verify(token),
    liveSessions: (ids) => backend.liveSessions(ids),
    ...gatewaySections(options),
    people: options.people ?? noPeople,
    serverTimeOffer: options.serverTimeOffer ?? 'on_request',
    ids: createIds({ clock, nodeId: 'node-1', bootId: 'bt1-0' }),
    records: options.records ?? noMatchRecords,
    mayMakeRooms: () => options.mayMakeRooms?.() ?? true,
    nodeSlot: () => options.cluster?.membership.slot ?? options.nodeSlot ?? 0,
    cluster: options.cluster,
  }
  const { gateway, idle } = createPlaced(deps)
  const websocket = createWebSocketTransport({
    config,
    gateway,
    sourceOf: options.sourceOf ?? (() => '127.0.0.1'),
    newRequestId: () => '0123456789abcdef0123456789abcdef',
  })
  const moreTransports = options.transports ?? placement?.transports
  const others = moreTransports?.({ gateway, config, clock, log }) ?? []
  const transports = joinTransports([websocket, ...others])
  const server = createServer()
  server.on('upgrade', (...upgrade) => transports.acceptUpgrade?.(...upgrade))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await transports.start(`127.0.0.1:${port}`)
  const clients: { end(): void }[] = []
  const keep = <Client extends { end(): void }>(client: Client): Client => {
    clients.push(client)
    return client
  }
  const connect: RealtimeFixture['connect'] = async (clientOptions) =>
    keep(await (placement?.open(transports) ?? openClient(port, clientOptions)))
  return {
    port,
    gateway,
    clock,
    script,
    transports,
    log,
    backend,
    connect,
    async join(token = '') {
      const client = await connect()
      client.send(5, token)
      await client.next()
      await idle()
      return client
    },
    connectRaw: async (request = upgradeRequest()) => keep(await openRaw(port, request)),
    async close() {
      for (const client of clients) client.end()
      let isClosed = false
      const closing = gateway.close().then(() => {
        isClosed = true
      })
      while (!isClosed) {
        await clock.advance(20_000)
        await idle()
      }
      await closing
      await transports.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * The sections of the configuration beside `transport`, with their defaults; but a lost connection
 * keeps no seat unless a test wants it to.
 */
export function gatewaySections(options: FixtureOptions) {
  return {
    rooms: { max_rooms: 10_000, max_members: 1000, reconnect_grace_ms: 0, ...options.rooms },
    matchmaker: {
      max_tickets: 50_000,
      interval_ms: 250,
      default_ttl_ms: 60_000,
      max_ttl_ms: 3_600_000,
      handoff_ttl_ms: 30_000,
      widen_after_ms: 5000,
      ...options.matchmaker,
    },
    party: { max_members: 8, invite_ttl_ms: 300_000, offline_ttl_ms: 60_000, ...options.party },
  }
}

export function transportConfig(options: FixtureOptions): TransportConfig {
  return {
    websocket: {
      enabled: true,
      heartbeat_interval_ms: 15_000,
      heartbeat_timeout_ms: 45_000,
      max_message_bytes: 1_048_576,
      allowed_origins: [],
      ...options.websocket,
    },
    quic: {
      enabled: true,
      idle_timeout_ms: 30_000,
      keep_alive_ms: 10_000,
      max_connections: options.quicConnectionsMax ?? 8000,
    },
    webtransport: { enabled: options.webtransport ?? true },
    auth: {
      require_auth: false,
      allow_guests: true,
      handshake_timeout_ms: 5000,
      ...options.auth,
    },
    limits: {
      max_envelope_bytes: 65_536,
      inbound_envelopes_per_sec: 1000,
      inbound_envelope_burst: 2000,
      inbound_bytes_per_sec: 1_048_576,
      inbound_bytes_burst: 2_097_152,
      max_connections: 20_000,
      max_connections_per_address: 256,
      max_pending_handshakes: 1000,
      rpc_in_flight: 32,
      reliable_queue_capacity: 8192,
      reliable_queue_bytes: 4_194_304,
      unreliable_queue_capacity: 256,
      unreliable_queue_bytes: 262_144,
      max_queued_bytes_total: 536_870_912,
      ...options.limits,
    },
  }
}

/** Tokens are `t-NAME`; the account is `u-NAME` and its session `s-NAME`. */
export function createBackend(clock: FakeClock): Backend {
  const players = new Map<string, Player>()
  const live = new Set<string>()
  const add = (name: string) => {
    live.add(`s-${name}`)
    players.set(`t-${name}`, {
      session_id: `s-${name}`,
      user_id: `u-${name}`,
      username: name,
      refresh_expires_at_unix_ms: clock.nowUnixMs() + 3_600_000,
    })
  }
  for (const name of ['ann', 'bob', 'cid']) add(name)
  return {
    add,
    players,
    live,
    verify: async (token) => players.get(token),
    liveSessions: async (ids) => new Set(ids.filter((id) => live.has(id))),
  }
}

export type TestClient = {
  /** Other transports have none. */
  readonly socket: WebSocket
  isOpen(): boolean
  send(kind: number, body?: string | Uint8Array): void
  sendBytes(bytes: Uint8Array): void
  /** The next envelope that has not been looked at. */
  next(): Promise<Envelope>
  /** What came and has not been looked at. */
  received: Envelope[]
  /** Sizes of the messages that came. */
  messageBytes: number[]
  closed: Promise<{ code: number; reason: string }>
  close(code?: number, reason?: string): void
  /** What comes stays where it is until `resume`. */
  pause(): void
  resume(): void
  end(): void
}

export async function openClient(
  port: number,
  { protocols = [], ...options }: ClientOptions & { protocols?: string[] } = {},
): Promise<TestClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime`, protocols, options)
  const received: Envelope[] = []
  const messageBytes: number[] = []
  const decoder = new FrameDecoder(16 * 1024 * 1024)
  socket.on('message', (data: Buffer) => {
    messageBytes.push(data.length)
    decoder.push(Uint8Array.from(data))
    for (let next = decoder.next(); next; next = decoder.next()) received.push(next)
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  return {
    socket,
    received,
    messageBytes,
    closed,
    send: (kind, body = '') => socket.send(encodeFrame(kind, bytesOf(body))),
    sendBytes: (bytes) => socket.send(bytes),
    async next() {
      await vi.waitFor(() => {
        if (received.length === 0) throw new Error('no envelope came')
      }, waiting)
      const envelope = received.shift()
      if (envelope === undefined) throw new Error('no envelope')
      return envelope
    },
    isOpen: () => socket.readyState === socket.OPEN,
    close: (code, reason) => socket.close(code, reason),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    end: () => socket.terminate(),
  }
}

/** The next envelope of a client, once positions that wait for others were sent. */
export async function nextPosition(
  { clock }: Pick<RealtimeFixture, 'clock'>,
  client: TestClient,
): Promise<Envelope> {
  await vi.waitFor(async () => {
    await clock.advance(2)
    if (client.received.length === 0) throw new Error('no position came')
  }, waiting)
  return client.next()
}

/** A TCP connection that speaks WebSocket by hand. */
export type RawClient = {
  socket: Socket
  /** Everything that came, the answer to the request included. */
  received(): Buffer
  /** Resolves with the text of what came once it contains `part`. */
  until(part: string): Promise<string>
  ended: Promise<void>
  end(): void
}

async function openRaw(port: number, request: string): Promise<RawClient> {
  const socket = connectTcp(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(request)
  const received = () => Buffer.concat(chunks)
  return {
    socket,
    received,
    ended,
    async until(part) {
      await vi.waitFor(() => {
        if (!received().toString('latin1').includes(part)) throw new Error('it has not come')
      }, waiting)
      return received().toString('latin1')
    },
    end: () => socket.destroy(),
  }
}

/** Looked at often; how long is waited says the set-up of the tests. */
export const waiting = { interval: 5 }

export function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? new TextEncoder().encode(text) : text
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
