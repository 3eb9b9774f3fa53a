import type { Socket } from 'node:dgram'
import { encodeFrame } from '@guildhall/contract'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bytesOf, textOf, waiting } from '../../../realtime.fixture.ts'
import { startEngineHere } from './engine/engine-here.fixture.ts'
import { openInitial } from './engine/initial-packet.fixture.ts'
import { type Initial, readInitial, sealInitial } from './engine/initial-packet.ts'
import { type QuicFixture, startQuic } from './quic.fixture.ts'
import { connectedSocket, QuicClient } from './quic-client.fixture.ts'

/** Whatever comes in, a player who was there before plays on, and the engine has not trapped. */
let node: QuicFixture
let player: QuicClient
beforeEach(async () => {
  await start()
})
afterEach(async () => {
  player.send(100, 'still here')
  await expect.poll(messages, waiting).toContain('still here')
  expect((await node.join('t-cid')).established).toBe(true)
  expect(node.incidents).toEqual([])
  await node.close()
})

describe('handshakes', () => {
  test.each<[string, (hello: Buffer) => Buffer]>([
    ['is of another type', (hello) => patched(hello, 0, 2)],
    ['has no version in common', (hello) => replaced(hello, [0x03, 0x04], [0x03, 0x03])],
    ['has no transport parameters', (hello) => replaced(hello, [0, 0x39], [0x7a, 0x7b])],
  ])('[R-QU-7] one whose ClientHello %s costs its connection only', async (_what, change) => {
    const broken = await QuicClient.begin(node.port, { change: changingHello(change) })
    const isClose = (frames: Uint8Array) => frames[0] === 0x1c
    await expect.poll(() => broken.initials.some(isClose), waiting).toBe(true)
    broken.vanish()
  })

  test.each<[string, (hello: Buffer) => Buffer]>([
    ['is cut', (hello) => hello.subarray(0, 60)],
    ['claims more than it has', (hello) => patched(hello, 2, 0xff)],
    ['has no cipher in common', (hello) => replaced(hello, [0x13, 0x01], [0x7a, 0x7a])],
    ['is noise', (hello) => Buffer.from(hello.map((byte) => byte ^ 0x5a))],
  ])('[R-LIM-2] one whose ClientHello %s has as long as any other', async (_what, change) => {
    const broken = await QuicClient.begin(node.port, { change: changingHello(change) })
    await expect.poll(active, waiting).toBe(2)
    await node.realtime.clock.advance(8000)
    await expect.poll(active, waiting).toBe(1)
    broken.vanish()
  })

  test('[R-QU-7] one whose ClientHello is in pieces with holes is cut', async () => {
    // CRYPTO with a byte at each odd place; the next packet of the peer finds them.
    const frames = repeat(200, (at) => [6, 0x40 | (at >> 7), (2 * at + 1) & 0xff, 1, 0]).flat()
    const change = (packet: Uint8Array) => {
      const initial = readInitial(packet)
      if (initial === undefined || initial.token.length === 0) return packet
      return sealed(initial, Buffer.from(frames))
    }
    const broken = await QuicClient.begin(node.port, { change })
    await expect.poll(() => metrics().quic_connections_shed_total, waiting).toBe(1)
    broken.vanish()
  })

  test('[R-QU-8] packets of 0-RTT are dropped, from peers that are known and from others', async () => {
    const early = new Uint8Array(1200).fill(7)
    early.set([0xd0, 0, 0, 0, 1, 8])
    const [stranger, known] = [await connectedSocket(node.port), await connectedSocket(node.port)]
    const client = await node.join('t-bob', { socket: known })
    known.send(early)
    stranger.send(early)
    await expect.poll(dropped, waiting).toBe(2)
    client.send(100, 'none the wiser')
    await expect.poll(messages, waiting).toEqual(['none the wiser'])
    client.vanish()
    for (const socket of [stranger, known]) socket.close()
  })

  test('[R-QU-10] nothing that comes from nobody is answered with more than it has', async () => {
    const stranger = await connectedSocket(node.port)
    let received = 0
    stranger.on('message', (packet) => {
      received += packet.length
    })
    for (let count = 0; count < 50; count += 1) stranger.send(initialOf(count))
    await expect.poll(() => received, waiting).toBeGreaterThan(50 * 60)
    expect(received).toBeLessThan(50 * 200)
    stranger.close()
  })

  test('[R-QU-10, R-QU-12] ten thousand Initials leave nothing behind', async () => {
    const strangers = await Promise.all(repeat(20, () => connectedSocket(node.port)))
    for (let count = 0; count < 10_000; count += 1) {
      strangers[count % strangers.length]?.send(initialOf(count))
      // The system's buffers take only so many at once.
      if (count % 200 === 0) await turn()
    }
    expect(metrics().quic_connections_active).toBe(1)
    expect(node.realtime.gateway.metrics().connections_accepted_total).toBe(1)
    for (const stranger of strangers) stranger.close()
  })
})

