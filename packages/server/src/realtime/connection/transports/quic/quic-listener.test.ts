import { createSocket } from 'node:dgram'
import { afterEach, expect, test } from 'vitest'
import { createFakeClock } from '../../../../kernel/clock.fake.ts'
import { waiting } from '../../../realtime.fixture.ts'
import { type Engine, type EngineCounters, engineCounterNames } from './engine/engine.ts'
import { startEngineThread } from './engine/engine-thread.ts'
import { type QuicFixture, type QuicFixtureOptions, startQuic } from './quic.fixture.ts'
import { QuicClient } from './quic-client.fixture.ts'

let node: QuicFixture
afterEach(() => node?.close())

test('[R-QU-7] a peer of another protocol is refused, and nobody else notices', async () => {
  node = await startQuic()
  const before = await node.join('t-ann')
  const foreign = await QuicClient.begin(node.port, { alpn: ['something/1'] })
  await expect.poll(() => foreign.end !== undefined || foreign.isOver, waiting).toBe(true)
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
  await expect(startQuic({ quic: { bind } })).rejects.toThrow('EADDRINUSE')
  node = await startQuic({ quic: { bind, isExplicit: false } })
  expect(node.realtime.transports.states().quic).toEqual({
    enabled: true,
    available: false,
    bind: `127.0.0.1:${bind.port}`,
  })
  await node.realtime.clock.advance(100)
  const warned = () => node.realtime.log.lines.filter(({ level }) => level === 'warn')
  await expect.poll(() => warned().length, waiting).toBe(1)
  expect(warned()[0]?.message).toBe('QUIC and WebTransport are off')
  taken.close()
})

test('[R-TR-3] by default alone it serves once the node is ready', async () => {
  node = await startQuic({ quic: { isExplicit: false } })
  const state = () => node.realtime.transports.states().quic
  expect(state()?.available).toBe(false)
  await node.realtime.clock.advance(100)
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

test('[R-LIM-1] a peer beyond the limit is refused before its handshake', async () => {
  const options: QuicFixtureOptions = { limits: { max_connections: 1 } }
  node = await startQuic(options)
  await node.join('t-ann')
  const refused = await QuicClient.begin(node.port)
  const count = () => node.realtime.gateway.metrics().connections_refused_total
  await expect.poll(count, waiting).toBe(1)
  refused.vanish()
  expect(node.realtime.gateway.metrics().connections_active).toBe(1)
})

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
