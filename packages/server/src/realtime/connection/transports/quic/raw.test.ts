import { encodeFrame, roomEnterBody } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { bytesOf, textOf, waiting } from '../../../realtime.fixture.ts'
import { type QuicFixture, type QuicFixtureOptions, startQuic } from './quic.fixture.ts'
import type { QuicClient } from './quic-client.fixture.ts'

let node: QuicFixture
afterEach(() => node.close())

describe('streams', () => {
  test('[R-QU-1] frames are taken from any stream of the peer, wherever they are cut', async () => {
    const client = await joined()
    const frame = encodeFrame(100, bytesOf('cut'))
    for (let at = 0; at < frame.length; at += 1) client.write(0, frame.subarray(at, at + 1))
    await expect.poll(messages, waiting).toEqual(['cut'])
    client.send(100, 'other', 4)
    client.send(100, 'one way', 2)
    await expect.poll(messages, waiting).toEqual(['cut', 'other', 'one way'])
  })

  test('[R-QU-2] every reliable frame comes on one stream of the node, in order', async () => {
    const client = await joined()
    for (const text of ['a', 'b', 'c']) send(text)
    send('large'.repeat(20_000))
    const texts = [await client.next(), await client.next(), await client.next()]
    expect(texts.map(({ body }) => textOf(body))).toEqual(['a', 'b', 'c'])
    expect((await client.next()).body.length).toBe(100_000)
    expect([...client.streams.keys()]).toEqual([3])
  })

  test('[R-QU-2] 300 streams of one envelope each do not use up what a peer may have', async () => {
    const client = await joined()
    for (let count = 0; count < 300; count += 1) {
      const stream = 4 + 4 * count
      await expect
        .poll(() => client.write(stream, encodeFrame(100, bytesOf(`${count}`)), true), waiting)
        .toBeGreaterThan(0)
    }
    await expect.poll(() => messages().length, waiting).toBe(300)
    await expect.poll(() => client.endedStreams.size, waiting).toBe(300)
  })

  test('[R-QU-9] a reset between frames ends the stream, and the connection goes on', async () => {
    const client = await joined()
    client.send(100, 'whole', 4)
    await expect.poll(messages, waiting).toEqual(['whole'])
    client.abandon(4)
    client.send(100, 'after')
    await expect.poll(messages, waiting).toEqual(['whole', 'after'])
  })

  test('[R-QU-9] a reset within a frame is a protocol error', async () => {
    const client = await joined()
    client.send(100, 'whole', 4)
    client.write(4, encodeFrame(100, bytesOf('part')).subarray(0, 8))
    await expect.poll(messages, waiting).toEqual(['whole'])
    client.abandon(4)
    expect(await client.closed()).toEqual({
      code: 4003,
      reason: 'protocol error: incomplete frame',
    })
  })

  test('[R-QU-4] a framing error on any stream ends the connection', async () => {
    const client = await joined()
    client.write(4, new Uint8Array([0, 0, 0, 1, 0]))
    expect(await client.closed()).toEqual({ code: 4003, reason: 'protocol error: frame length' })
  })

  test('[R-QU-5] what other streams bring waits until the handshake is over', async () => {
    const client = await started()
    node.realtime.backend.verify = () => verified
    const { promise: verified, resolve: decide } = Promise.withResolvers<undefined>()
    client.send(5, 't-ann')
    client.send(100, 'early', 4)
    await expect.poll(() => node.realtime.gateway.metrics().bytes_in_total, waiting).toBe(22)
    expect(messages()).toEqual([])
    decide(undefined)
    expect(await client.closed()).toEqual({ code: 4001, reason: 'auth rejected' })
  })
})

