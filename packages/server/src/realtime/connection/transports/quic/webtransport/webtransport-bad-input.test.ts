import { encodeFrame } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { bytesOf, textOf, waiting } from '../../../../realtime.fixture.ts'
import { startEngineHere } from '../engine/engine-here.fixture.ts'
import { type QuicFixture, type QuicFixtureOptions, startQuic } from '../quic.fixture.ts'
import type { QuicClient } from '../quic-client.fixture.ts'
import { bothWays, capsuleOf, control, oneWay, request } from './webtransport-client.fixture.ts'

/** What raw QUIC is tried with, by WebTransport; a player beside it plays on. */
let node: QuicFixture
let player: QuicClient
afterEach(async () => {
  player.send(100, 'still here')
  await expect.poll(messages, waiting).toContain('still here')
  expect(node.incidents).toEqual([])
  await node.close()
})

describe('streams of a session', () => {
  test('[R-QU-1] a frame may be cut at each of its bytes, and so may what a stream begins with', async () => {
    const client = await joined()
    const bytes = Uint8Array.from([...bothWays, ...encodeFrame(100, bytesOf('cut'))])
    for (let at = 0; at < bytes.length; at += 1) client.write(4, bytes.subarray(at, at + 1))
    await expect.poll(messages, waiting).toEqual(['cut'])
  })

  test('[R-QU-2] 300 streams of one envelope each do not use up what a page may have', async () => {
    const client = await joined()
    for (let count = 0; count < 300; count += 1) {
      const bytes = Uint8Array.from([...bothWays, ...encodeFrame(100, bytesOf(`${count}`))])
      const stream = 4 + 4 * count
      await expect.poll(() => client.write(stream, bytes, true), waiting).toBeGreaterThan(0)
    }
    await expect.poll(() => messages().length, waiting).toBe(300)
    await expect.poll(() => client.endedStreams.size, waiting).toBe(300)
  })

  test('[R-QU-9] a reset within a frame is a protocol error', async () => {
    const client = await joined()
    const part = encodeFrame(100, bytesOf('part')).subarray(0, 8)
    client.write(10, Uint8Array.from([...oneWay, ...encodeFrame(100, bytesOf('whole')), ...part]))
    await expect.poll(messages, waiting).toEqual(['whole'])
    client.abandon(10)
    expect(await endOf(client)).toEqual({ code: 4003, reason: 'protocol error: incomplete frame' })
  })

  test('[R-QU-9] STOP_SENDING on the stream of the node is a protocol error', async () => {
    const client = await joined()
    client.abandon(7)
    send('more')
    expect(await endOf(client)).toEqual({ code: 4003, reason: 'protocol error: stream stopped' })
  })

  test('[R-QU-4] frames that stay incomplete have a bound over all streams', async () => {
    const client = await joined()
    const part = encodeFrame(100, new Uint8Array(60_000)).subarray(0, 50_000)
    for (let stream = 10; stream <= 22; stream += 4) {
      client.write(stream, Uint8Array.from([...oneWay, ...part]))
    }
    expect(await endOf(client)).toEqual({ code: 4003, reason: 'protocol error: frame length' })
  })
})

describe('datagrams of a session', () => {
  test.each([2, 1000, 1023])('[R-QU-3] an envelope of %i bytes is taken', async (length) => {
    const client = await joined()
    const text = 'x'.repeat(length - 2)
    client.datagram(Uint8Array.from([0, 0, 100, ...bytesOf(text)]))
    await expect.poll(messages, waiting).toEqual([text])
  })

  test('[R-QU-3] what has no kind, no session or no way is dropped', async () => {
    const client = await joined()
    for (const length of [0, 1, 2]) client.datagram(new Uint8Array(length))
    client.datagram(new Uint8Array(65_000))
    client.datagram(Uint8Array.from([0, 0, 100, ...bytesOf('next')]))
    await expect.poll(messages, waiting).toEqual(['next'])
    expect(node.realtime.gateway.metrics().decode_errors_total).toBeGreaterThanOrEqual(1)
  })
})

describe('a page that stays', () => {
  test('[R-BP-1] and does not read fills its lane, and is closed as slow', async () => {
    const limits = { reliable_queue_bytes: 1_000_000, max_envelope_bytes: 65_536 }
    const client = await joined({ limits })
    client.isReading = false
    const text = 'x'.repeat(50_000)
    let most = 0
    const metrics = () => node.realtime.gateway.metrics()
    await expect
      .poll(() => {
        for (let count = 0; count < 10; count += 1) send(text)
        most = Math.max(most, metrics().reliable_queue_bytes)
        return metrics().slow_consumer_closes_total
      }, waiting)
      .toBe(1)
    expect(most).toBeLessThanOrEqual(1_000_000)
    // It never answers the close.
    await node.realtime.clock.advance(3000)
    await expect.poll(() => metrics().connections_active, waiting).toBe(1)
    expect(metrics().reliable_queue_bytes).toBe(0)
  })

  test('[R-LIM-3, R-QU-5] and is not read may send 8 MB, of which little is taken', async () => {
    const client = await joined({
      limits: { inbound_bytes_per_sec: 1024, inbound_bytes_burst: 65_536 },
    })
    const frame = encodeFrame(100, new Uint8Array(50_000))
    const bulk = Buffer.concat(Array.from({ length: 20 }, () => frame))
    for (let count = 0; count < 8; count += 1) client.write(6, bulk)
    const dropped = () => node.realtime.transports.metrics().quic_packets_dropped_total
    await expect.poll(dropped, waiting).toBeGreaterThan(0)
    expect(node.realtime.gateway.metrics().bytes_in_total).toBeLessThan(1.5 * 2 ** 20)
  })
})

/** A player by raw QUIC, and one by WebTransport, who is the second participant. */
async function joined(options: QuicFixtureOptions = {}): Promise<QuicClient> {
  node = await startQuic({ ...options, quic: { startEngine: startEngineHere } })
  node.realtime.script.kinds.add(100)
  player = await node.join('t-ann')
  const client = await node.connect({
    alpn: ['h3'],
    envelopes: { stream: 7, prefaceBytes: oneWay.length, datagramPrefaceBytes: 1 },
  })
  client.write(2, control)
  request(client, {})
  client.write(6, Uint8Array.from([...oneWay, ...encodeFrame(5, bytesOf('t-bob'))]))
  expect((await client.next()).kind).toBe(6)
  return client
}

/** The capsule that the node ends a session with. */
async function endOf(client: QuicClient): Promise<ReturnType<typeof capsuleOf>> {
  await expect.poll(() => client.endedStreams.has(0), waiting).toBe(true)
  return capsuleOf(client.streams.get(0) ?? new Uint8Array())
}

function send(text: string): void {
  const body = bytesOf(text)
  node.realtime.gateway.send({ kind: 100, body, unreliable: false, participants: [2] })
}

function messages(): string[] {
  const { calls } = node.realtime.script
  return calls.flatMap((call) => (call.hook === 'message' ? [textOf(call.body)] : []))
}
