import type { Socket } from 'node:dgram'
import { EventEmitter } from 'node:events'
import type { Http3WasmCore } from '@currentspace/http3/wasm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSystemClock } from '../../../../../kernel/clock.ts'
import { createIds } from '../../../../../kernel/ids.ts'
import { makeDevelopmentCertificate } from '../certificate/development-certificate.ts'
import { QuicClient } from '../quic-client.fixture.ts'
import { CoreServer, eventTypes, loadCore } from './core.ts'
import { mendEngine, readEngineFile } from './core-file.ts'
import { readInitial, sealInitial } from './initial-packet.ts'

const clock = createSystemClock()
const certificate = makeDevelopmentCertificate(
  clock,
  createIds({ clock, nodeId: 'node-1', bootId: 'bt1-0' }),
)
const connectionsOfOne = 4
const burst = new Uint8Array(20_000).fill(0x78)
const KiB = 1024

test('[R-QU-7] a burst to all of a server takes little memory, and the server keeps little', async () => {
  const core = loadCore(mendEngine(await readEngineFile()), clock)
  const size = () => core.exports.memory.buffer.byteLength
  const servers = []
  for (let made = 0; made < 4; made += 1) servers.push(await connect(core))
  const before = size()
  const sizes = servers.map(({ server, connections, exchange }) => {
    for (const connection of connections) server.send(connection, 7, burst, false)
    exchange()
    return size()
  })
  const [first = 0, ...others] = sizes
  // What is on its way is freed once it has arrived; what more a server keeps is its own.
  expect(first - before).toBeLessThan(450 * KiB)
  expect((others.at(-1) ?? 0) - first).toBeLessThan(others.length * 100 * KiB)
  expect(Math.max(...servers.map(({ longest }) => longest()))).toBeLessThan(2048)
})

test('[R-QU-7] behind the answer to a first packet leaves what connections have to send', async () => {
  const core = loadCore(mendEngine(await readEngineFile()), clock)
  const { server, connections } = await connect(core)
  const [connection = 0] = connections
  const some = burst.subarray(0, 10_000)
  server.send(connection, 7, some, false)
  const newcomer = await QuicClient.begin(7351, { socket: socketTo(server, connectionsOfOne + 1) })
  onTestFinished(() => newcomer.vanish())
  const sent = new Map<string, number>()
  server.flush((packet, to) => sent.set(to, (sent.get(to) ?? 0) + packet.length))
  expect([...sent.keys()]).toEqual([addressOf(connectionsOfOne + 1), addressOf(1)])
  expect(sent.get(addressOf(1))).toBeGreaterThan(some.length)
  server.flush(() => expect.unreachable())
})

test('[R-QU-7] what a burst of events took is given back, and the next one comes whole', async () => {
  const core = loadCore(mendEngine(await readEngineFile()), clock)
  const { clients, exchange, bytesIn } = await connect(core)
  const free = vi.spyOn(core, 'free')
  for (let count = 1; count <= 2; count += 1) {
    for (const client of clients) client.write(0, burst)
    exchange()
    expect(bytesIn()).toBe(count * clients.length * burst.length)
  }
  const given = free.mock.calls.filter(([, bytes]) => bytes > 32 * KiB)
  expect(given.length).toBeGreaterThanOrEqual(2)
})

test('[R-QU-7, R-BP-1] what a peer has not acknowledged is that of all its streams', async () => {
  const core = loadCore(mendEngine(await readEngineFile()), clock)
  const { server, connections, exchange } = await connect(core)
  const [connection = 0] = connections
  server.send(connection, 7, burst.subarray(0, 3000), false)
  server.send(connection, 11, burst.subarray(0, 2000), false)
  const unacknowledged = () => server.memoryOf(connection).unacknowledgedBytes()
  expect(unacknowledged()).toBe(5000)
  exchange()
  expect(unacknowledged()).toBe(0)
})

test('[R-QU-7] bytes of a handshake that wait for others are held', async () => {
  const core = loadCore(mendEngine(await readEngineFile()), clock)
  const server = serverOf(core)
  // CRYPTO of 1,024 bytes that begins at 2,048, where nothing has come before.
  const frames = Buffer.alloc(1130)
  frames.set([6, 0x48, 0, 0x44, 0])
  const change = (packet: Uint8Array) => {
    const initial = readInitial(packet)
    if (initial === undefined || initial.token.length === 0) return packet
    return sealInitial(initial, frames, { id: initial.destination, from: 'client' })
  }
  const socket = socketTo(server, 1)
  const client = await QuicClient.begin(7351, { socket, change })
  onTestFinished(() => client.vanish())
  server.flush((packet) => socket.emit('message', packet))
  const held: number[] = []
  server.drainEvents(({ eventType, connHandle }) => {
    if (eventType === eventTypes.opened) held.push(server.memoryOf(connHandle).heldBytes())
  })
  expect(held).toEqual([expect.any(Number)])
  expect(held[0]).toBeGreaterThan(3072)
})

/** A server with its connections, whose packets go from one to the other at once. */
async function connect(core: Http3WasmCore) {
  const server = serverOf(core)
  const sockets = new Map<string, EventEmitter>()
  const connections: number[] = []
  const clients: QuicClient[] = []
  let longest = 0
  let bytesIn = 0
  const exchange = () => {
    for (;;) {
      const packets: [packet: Uint8Array, address: string][] = []
      server.drainEvents((event) => {
        if (event.eventType === eventTypes.established) connections.push(event.connHandle)
        if (event.streamId === 0) bytesIn += server.bytesOf(event).length
      })
      server.flush((packet, address) => packets.push([packet, address]))
      if (packets.length === 0) return
      for (const [packet, address] of packets) {
        longest = Math.max(longest, packet.length)
        sockets.get(address)?.emit('message', packet)
      }
    }
  }
  for (let port = 1; port <= connectionsOfOne; port += 1) {
    const socket = socketTo(server, port)
    sockets.set(addressOf(port), socket)
    const client = await QuicClient.begin(7351, { socket })
    onTestFinished(() => client.vanish())
    clients.push(client)
    exchange()
  }
  expect(connections).toHaveLength(connectionsOfOne)
  return { server, connections, clients, exchange, longest: () => longest, bytesIn: () => bytesIn }
}

function serverOf(core: Http3WasmCore): CoreServer {
  return new CoreServer(core, {
    localAddress: '127.0.0.1:7351',
    certificate,
    retryKey: '5a'.repeat(32),
    idleTimeoutMs: 30_000,
    maxConnections: connectionsOfOne,
  })
}

const addressOf = (port: number) => `127.0.0.1:${port}`

/** What a client sends on it the server has at once. */
function socketTo(server: CoreServer, port: number): Socket {
  const socket = Object.assign(new EventEmitter(), {
    address: () => ({ port }),
    send: (packet: Uint8Array) => server.receive(packet, addressOf(port)),
  })
  return socket as unknown as Socket
}
