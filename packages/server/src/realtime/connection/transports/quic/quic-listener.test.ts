import { createSocket } from 'node:dgram'
import { roomEnterBody } from '@guildhall/contract'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { createFakeClock } from '../../../../kernel/clock.fake.ts'
import { textOf, waiting } from '../../../realtime.fixture.ts'
import { type Engine, type EngineCounters, engineCounterNames } from './engine/engine.ts'
import { startEngineThread } from './engine/engine-thread.ts'
import { openInitial } from './engine/initial-packet.fixture.ts'
import { readInitial, sealInitial } from './engine/initial-packet.ts'
import { type QuicFixture, type QuicFixtureOptions, startQuic } from './quic.fixture.ts'
import { connectedSocket, QuicClient } from './quic-client.fixture.ts'
import { readVarint } from './varint.ts'

let node: QuicFixture
afterEach(() => node?.close())

test.each([
  ['of another protocol', { alpn: ['something/1'] }],
  ['that names no protocol', { change: withoutAlpn }],
])('[R-QU-7] a peer %s gets 0x178, and nobody else notices', async (_whose, options) => {
  node = await startQuic()
  const before = await node.join('t-ann')
  const foreign = await QuicClient.begin(node.port, options)
  await expect.poll(() => foreign.initials.map(closeCode), waiting).toContain(0x178)
  foreign.vanish()
  before.send(3, rpc)
  expect((await before.next()).kind).toBe(4)
  expect((await node.join('t-bob')).established).toBe(true)
  expect(node.incidents).toEqual([])
})

test('[R-QU-7] a trap of the engine costs its connections and a restart, no more', async () => {
  const startEngine: typeof startEngineThread = (options, events) =>
    startEngineThread({ ...options, unmended: true }, events)
  node = await startQuic({ rooms: { reconnect_grace_ms: 10_000 }, quic: { startEngine } })
  await node.join('t-ann')
  const beside = await node.realtime.join('t-bob')
  const foreign = await QuicClient.begin(node.port, { alpn: ['something/1'] })
  await expect.poll(() => node.incidents.length, waiting).toBe(1)
  foreign.vanish()
  expect(node.realtime.gateway.metrics().connections_active).toBe(1)
  expect(node.realtime.transports.states().quic?.available).toBe(false)
  await node.realtime.clock.advance(1000)
  const isAvailable = () => node.realtime.transports.states().quic?.available
  await expect.poll(isAvailable, waiting).toBe(true)
  await node.join('t-ann')
  beside.send(3, rpc)
  expect((await beside.next()).kind).toBe(4)
  expect(node.realtime.transports.metrics().quic_engine_restarts_total).toBe(1)
})

test('[R-QU-7] [R-RET-1] a trap under load keeps seats, and nobody beside it notices', async () => {
  const startEngine: typeof startEngineThread = (options, events) =>
    startEngineThread({ ...options, unmended: true }, events)
  node = await startQuic({ rooms: { reconnect_grace_ms: 10_000 }, quic: { startEngine } })
  const { gateway, script, clock } = node.realtime
  script.kinds.add(100)
  const beside = await node.realtime.join('t-bob')
  // With the one that fails they are as many as one server has: its memory has no room for two.
  const clients = await Promise.all(['t-ann', 't-cid', ''].map((token) => node.join(token)))
  for (const client of clients) client.send(48, enterAny)
  await expect.poll(() => gateway.metrics().rooms_active, waiting).toBe(1)
  let sent = 0
  const load = setInterval(() => {
    for (const client of clients) {
      client.send(100, 'x'.repeat(1000))
      client.datagram(Uint8Array.from([0, 100, 0x78]))
    }
    beside.send(100, `beside ${sent}`)
    sent += 1
  }, 2)
  onTestFinished(() => clearInterval(load))
  await expect.poll(() => sent, waiting).toBeGreaterThan(20)
  const foreign = await QuicClient.begin(node.port, { alpn: ['something/1'] })
  await expect.poll(() => node.incidents.length, waiting).toBe(1)
  foreign.vanish()
  for (const client of clients) client.vanish()
  clients.length = 0
  await expect.poll(() => gateway.metrics().dropped_seats_active, waiting).toBe(2)
  await clock.advance(1000)
  const isAvailable = () => node.realtime.transports.states().quic?.available
  await expect.poll(isAvailable, waiting).toBe(true)
  await Promise.all(['t-ann', 't-cid'].map((token) => node.join(token)))
  expect(gateway.metrics().dropped_seats_active).toBe(0)
  clearInterval(load)
  const texts = () =>
    script.calls.flatMap((call) => {
      const text = call.hook === 'message' ? textOf(call.body) : ''
      return text.startsWith('beside') ? [text] : []
    })
  await expect.poll(() => texts().length, waiting).toBe(sent)
  expect(texts()).toEqual(Array.from({ length: sent }, (_, at) => `beside ${at}`))
})

