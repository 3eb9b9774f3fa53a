import { encodeFrame } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import {
  bytesOf,
  type FixtureOptions,
  hexOf,
  type RealtimeFixture,
  startRealtime,
  textOf,
  waiting,
} from '../../realtime.fixture.ts'
import { type StreamsConnection, StreamsTransport } from './streams-connection.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

describe('streams of a peer', () => {
  test('[R-QU-1] frames of several streams are taken as they become whole', async () => {
    const peer = await startWithPeer()
    const [long, short] = [encodeFrame(100, bytesOf('long')), encodeFrame(101, bytesOf('short'))]
    peer.events.received(4, long.subarray(0, 7))
    peer.events.received(8, short)
    peer.events.received(4, long.subarray(7))
    expect(messages()).toEqual(['101 short', '100 long'])
  })

  test('[R-QU-1] a stream may end behind its envelope, and the next one takes another', async () => {
    const peer = await startWithPeer()
    for (const [stream, text] of [
      [2, 'a'],
      [6, 'b'],
      [10, 'c'],
    ] as const) {
      peer.events.received(stream, encodeFrame(100, bytesOf(text)))
      peer.events.streamEnded(stream)
    }
    expect(messages()).toEqual(['100 a', '100 b', '100 c'])
    expect(peer.closedWith).toBeUndefined()
  })

  test('[R-QU-4] a stream that ends within a frame is a protocol error', async () => {
    const peer = await startWithPeer()
    peer.events.received(4, encodeFrame(100, bytesOf('cut')).subarray(0, 8))
    peer.events.streamEnded(4)
    await settled()
    expect(peer.closedWith).toEqual({ code: 4003, reason: 'protocol error: incomplete frame' })
  })

  test('[R-QU-4] a framing error on any stream ends the connection', async () => {
    const peer = await startWithPeer()
    peer.events.received(4, encodeFrame(100, bytesOf('good')))
    peer.events.received(8, new Uint8Array([0, 0, 0, 1, 0]))
    await settled()
    expect(peer.closedWith).toEqual({ code: 4003, reason: 'protocol error: frame length' })
    expect(messages()).toEqual(['100 good'])
  })

  test('[R-QU-4] incomplete frames of all streams hold two envelopes at most', async () => {
    const peer = await startWithPeer({ limits: { max_envelope_bytes: 1024 } })
    const part = encodeFrame(100, new Uint8Array(1022)).subarray(0, 1024)
    peer.events.received(4, part)
    peer.events.received(8, part)
    await settled()
    expect(peer.closedWith).toBeUndefined()
    peer.events.received(12, part.subarray(0, 1))
    await settled()
    expect(peer.closedWith).toEqual({ code: 4003, reason: 'protocol error: frame length' })
  })

  test('[R-QU-5] the first stream that carries bytes is the handshake, others wait', async () => {
    const peer = await startUngreeted()
    peer.events.received(6, encodeFrame(5, bytesOf('t-ann')).subarray(0, 3))
    peer.events.received(4, encodeFrame(100, bytesOf('early')))
    expect([peer.readsAll, messages()]).toEqual([false, []])
    peer.events.received(6, encodeFrame(5, bytesOf('t-ann')).subarray(3))
    await expect.poll(messages, waiting).toEqual(['100 early'])
    expect(peer.readsAll).toBe(true)
    expect(realtime.script.hooks()[0]).toBe('join 1')
  })

  test('[R-LIM-3] a paused connection is not read, and its streams go on where they were', async () => {
    const limits = { inbound_envelope_burst: 3, inbound_envelopes_per_sec: 10 }
    const peer = await startWithPeer({ limits })
    for (const stream of [4, 8, 12, 16]) {
      peer.events.received(stream, encodeFrame(100, bytesOf(String(stream))))
    }
    expect([peer.isPaused, messages().length]).toEqual([true, 2])
    await realtime.clock.advance(1000)
    expect([peer.isPaused, messages().sort()]).toEqual([
      false,
      ['100 12', '100 16', '100 4', '100 8'],
    ])
  })
})