describe('datagrams of the network', () => {
  test('[R-QU-7] garbage of any length', async () => {
    const stranger = await connectedSocket(node.port)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1500 }), (bytes) => stranger.send(bytes)),
      { numRuns: 300 },
    )
    await expect.poll(dropped, waiting).toBeGreaterThan(100)
    stranger.close()
  })

  test('[R-QU-7] packets of a player again, cut, and changed', async () => {
    const sent: Uint8Array[] = []
    const socket = await connectedSocket(node.port)
    const change = (packet: Uint8Array) => {
      sent.push(packet)
      return packet
    }
    const client = await node.connect({ socket, change })
    client.send(5, 't-bob')
    expect((await client.next()).kind).toBe(6)
    for (const text of ['a', 'b', 'c']) client.send(100, text)
    await expect.poll(messages, waiting).toContain('c')
    const stranger = await connectedSocket(node.port)
    for (const packet of [...sent]) await sendAll(socket, stranger, packet)
    client.send(100, 'after all')
    await expect.poll(messages, waiting).toContain('after all')
    expect(messages().filter((text) => text === 'b')).toHaveLength(1)
    client.vanish()
    socket.close()
    stranger.close()
  })
})

describe('streams and datagrams of a player', () => {
  test('[R-QU-9] STOP_SENDING on the stream of the node is a protocol error', async () => {
    const client = await node.join('t-bob')
    client.abandon(3)
    send('more', 2)
    expect(await client.closed()).toEqual({ code: 4003, reason: 'protocol error: stream stopped' })
  })

  test('[R-QU-4] a peer has 100 streams in both directions and 100 in one at a time', async () => {
    const client = await node.join('t-bob')
    const part = encodeFrame(100, bytesOf('part')).subarray(0, 5)
    const taken = (from: number, count: number) =>
      repeat(count, (at) => client.write(from + 4 * at, part)).filter((bytes) => bytes > 0).length
    expect(taken(4, 110)).toBe(99)
    expect(taken(2, 110)).toBe(100)
  })

  test('[R-QU-4] frames that stay incomplete have a bound over all streams', async () => {
    const client = await node.join('t-bob')
    const part = encodeFrame(100, new Uint8Array(60_000)).subarray(0, 50_000)
    for (let stream = 4; stream <= 16; stream += 4) client.write(stream, part)
    expect(await client.closed()).toEqual({ code: 4003, reason: 'protocol error: frame length' })
  })

  test('[R-LIM-3, R-QU-5] of 8 MB of a peer that is not read little is taken', async () => {
    await node.close()
    await start({ inbound_bytes_per_sec: 1024, inbound_bytes_burst: 65_536 })
    const client = await node.join('t-bob')
    const bulk = Buffer.concat(repeat(20, () => encodeFrame(100, new Uint8Array(50_000))))
    for (let count = 0; count < 8; count += 1) client.write(0, bulk)
    await expect.poll(() => gateway().inbound_paused_total, waiting).toBeGreaterThan(0)
    await expect.poll(dropped, waiting).toBeGreaterThan(0)
    // The window of flow control, and what was on its way.
    expect(gateway().bytes_in_total).toBeLessThan(1.5 * 2 ** 20)
  })

  test('[R-LIM-3, R-QU-5, R-RET-1] a peer that leaves while it is not read has left when it is', async () => {
    await node.close()
    await start({ inbound_envelope_burst: 50, inbound_envelopes_per_sec: 1 })
    const client = await node.join('t-bob')
    for (let count = 0; count < 200; count += 1) client.datagram(Uint8Array.of(0, 100, 0x78))
    // As much as its window lets leave, and a close behind it.
    for (let count = 0; count < 4; count += 1) {
      client.send(100, 'x'.repeat(1000))
      await turn()
    }
    await expect.poll(dropped, waiting).toBeGreaterThan(0)
    client.close(0)
    client.vanish()
    await turn()
    const { length } = node.realtime.script.calls
    await expect
      .poll(async () => {
        await node.realtime.clock.advance(10_000)
        return active()
      }, waiting)
      .toBe(1)
    expect(node.realtime.script.calls.length).toBeGreaterThan(length)
    expect(node.realtime.script.hooks()).toContain('leave 2')
  })

  test.each([2, 1000, 1100])('[R-QU-3] a datagram of %i bytes is taken', async (length) => {
    const client = await node.join('t-bob')
    client.datagram(Uint8Array.from([0, 100, ...new Uint8Array(length - 2).fill(0x78)]))
    await expect.poll(messages, waiting).toContain('x'.repeat(length - 2))
  })

  test('[R-QU-3] a datagram of 65,000 bytes does not leave its sender', async () => {
    const client = await node.join('t-bob')
    client.datagram(new Uint8Array(65_000))
    client.send(100, 'next')
    await expect.poll(messages, waiting).toContain('next')
    expect(metrics().quic_datagrams_in_total).toBe(0)
  })

  test('[R-QU-4] a stream in the name of the node is an error of the transport', async () => {
    const client = await node.join('t-bob')
    expect(client.write(3, bytesOf('x'))).toBeLessThan(0)
  })
})