/** ROOM_ENTER of a room that everybody shares. */
const enterAny = roomEnterBody.encode({ mode: 'join_or_create', name: 'a', options: '' })

test('[R-QU-7] an engine that traps again and again stays off', async () => {
  let fail: ((error: Error) => void) | undefined
  const startEngine: typeof startEngineThread = async (options, events) => {
    fail = events.failed
    return { ...idleEngine, address: options.address }
  }
  node = await startQuic({ quic: { startEngine } })
  const isAvailable = () => node.realtime.transports.states().quic?.available
  for (let count = 0; count < 6; count += 1) {
    await expect.poll(isAvailable, waiting).toBe(true)
    fail?.(new Error('on purpose'))
    await node.realtime.clock.advance(1000)
  }
  expect(isAvailable()).toBe(false)
  await node.realtime.clock.advance(10_000)
  expect(isAvailable()).toBe(false)
  expect(node.incidents).toHaveLength(6)
})

test('[R-TR-1] an address in use refuses the start of one that was asked for', async () => {
  const taken = createSocket('udp4')
  await new Promise<void>((resolve) => taken.bind(0, '127.0.0.1', resolve))
  const bind = { host: '127.0.0.1', port: taken.address().port }
  await expect(startQuic({ quic: { bind } })).rejects.toMatchObject({
    message: 'transport.quic.bind cannot be used',
    cause: { code: 'EADDRINUSE' },
  })
  node = await startQuic({ quic: { bind, isExplicit: false } })
  expect(node.realtime.transports.states().quic).toEqual({
    enabled: true,
    available: false,
    bind: `127.0.0.1:${bind.port}`,
  })
  await node.realtime.clock.advance(200)
  const warned = () => node.realtime.log.lines.filter(({ level }) => level === 'warn')
  await expect.poll(() => warned().length, waiting).toBe(1)
  expect(warned()[0]?.message).toBe('QUIC and WebTransport are off')
  taken.close()
})

test('[R-TR-1] an address may be a name', async () => {
  node = await startQuic({ quic: { bind: { host: 'localhost', port: 0 } } })
  expect(node.realtime.transports.addresses().quic).toBe(`127.0.0.1:${node.port}`)
  expect((await node.join('t-ann')).established).toBe(true)
})

test('[R-TR-3] by default alone it serves once the node is ready', async () => {
  node = await startQuic({ quic: { isExplicit: false } })
  const state = () => node.realtime.transports.states().quic
  expect(state()?.available).toBe(false)
  await node.realtime.clock.advance(200)
  await expect.poll(() => state()?.available, waiting).toBe(true)
})

test('[R-TLS-2] the development certificate is made anew on day 12, and connections stay', async () => {
  const clock = createFakeClock()
  node = await startQuic({ quic: { clock } })
  const hash = () => node.realtime.transports.states().webtransport?.certificate_sha256
  const first = hash()
  expect(first).toMatch(/^[\w+/]{43}=$/)
  const before = await node.join()
  await clock.advance(11.9 * day)
  expect(hash()).toBe(first)
  await clock.advance(0.2 * day)
  expect(hash()).not.toBe(first)
  before.send(3, rpc)
  expect((await before.next()).kind).toBe(4)
  expect((await node.join()).established).toBe(true)
})