describe('datagrams of a peer', () => {
  test('[R-QU-3] a datagram is one envelope without its length', async () => {
    const peer = await startWithPeer()
    peer.events.receivedDatagram(datagram(100, 'hello'))
    expect(calls()).toMatchObject([{ kind: 100, unreliable: true }])
    expect(messages()).toEqual(['100 hello'])
    peer.events.received(0, encodeFrame(100, bytesOf('again')))
    expect(calls()[1]).toMatchObject({ unreliable: false })
  })

  test('[R-QU-3] one of fewer than two bytes is dropped and counted', async () => {
    const peer = await startWithPeer()
    for (const bytes of [0, 1]) peer.events.receivedDatagram(new Uint8Array(bytes))
    expect(realtime.gateway.metrics()).toMatchObject({
      decode_errors_total: 2,
      messages_in_total: 0,
    })
    expect(peer.closedWith).toBeUndefined()
  })

  test('[R-KND-3] only positions and application kinds come as datagrams', async () => {
    const peer = await startWithPeer()
    peer.events.received(0, encodeFrame(44, new Uint8Array([1, 0, 0, 0, 4])))
    for (const kind of [3, 5, 21, 44, 50, 2])
      peer.events.receivedDatagram(datagram(kind, 'xxxxxxxx'))
    await settled()
    expect(realtime.gateway.metrics()).toMatchObject({
      wrong_direction_ignored_total: 6,
      reserved_kind_ignored_total: 0,
    })
    expect(peer.closedWith).toBeUndefined()
    const notices = peer.sent.stream.filter(({ kind }) => kind === 47)
    expect(notices.map(({ body }) => body[1])).toEqual([4, 4, 4, 4, 4, 4])
  })

  test('[R-HS-1] datagrams before the result are dropped and counted, not kept', async () => {
    const peer = await startUngreeted()
    peer.events.receivedDatagram(datagram(100, 'early'))
    greet(peer)
    peer.events.receivedDatagram(datagram(100, 'while verified'))
    await expect.poll(() => peer.kinds(), waiting).toContain(6)
    peer.events.receivedDatagram(datagram(100, 'late'))
    expect(messages()).toEqual(['100 late'])
    expect(realtime.gateway.metrics().datagram_limited_total).toBe(2)
  })

  test('[R-LIM-3] datagrams over the rate are dropped and counted', async () => {
    const limits = { inbound_envelope_burst: 3, inbound_envelopes_per_sec: 10 }
    const peer = await startWithPeer({ limits })
    for (const text of ['a', 'b', 'c', 'd']) peer.events.receivedDatagram(datagram(100, text))
    expect(messages()).toEqual(['100 a', '100 b'])
    expect(realtime.gateway.metrics().datagram_limited_total).toBe(2)
    await realtime.clock.advance(1000)
    peer.events.receivedDatagram(datagram(100, 'e'))
    expect(messages()).toEqual(['100 a', '100 b', '100 e'])
  })

  test('[R-LIM-6] a full script inbox costs datagrams, and they are counted', async () => {
    const peer = await startWithPeer()
    realtime.script.isCongested = true
    peer.events.receivedDatagram(datagram(100, 'lost'))
    expect([messages(), realtime.gateway.metrics().datagram_limited_total]).toEqual([[], 1])
  })
})