async function start(limits: Record<string, number> = {}): Promise<void> {
  node = await startQuic({ limits, quic: { startEngine: startEngineHere } })
  node.realtime.script.kinds.add(100)
  player = await node.join('t-ann')
}

const gateway = () => node.realtime.gateway.metrics()
const metrics = () => node.realtime.transports.metrics()
const active = () => gateway().connections_active
const dropped = () => metrics().quic_packets_dropped_total

function messages(): string[] {
  const { calls } = node.realtime.script
  return calls.flatMap((call) => (call.hook === 'message' ? [textOf(call.body)] : []))
}

function send(text: string, participant: number): void {
  const body = bytesOf(text)
  node.realtime.gateway.send({ kind: 100, body, unreliable: false, participants: [participant] })
}

/** Changes the ClientHello behind the Retry. */
function changingHello(change: (hello: Buffer) => Buffer) {
  return (packet: Uint8Array): Uint8Array | undefined => {
    const initial = readInitial(packet)
    if (initial === undefined || initial.token.length === 0) return packet
    const all = framesOf(initial)
    const frames = all.subarray(all.findIndex((type) => type > 1))
    // CRYPTO from the beginning on, with a length of two bytes; nothing else may leave.
    if (frames[0] !== 6 || frames[1] !== 0) return undefined
    const hello = frames.subarray(4, 4 + (frames.readUInt16BE(2) & 0x3fff))
    const changed = change(Buffer.from(hello))
    const head = [6, 0, 0x40 | (changed.length >> 8), changed.length & 0xff]
    return sealed(initial, Buffer.concat([Buffer.from(head), changed]))
  }
}

function framesOf(initial: Initial): Buffer {
  return Buffer.from(openInitial(initial, { id: initial.destination, from: 'client' }) ?? [])
}

function sealed(initial: Pick<Initial, 'destination' | 'source' | 'token'>, frames: Buffer) {
  const padding = Buffer.alloc(Math.max(0, 1130 - frames.length - initial.token.length))
  const payload = Buffer.concat([frames, padding])
  const packet = sealInitial(initial, payload, { id: initial.destination, from: 'client' })
  return Uint8Array.from(Buffer.concat([packet, Buffer.alloc(Math.max(0, 1200 - packet.length))]))
}

/** An Initial of nobody. Its keys are not looked at before its address is proved. */
function initialOf(count: number): Uint8Array {
  const packet = Buffer.from(template)
  packet.writeUInt32BE(count + 1, 6)
  return packet
}

const template = sealed(
  { destination: Buffer.alloc(8), source: Uint8Array.of(1), token: new Uint8Array() },
  Buffer.from([1]),
)

function patched(bytes: Buffer, at: number, value: number): Buffer {
  bytes[at] = value
  return bytes
}

function replaced(bytes: Buffer, before: number[], after: number[]): Buffer {
  for (let at = bytes.indexOf(Buffer.from(before)); at >= 0; ) {
    bytes.set(after, at)
    at = bytes.indexOf(Buffer.from(before), at + 1)
  }
  return bytes
}

async function sendAll(own: Socket, stranger: Socket, packet: Uint8Array): Promise<void> {
  const changed = Uint8Array.from(packet, (byte, at) => (at === packet.length >> 1 ? ~byte : byte))
  for (const socket of [own, stranger]) {
    for (const each of [packet, packet.subarray(0, packet.length >> 1), changed]) socket.send(each)
  }
  await turn()
}

function repeat<T>(times: number, make: (at: number) => T): T[] {
  return Array.from({ length: times }, (_, at) => make(at))
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