test.each<[string, QuicFixtureOptions]>([
  ['R-LIM-1', { limits: { max_connections: 1 } }],
  ['R-QU-12', { quicConnectionsMax: 1 }],
])('[%s] a peer beyond the limit is refused before its handshake', async (_rule, options) => {
  node = await startQuic(options)
  const ann = await node.join('t-ann')
  const refused = await QuicClient.begin(node.port)
  await expect.poll(() => refused.initials.map(closeCode), waiting).toEqual([2])
  expect(refused.established).toBe(false)
  await expect.poll(() => refused.isOver, waiting).toBe(true)
  refused.vanish()
  expect(node.realtime.transports.metrics().quic_connections_refused_total).toBe(1)
  expect(node.realtime.gateway.metrics().connections_active).toBe(1)
  ann.close()
  await expect.poll(active, waiting).toBe(0)
  expect((await node.join('t-bob')).established).toBe(true)
})

test('[R-LIM-2] a peer counts from the beginning of its handshake to its end', async () => {
  node = await startQuic({ limits: { max_pending_handshakes: 1 } })
  // It asks, and asks again with a token, and never answers what the node says.
  let sent = 0
  const change = (packet: Uint8Array) => {
    sent += 1
    return sent <= 2 ? packet : undefined
  }
  const silent = await QuicClient.begin(node.port, { change })
  await expect.poll(active, waiting).toBe(1)
  const refused = await QuicClient.begin(node.port)
  await expect.poll(() => refused.initials.map(closeCode), waiting).toEqual([2])
  expect(node.realtime.gateway.metrics().connections_refused_total).toBe(1)
  silent.vanish()
  refused.vanish()
  await node.realtime.clock.advance(8000)
  await expect.poll(active, waiting).toBe(0)
  expect((await node.join('t-bob')).established).toBe(true)
})

test('[R-LIM-1] connections of one port are apart, and each has its own end', async () => {
  node = await startQuic()
  const socket = await connectedSocket(node.port)
  const first = await node.connect({ socket })
  const second = await node.connect({ socket })
  first.send(5, 't-ann')
  expect((await first.next()).kind).toBe(6)
  second.send(5, 't-bob')
  expect((await second.next()).kind).toBe(6)
  first.close()
  await expect.poll(active, waiting).toBe(1)
  second.send(3, rpc)
  expect((await second.next()).kind).toBe(4)
  for (const client of [first, second]) client.vanish()
  socket.close()
})

function active(): number {
  return node.realtime.gateway.metrics().connections_active
}

/** The code of a CONNECTION_CLOSE of the transport, which has two bytes above 63. */
function closeCode(frames: Uint8Array): number | undefined {
  return frames[0] === 0x1c ? readVarint(frames, 1)?.value : undefined
}

/** The same ClientHello with another extension in place of ALPN. */
function withoutAlpn(packet: Uint8Array): Uint8Array {
  const initial = readInitial(packet)
  if (initial === undefined) return packet
  const { destination, source, token } = initial
  const side = { id: destination, from: 'client' } as const
  const frames = Buffer.from(openInitial(initial, side) ?? [])
  const at = frames.indexOf(Buffer.from([0, 16, 0, 14, 0, 12, 11, ...Buffer.from('guildhall/0')]))
  if (at < 0) return packet
  frames.set([0x7a, 0x7a], at)
  const padding = Buffer.alloc(Math.max(0, 1150 - frames.length - token.length))
  return sealInitial({ destination, source, token }, Buffer.concat([frames, padding]), side)
}

const nothing = () => undefined
/** An engine to which nobody comes. */
const idleEngine: Omit<Engine, 'address'> = {
  send: nothing,
  datagram: nothing,
  pause: nothing,
  resume: nothing,
  farewell: nothing,
  close: nothing,
  destroy: nothing,
  setCertificate: nothing,
  counters: () => Object.fromEntries(engineCounterNames.map((name) => [name, 0])) as EngineCounters,
  stop: async () => undefined,
}

const day = 86_400_000
/** An RPC of a method that is not there: request id, name, nothing. */
const rpc = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78])