describe('what a session sends', () => {
  test('[R-QU-2] every reliable frame goes on one stream, in order', async () => {
    const peer = await startWithPeer()
    for (const kind of [100, 101, 102]) send(kind, 'x', false)
    await settled()
    expect(peer.kinds()).toEqual([6, 100, 101, 102])
    expect(peer.sent.datagrams).toEqual([])
  })

  test('[R-QU-2] nothing is given without credit, and the rest stays in the lane', async () => {
    const peer = await startWithPeer()
    peer.credit = 8
    for (const kind of [100, 101, 102]) send(kind, 'x', false)
    await settled()
    expect(peer.kinds()).toEqual([6, 100, 101])
    expect(realtime.gateway.metrics().reliable_queue_bytes).toBe(7)
    peer.give(100)
    expect(peer.kinds()).toEqual([6, 100, 101, 102])
    expect(realtime.gateway.metrics().reliable_queue_bytes).toBe(0)
  })

  test('[R-BP-1] a peer that gives no credit is closed as a slow consumer', async () => {
    const peer = await startWithPeer({ limits: { reliable_queue_capacity: 2 } })
    peer.credit = 0
    for (const kind of [100, 101]) send(kind, 'x', false)
    await settled()
    expect(peer.closedWith).toBeUndefined()
    send(102, 'x', false)
    expect(peer.closedWith).toEqual({ code: 4008, reason: 'slow consumer' })
  })

  test('[R-QU-3] an unreliable envelope is a datagram, kind and body', async () => {
    const peer = await startWithPeer()
    send(100, 'hi', true)
    await settled()
    expect(peer.sent.datagrams.map(hexOf)).toEqual([`0064${hexOf(bytesOf('hi'))}`])
    expect(peer.kinds()).toEqual([6])
  })

  test('[R-QU-3] one that is larger than a datagram goes reliably, and is counted', async () => {
    const peer = await startWithPeer()
    peer.datagrams.bytesMax = 10
    send(100, '12345678', true)
    send(101, '123456789', true)
    await settled()
    expect([peer.sent.datagrams.length, peer.kinds()]).toEqual([1, [6, 101]])
    expect(realtime.gateway.metrics().unreliable_promoted_total).toBe(1)
  })

  test('[R-QU-3] a path that shrinks promotes what waits already', async () => {
    const peer = await startWithPeer()
    peer.datagrams.room = 0
    send(100, '12345678', true)
    await settled()
    peer.datagrams.bytesMax = 9
    peer.datagrams.room = 5
    peer.give(0)
    expect([peer.sent.datagrams.length, peer.kinds()]).toEqual([0, [6, 100]])
    expect(realtime.gateway.metrics()).toMatchObject({
      unreliable_promoted_total: 1,
      reliable_queue_bytes: 0,
    })
  })

  test('[R-BP-2] without room for datagrams the oldest give way, and the stream goes on', async () => {
    const peer = await startWithPeer({ limits: { unreliable_queue_capacity: 2 } })
    peer.datagrams.room = 0
    for (const text of ['a', 'b', 'c']) send(100, text, true)
    send(101, 'reliable', false)
    await settled()
    expect(peer.kinds()).toEqual([6, 101])
    peer.datagrams.room = 5
    peer.give(0)
    expect(peer.sent.datagrams.map((bytes) => textOf(bytes.subarray(2)))).toEqual(['b', 'c'])
    expect(realtime.gateway.metrics().unreliable_dropped_total).toBe(1)
  })

  test('[R-BP-5] datagrams need no credit of the stream', async () => {
    const peer = await startWithPeer()
    peer.credit = 0
    send(100, 'held', false)
    send(101, 'overtakes', true)
    await settled()
    expect([peer.kinds(), peer.sent.datagrams.length]).toEqual([[6], 1])
  })

  test('[R-DSP-2] a position goes to each peer on the lane that its transport has', async () => {
    const peer = await startWithPeer()
    const other = await realtime.join()
    peer.events.receivedDatagram(datagram(1, 'here'))
    await settled()
    expect((await other.next()).kind).toBe(2)
    other.send(1, 'there')
    const arrived = () => settled().then(() => peer.sent.datagrams.length)
    await expect.poll(arrived, waiting).toBe(1)
    expect(hexOf(peer.sent.datagrams[0] ?? bytesOf(''))).toBe(
      `0002${'0'.repeat(15)}2${hexOf(bytesOf('there'))}`,
    )
  })

  test('[R-BP-4] a position that waits for its transport counts towards the total', async () => {
    const peer = await startWithPeer({ limits: { max_queued_bytes_total: 500 } })
    peer.datagrams.room = 0
    const other = await realtime.join()
    other.send(1, new Uint8Array(600))
    const closed = () => settled().then(() => peer.closedWith?.code)
    await expect.poll(closed, waiting).toBe(4008)
  })

  test('[R-BP-1] a position that no datagram takes and that does not fit reliably closes', async () => {
    const peer = await startWithPeer({ limits: { reliable_queue_bytes: 100 } })
    peer.credit = 0
    peer.datagrams.bytesMax = 20
    const other = await realtime.join()
    other.send(1, new Uint8Array(600))
    const closed = () => settled().then(() => peer.closedWith?.code)
    await expect.poll(closed, waiting).toBe(4008)
  })

  test('[R-CLS-1] the close has the same number and text on every transport', async () => {
    const peer = await startWithPeer()
    realtime.gateway.closeSessions(['s-ann'])
    await settled()
    expect(peer.closedWith).toEqual({ code: 4004, reason: 'session revoked' })
  })
})

/** A gateway, and a peer that it has accepted and greeted as participant 1. */
async function startWithPeer(options: FixtureOptions = {}) {
  const peer = await startUngreeted(options)
  greet(peer)
  await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['join 1'])
  await expect.poll(() => peer.kinds(), waiting).toEqual([6])
  return peer
}

async function startUngreeted(options: FixtureOptions = {}) {
  const memory = new StreamsTransport()
  realtime = await startRealtime({ ...options, transports: ({ gateway }) => [memory.at(gateway)] })
  for (const kind of [100, 101]) realtime.script.kinds.add(kind)
  return memory.connect()
}

function greet(peer: StreamsConnection): void {
  peer.events.received(0, encodeFrame(5, bytesOf('t-ann')))
}

function datagram(kind: number, text: string): Uint8Array {
  return encodeFrame(kind, bytesOf(text)).subarray(4)
}

function send(kind: number, text: string, unreliable: boolean): void {
  realtime.gateway.send({ kind, body: bytesOf(text), unreliable, participants: [1] })
}

/** Frames leave at the end of the turn in which they were queued, or a little later. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await realtime.clock.advance(10)
}

function calls() {
  return realtime.script.calls.flatMap((call) => (call.hook === 'message' ? [call] : []))
}

function messages(): string[] {
  return calls().map(({ kind, body }) => `${kind} ${textOf(body)}`)
}
