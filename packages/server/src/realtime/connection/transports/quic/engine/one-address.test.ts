import type { Socket } from 'node:dgram'
import { EventEmitter } from 'node:events'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createSystemClock } from '../../../../../kernel/clock.ts'
import { createIds } from '../../../../../kernel/ids.ts'
import { waiting } from '../../../../realtime.fixture.ts'
import { makeDevelopmentCertificate } from '../certificate/development-certificate.ts'
import { QuicClient } from '../quic-client.fixture.ts'
import { BatchWriter, readBatch } from './batch.ts'
import { CoreServer, eventTypes, loadCore } from './core.ts'
import { memoryBytesMax, mendEngine, readEngineFile } from './core-file.ts'
import { commands, reports } from './engine.ts'
import { EngineLoop } from './engine-loop.ts'
import { readInitial } from './initial-packet.ts'

/** More than a server has. */
const clientsMade = 6
const source = { host: '127.0.0.1', port: 40_000, address: '127.0.0.1:40000' }

afterEach(() => {
  vi.restoreAllMocks()
  sendTo.clear()
})

test('[R-LIM-1] a burst of one address over two servers begins each connection once', async () => {
  const taken = watchServers()
  const { loop, admit, asked } = await startLoop()
  const initials: Uint8Array[] = []
  let isAdmitted = false
  const socket = Object.assign(new EventEmitter(), {
    address: () => source,
    send(packet: Uint8Array) {
      const token = readInitial(packet)?.token
      if (!isAdmitted && token?.length) initials.push(Uint8Array.from(packet))
      else loop.received(packet, source)
    },
  })
  socket.setMaxListeners(2 * clientsMade)
  sendTo.add((packet) => socket.emit('message', packet))
  const clients: QuicClient[] = []
  for (let made = 0; made < clientsMade; made += 1) {
    clients.push(await QuicClient.begin(7351, { socket: socket as unknown as Socket }))
  }
  onTestFinished(() => {
    for (const client of clients) client.vanish()
  })
  await expect.poll(() => initials.length, waiting).toBe(clientsMade)
  for (const initial of initials) loop.received(initial, source)
  await expect.poll(() => asked.length, waiting).toBe(clientsMade)
  isAdmitted = true
  asked.forEach(admit)
  for (const initial of initials) loop.received(initial, source)
  await expect.poll(() => clients.every(({ established }) => established), waiting).toBe(true)
  expect(taken.opened).toBe(clientsMade)
  expect(taken.serversOf.size).toBe(clientsMade)
  for (const servers of taken.serversOf.values()) expect(servers.size).toBe(1)
  expect(new Set([...taken.serversOf.values()].flatMap((each) => [...each])).size).toBe(2)
})

test('[R-QU-10] a peer at the address of one that fell silent gets an id of its own', async () => {
  const { loop, admit, asked } = await startLoop()
  const open = async (port: number) => {
    const from = { host: '127.0.0.1', port, address: `127.0.0.1:${port}` }
    const socket = Object.assign(new EventEmitter(), {
      address: () => from,
      send: (packet: Uint8Array) => loop.received(packet, from),
    })
    const receive = (packet: Uint8Array) => socket.emit('message', packet)
    sendTo.add(receive)
    const client = await QuicClient.begin(7351, { socket: socket as unknown as Socket })
    await expect.poll(() => asked.splice(0).map(admit).length, waiting).toBe(1)
    await expect.poll(() => client.established, waiting).toBe(true)
    client.vanish()
    sendTo.delete(receive)
  }
  // They fill a server. The next one counts its ids anew.
  for (const port of [40_000, 40_001, 40_002, 40_003]) await open(port)
  await open(40_000)
})

test('[R-QU-7] packets of one turn take little memory, however many they are', async () => {
  const { loop, admit, asked, core } = await startLoop()
  let kept: Uint8Array[] | undefined
  const send = (packet: Uint8Array) => {
    if (kept === undefined) loop.received(packet, source)
    else kept.push(packet)
  }
  const socket = Object.assign(new EventEmitter(), { address: () => source, send })
  sendTo.add((packet) => socket.emit('message', packet))
  const client = await QuicClient.begin(7351, { socket: socket as unknown as Socket })
  onTestFinished(() => client.vanish())
  await expect.poll(() => asked.splice(0).map(admit).length, waiting).toBe(1)
  await expect.poll(() => client.established, waiting).toBe(true)
  kept = []
  for (let count = 0; count < 200; count += 1) client.write(0, Uint8Array.of(0))
  expect(kept.length).toBeGreaterThanOrEqual(200)
  const before = core.exports.memory.buffer.byteLength
  for (const packet of kept) loop.received(packet, source)
  expect(core.exports.memory.buffer.byteLength - before).toBeLessThan(10 * 1024 * 1024)
})

const sendTo = new Set<(packet: Uint8Array) => void>()

/** What servers are given, by the id it is for, and how many connections they begin. */
function watchServers() {
  const taken = { opened: 0, serversOf: new Map<string, Set<CoreServer>>() }
  const { receive, drainEvents } = CoreServer.prototype
  vi.spyOn(CoreServer.prototype, 'receive').mockImplementation(function (
    this: CoreServer,
    packet,
    address,
  ) {
    const isShort = ((packet[0] ?? 0) & 0x80) === 0
    const initial = readInitial(packet)
    if (isShort || initial?.token.length) {
      const id = Buffer.from(isShort ? packet.subarray(1, 21) : (initial?.destination ?? []))
      const servers = taken.serversOf.get(id.toString('hex')) ?? new Set()
      taken.serversOf.set(id.toString('hex'), servers.add(this))
    }
    receive.call(this, packet, address)
  })
  vi.spyOn(CoreServer.prototype, 'drainEvents').mockImplementation(function (
    this: CoreServer,
    take,
  ) {
    drainEvents.call(this, (event) => {
      taken.opened += Number(event.eventType === eventTypes.opened)
      take(event)
    })
  })
  return taken
}

/** A loop whose node admits when the test says so. */
async function startLoop() {
  const clock = createSystemClock()
  const ids = createIds({ clock, nodeId: 'node-1', bootId: 'bt1-0' })
  const asked: number[] = []
  const core = loadCore(mendEngine(await readEngineFile()), clock)
  const loop = new EngineLoop({
    core,
    memoryBytesMax,
    clock,
    options: {
      localAddress: '127.0.0.1:7351',
      certificate: makeDevelopmentCertificate(clock, ids),
      retryKey: '5a'.repeat(32),
      idleTimeoutMs: 30_000,
      keepAliveMs: 10_000,
      maxConnections: 100,
    },
    sendPacket: (packet) => {
      for (const send of sendTo) send(packet)
    },
    post: (batch) =>
      readBatch(batch, ({ kind, connection }) => {
        if (kind === reports.opened) asked.push(connection)
      }),
    count: () => undefined,
  })
  onTestFinished(() => loop.stop())
  const admit = (connection: number) => {
    const batch = new BatchWriter()
    batch.add(commands.admit, connection)
    loop.commanded(batch.take())
  }
  return { loop, admit, asked, core }
}