describe('datagrams', () => {
  test('[R-QU-3] an envelope travels in one, in both directions', async () => {
    const client = await joined()
    client.datagram(datagramOf(100, 'in'))
    await expect.poll(messages, waiting).toEqual(['in'])
    send('out', true)
    await expect.poll(() => client.datagrams.map(textOf), waiting).toEqual(['\0dout'])
    expect(node.realtime.transports.metrics()).toMatchObject({
      quic_datagrams_in_total: 1,
      quic_datagrams_out_total: 1,
    })
  })

  test('[R-QU-3] one of a thousand bytes fits, and a larger one goes reliably', async () => {
    const client = await joined()
    send('x'.repeat(1000), true)
    await expect.poll(() => client.datagrams.map(({ length }) => length), waiting).toEqual([1002])
    send('y'.repeat(1200), true)
    expect((await client.next()).body.length).toBe(1200)
    expect(node.realtime.gateway.metrics().unreliable_promoted_total).toBe(1)
  })

  test('[R-QU-3] datagrams of 0 and 1 bytes are counted and dropped', async () => {
    const client = await joined()
    for (const length of [0, 1]) client.datagram(new Uint8Array(length))
    client.datagram(datagramOf(100, 'next'))
    await expect.poll(messages, waiting).toEqual(['next'])
    expect(node.realtime.gateway.metrics().decode_errors_total).toBeGreaterThanOrEqual(1)
  })
})

describe('pauses and slow peers', () => {
  test('[R-LIM-3] a peer over its rate is not read, and loses nothing', async () => {
    const limits = { inbound_envelope_burst: 3, inbound_envelopes_per_sec: 10 }
    const client = await joined({ limits })
    for (let count = 0; count < 20; count += 1) client.send(100, String(count))
    await expect.poll(() => node.realtime.gateway.metrics().inbound_paused_total, waiting).toBe(1)
    await expect
      .poll(async () => {
        await node.realtime.clock.advance(1000)
        return messages()
      }, waiting)
      .toEqual(Array.from({ length: 20 }, (_, count) => String(count)))
  })

  test('[R-LIM-3, R-QU-5] whatever the network loses arrives, while windows of 1 MiB are full', async () => {
    let packets = 0
    const change = (packet: Uint8Array) => {
      packets += 1
      return packets > 10 && packets % 12 === 0 ? undefined : packet
    }
    const client = await joined({ limits: { inbound_bytes_per_sec: 0 } }, { change })
    const texts = Array.from({ length: 70 }, (_, at) => `${at} ${'x'.repeat(60_000)}`)
    for (const text of texts) client.send(100, text)
    await expect.poll(() => messages().length, waiting).toBe(70)
    expect(messages()).toEqual(texts)
  })

  test('[R-QU-4] the node sends no more than the window of its peer', async () => {
    const windowBytes = 64 * 1024
    const client = await joined({}, { windowBytes })
    client.isReading = false
    for (let count = 0; count < 40; count += 1) send('x'.repeat(30_000))
    await expect
      .poll(() => node.realtime.gateway.metrics().reliable_queue_bytes, waiting)
      .toBeGreaterThan(600_000)
    client.isReading = true
    for (let count = 0; count < 40; count += 1) {
      expect((await client.next()).body.length).toBe(30_000)
    }
    expect(client.end).toBeUndefined()
  })

  test('[R-BP-1] a reader that stops fills its lane and is closed as slow', async () => {
    const limits = { reliable_queue_bytes: 1_000_000, max_envelope_bytes: 65_536 }
    const client = await joined({ limits })
    const other = await node.join('t-bob')
    client.isReading = false
    const text = 'x'.repeat(50_000)
    await expect
      .poll(() => {
        for (let count = 0; count < 10; count += 1) send(text)
        return node.realtime.gateway.metrics().slow_consumer_closes_total
      }, waiting)
      .toBe(1)
    // The advance ends the wait for a peer that does not answer the close either.
    await node.realtime.clock.advance(3000)
    await expect.poll(() => node.realtime.gateway.metrics().connections_active, waiting).toBe(1)
    expect(node.realtime.gateway.metrics().reliable_queue_bytes).toBe(0)
    other.send(100, 'unharmed')
    await expect.poll(messages, waiting).toEqual(['unharmed'])
  })
})

describe('the end', () => {
  test('[R-CLS-1] a close has the number and text that it has everywhere', async () => {
    const client = await joined()
    node.realtime.gateway.closeSessions(['s-ann'])
    expect(await client.closed()).toEqual({ code: 4004, reason: 'session revoked' })
  })

  test('[R-QU-11] what was sent before a close arrives before it', async () => {
    const client = await joined()
    for (let count = 0; count < 100; count += 1) send(`${count} ${'x'.repeat(200)}`)
    node.realtime.gateway.closeSessions(['s-ann'])
    expect((await client.closed()).code).toBe(4004)
    expect(client.received).toHaveLength(100)
  })

  test('[R-QU-11, R-CLS-2] a close that does not drain comes though nothing else can leave', async () => {
    node = await startQuic()
    let isMute = false
    const change = (packet: Uint8Array) => (isMute ? undefined : packet)
    const client = await node.join('t-ann', { change })
    // Without acknowledgements what is sent cannot all leave.
    isMute = true
    send('x'.repeat(200_000))
    await node.realtime.join('t-ann')
    expect(await client.closed()).toEqual({ code: 4005, reason: 'session replaced' })
  })

  test('[R-HS-3] a rejected token gets its answer before the close', async () => {
    const client = await started()
    client.send(5, 'nobody')
    expect((await client.next()).kind).toBe(6)
    expect(await client.closed()).toEqual({ code: 4001, reason: 'auth rejected' })
  })

  test('[R-RET-1] a peer that closes with 0 or 1000 leaves, and one with another code is lost', async () => {
    const rooms = { reconnect_grace_ms: 10_000 }
    const [left, normal, lost] = [
      await joined({ rooms }),
      await node.join('t-bob'),
      await node.join('t-cid'),
    ]
    for (const client of [left, normal, lost]) client.send(48, enterAny)
    await expect.poll(() => node.realtime.gateway.metrics().rooms_active, waiting).toBe(1)
    await expect.poll(seated, waiting).toBe(3)
    left.close(0)
    normal.close(1000)
    lost.close(3999)
    await expect.poll(() => node.realtime.gateway.metrics().connections_active, waiting).toBe(0)
    expect(node.realtime.gateway.metrics().dropped_seats_active).toBe(1)
  })

  test('[R-CLS-2] a connection without AUTH ends after the handshake timeout', async () => {
    const client = await started()
    // The node gives it a ticket once the handshake of QUIC is over on its side as well.
    await expect.poll(() => client.events.map(({ eventType }) => eventType), waiting).toContain(12)
    await node.realtime.clock.advance(5000)
    expect(await client.closed()).toEqual({ code: 4002, reason: 'auth timeout' })
  })

  test('[R-SES-1] a second connection of the session ends the one over QUIC', async () => {
    const client = await joined()
    await node.realtime.join('t-ann')
    expect(await client.closed()).toEqual({ code: 4005, reason: 'session replaced' })
  })
})

/** ROOM_ENTER of a room that everybody shares. */
const enterAny = roomEnterBody.encode({ mode: 'join_or_create', name: 'a', options: '' })

async function seated(): Promise<number> {
  const [room] = await node.realtime.gateway.rooms()
  return room?.players ?? 0
}

type ClientOptions = Parameters<typeof QuicClient.connect>[1]

async function started(
  options: QuicFixtureOptions = {},
  clientOptions?: ClientOptions,
): Promise<QuicClient> {
  node = await startQuic(options)
  node.realtime.script.kinds.add(100)
  return node.connect(clientOptions)
}

async function joined(...options: Parameters<typeof started>): Promise<QuicClient> {
  const client = await started(...options)
  client.send(5, 't-ann')
  expect((await client.next()).kind).toBe(6)
  return client
}

/** Sends to the first participant. */
function send(text: string, unreliable = false): void {
  const body = bytesOf(text)
  node.realtime.gateway.send({ kind: 100, body, unreliable, participants: [1] })
}

function messages(): string[] {
  const { calls } = node.realtime.script
  return calls.flatMap((call) => (call.hook === 'message' ? [textOf(call.body)] : []))
}

function datagramOf(kind: number, text: string): Uint8Array {
  return encodeFrame(kind, bytesOf(text)).subarray(4)
}
