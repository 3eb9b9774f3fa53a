import { once } from 'node:events'
import { encodeFrame } from '@guildhall/contract'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import {
  bytesOf,
  hexOf,
  type RawClient,
  type RealtimeFixture,
  startRealtime,
  textOf,
  waiting,
} from '../../realtime.fixture.ts'
import { clientFrame } from '../../websocket-bytes.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

describe('the stream of frames', () => {
  test('[R-WS-4] frames may be cut anywhere, over messages, fragments and packets', async () => {
    realtime = await startRealtime()
    realtime.script.kinds.add(100)
    const bodies = ['', 'one', 'x'.repeat(300), 'last']
    const stream = Buffer.concat([
      encodeFrame(5, bytesOf('t-ann')),
      ...bodies.map((body) => encodeFrame(100, bytesOf(body))),
    ])
    const cuts = fc.array(fc.integer({ min: 0, max: stream.length }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(cuts, cuts, async (messageCuts, packetCuts) => {
        realtime.script.calls.length = 0
        const raw = await opened()
        const messages = slices(stream, messageCuts).flatMap((part, index) =>
          index % 2 === 0 ? [clientFrame(part)] : fragments(part),
        )
        for (const packet of slices(Buffer.concat(messages), packetCuts)) {
          raw.socket.write(packet)
          await realtime.clock.advance(0)
        }
        await expect.poll(messagesSeen, waiting).toEqual(bodies)
        raw.socket.destroy()
        await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
      }),
      { numRuns: 15 },
    )
  })

  test('[R-WS-4] a frame that stays incomplete for 30 s is a protocol error', async () => {
    realtime = await startRealtime({ websocket: { heartbeat_interval_ms: 0 } })
    const client = await realtime.join()
    await realtime.clock.advance(60_000)
    client.sendBytes(new Uint8Array([0, 0, 0, 9, 0]))
    await expectBytesIn(6 + 5)
    await realtime.clock.advance(29_000)
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    await realtime.clock.advance(2000)
    expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: incomplete frame' })
  })

  test('[R-WS-4] the 30 s run on while a frame comes byte by byte', async () => {
    realtime = await startRealtime({ websocket: { heartbeat_interval_ms: 0 } })
    const client = await realtime.join()
    for (let sent = 1; sent <= 4; sent += 1) {
      client.sendBytes(new Uint8Array([sent === 4 ? 99 : 0]))
      await expectBytesIn(6 + sent)
      await realtime.clock.advance(7_400)
    }
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    await realtime.clock.advance(1000)
    expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: incomplete frame' })
  })

  test('[R-WS-4] the 30 s begin anew with every frame', async () => {
    realtime = await startRealtime({ websocket: { heartbeat_interval_ms: 0 } })
    const client = await realtime.join()
    client.sendBytes(new Uint8Array([0, 0, 0, 2, 0]))
    await expectBytesIn(6 + 5)
    await realtime.clock.advance(20_000)
    client.sendBytes(new Uint8Array([100, 0, 0, 0, 2, 0]))
    await expectBytesIn(6 + 11)
    await realtime.clock.advance(20_000)
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    await realtime.clock.advance(11_000)
    expect((await client.closed).reason).toBe('protocol error: incomplete frame')
  })

  test('[R-WS-4] the 30 s do not run while the server does not read', async () => {
    realtime = await startRealtime({
      websocket: { heartbeat_interval_ms: 0 },
      limits: { inbound_bytes_burst: 2000, inbound_bytes_per_sec: 100 },
    })
    realtime.script.kinds.add(100)
    const client = await realtime.join()
    const frame = encodeFrame(100, new Uint8Array(6000))
    client.sendBytes(Buffer.concat([frame, frame.subarray(0, 5)]))
    await expectBytesIn(6 + 6006 + 5)
    // The debt of 4,000 bytes is paid off after 40 s; the peer has its 30 s from then on.
    await realtime.clock.advance(65_000)
    client.sendBytes(frame.subarray(5))
    await expect.poll(() => messagesSeen().length, waiting).toBe(2)
  })

  test('[R-WS-5] a text message is a protocol error', async () => {
    realtime = await startRealtime()
    const client = await realtime.join()
    client.socket.send('text')
    expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: text message' })
    expect(realtime.gateway.metrics().decode_errors_total).toBe(1)
  })

  test('[R-WS-5] a message above the limit closes with 1009 and ends the participant', async () => {
    realtime = await startRealtime({ websocket: { max_message_bytes: 2000 } })
    const client = await realtime.join()
    client.sendBytes(new Uint8Array(2001))
    expect(await client.closed).toEqual({ code: 1009, reason: 'message too big' })
    await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['join 1', 'leave 1'])
  })

  test('[R-WS-5] a message of exactly the limit is taken', async () => {
    realtime = await startRealtime({ websocket: { max_message_bytes: 2000 } })
    realtime.script.kinds.add(100)
    const client = await realtime.join()
    client.sendBytes(encodeFrame(100, new Uint8Array(1994)))
    await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['join 1', 'message 1'])
  })

  test('[R-FR-1] a length above the limit closes before its body is there', async () => {
    realtime = await startRealtime({ limits: { max_envelope_bytes: 1024 } })
    const client = await realtime.join()
    client.sendBytes(new Uint8Array([0, 0, 4, 1]))
    expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: frame length' })
  })

  test('an unmasked frame closes the connection and ends the participant', async () => {
    realtime = await startRealtime()
    const raw = await opened()
    raw.socket.write(clientFrame(encodeFrame(5, bytesOf('t-ann'))))
    await raw.until('u-ann')
    raw.socket.write(clientFrame(encodeFrame(100, bytesOf('x')), { masked: false }))
    await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['join 1', 'leave 1'])
    await realtime.clock.advance(2000)
    await raw.ended
  })

  test('[R-WS-6] frames of one turn share a message, and a larger frame travels alone', async () => {
    realtime = await startRealtime()
    const client = await realtime.join()
    const send = (bytes: number) =>
      realtime.gateway.send({
        kind: 100,
        body: new Uint8Array(bytes),
        unreliable: false,
        participants: [1],
      })
    for (const bytes of [1, 2, 3]) send(bytes)
    await expect.poll(() => client.received.length, waiting).toBe(3)
    expect(client.messageBytes.slice(1)).toEqual([7 + 8 + 9])
    for (const bytes of [10, 70_000, 20, 30]) send(bytes)
    await expect.poll(() => client.received.length, waiting).toBe(7)
    expect(client.messageBytes.slice(2)).toEqual([16, 70_006, 62])
  })

  test('[R-FR-4] one frame for many is one message for each, byte for byte', async () => {
    realtime = await startRealtime()
    const clients = [await realtime.join(), await realtime.join(), await realtime.join()]
    const sizes = [0, 119, 120, 200, 65_529, 65_530, 90_000]
    for (const bytes of sizes) {
      const body = new Uint8Array(bytes).fill(bytes & 255)
      const command = { kind: 100, body, unreliable: false, sender: 0, except: [], room_id: null }
      realtime.gateway.broadcast(command)
      for (const client of clients) expect(hexOf((await client.next()).body)).toBe(hexOf(body))
    }
  })
})

describe('limits and liveness', () => {
  test('[R-LIM-3] an empty bucket stops reading, drops nothing and counts the pause', async () => {
    realtime = await startRealtime({
      limits: { inbound_envelope_burst: 10, inbound_envelopes_per_sec: 100 },
    })
    realtime.script.kinds.add(100)
    const client = await realtime.join()
    for (let index = 0; index < 40; index += 1) client.send(100, String(index))
    await expect.poll(() => messagesSeen().length, waiting).toBe(9)
    expect(realtime.gateway.metrics().inbound_paused_total).toBe(1)
    await realtime.clock.advance(100)
    await expect.poll(() => messagesSeen().length, waiting).toBe(19)
    await realtime.clock.advance(1000)
    const all = Array.from({ length: 40 }, (_, index) => String(index))
    await expect.poll(messagesSeen, waiting).toEqual(all)
  })

  test('[R-LIM-3] a flood of pings uses up the rate like envelopes do', async () => {
    realtime = await startRealtime({
      limits: { inbound_envelope_burst: 50, inbound_envelopes_per_sec: 100 },
    })
    const client = await realtime.join()
    let pongs = 0
    let last = ''
    client.socket.on('pong', (payload) => {
      pongs += 1
      last = payload.toString()
    })
    for (let count = 0; count < 200; count += 1) client.socket.ping(String(count))
    await expect.poll(() => realtime.gateway.metrics().inbound_paused_total, waiting).toBe(1)
    await expect.poll(() => pongs, waiting).toBeGreaterThan(0)
    await realtime.clock.advance(5000)
    await expect.poll(() => last, waiting).toBe('199')
    // Those that come in one turn are answered together.
    expect(pongs).toBeLessThan(100)
  })

  test('[R-LIM-3] pongs that nobody asked for use it up, and messages that bring no frame', async () => {
    const limits = { inbound_envelope_burst: 50, inbound_envelopes_per_sec: 100 }
    realtime = await startRealtime({ limits, websocket: { heartbeat_interval_ms: 0 } })
    const paused = () => realtime.gateway.metrics().inbound_paused_total
    const [ponging, empty] = [await realtime.join(), await realtime.join()]
    for (let count = 0; count < 60; count += 1) ponging.socket.pong()
    await expect.poll(paused, waiting).toBe(1)
    for (let count = 0; count < 60; count += 1) empty.sendBytes(new Uint8Array())
    await expect.poll(paused, waiting).toBe(2)
  })

  test('[R-BP-1] a peer that pings and does not read is not answered without bound', async () => {
    const limits = { inbound_envelopes_per_sec: 0, inbound_bytes_per_sec: 0 }
    realtime = await startRealtime({ limits })
    const client = await realtime.join()
    client.socket.pause()
    // More than the buffers of both systems hold.
    const pings = 200_000
    const payload = Buffer.alloc(125)
    for (let sent = 0; sent < pings; sent += 1) client.socket.ping(payload)
    client.send(44, new Uint8Array([1, 0, 0, 0, 0]))
    const allTaken = () => realtime.gateway.metrics().messages_in_total
    await expect.poll(allTaken, waiting).toBe(1)
    let pongs = 0
    client.socket.on('pong', () => {
      pongs += 1
    })
    client.socket.resume()
    await client.next()
    expect(pongs).toBeGreaterThan(0)
    expect(pongs).toBeLessThan(pings)
  })

  test('[R-LIV-1] a client that answers pings lives on in silence', async () => {
    realtime = await startRealtime()
    const client = await realtime.join()
    for (let count = 1; count <= 6; count += 1) {
      await realtime.clock.advance(15_000)
      const pongs = () => realtime.gateway.metrics().websocket_pongs_received_total
      await expect.poll(pongs, waiting).toBe(count)
    }
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    expect(realtime.gateway.metrics().websocket_pings_sent_total).toBe(6)
  })

  test('[R-LIV-1] a half-open connection is closed with 4006 and cut off', async () => {
    realtime = await startRealtime()
    const raw = await opened()
    raw.socket.write(clientFrame(encodeFrame(5, bytesOf('t-ann'))))
    await raw.until('u-ann')
    await realtime.clock.advance(59_000)
    expect(realtime.gateway.metrics()).toMatchObject({
      websocket_pings_sent_total: 1,
      websocket_liveness_timeouts_total: 0,
    })
    await realtime.clock.advance(2000)
    await raw.until('liveness timeout')
    expect(realtime.script.hooks()).toEqual(['join 1', 'leave 1'])
    await realtime.clock.advance(2000)
    await raw.ended
    expect(realtime.gateway.metrics().websocket_liveness_timeouts_total).toBe(1)
  })

  test('[R-LIV-1] an interval of 0 sends no pings, and nobody is closed for that', async () => {
    realtime = await startRealtime({ websocket: { heartbeat_interval_ms: 0 } })
    const client = await realtime.join()
    await realtime.clock.advance(600_000)
    expect(realtime.gateway.metrics()).toMatchObject({
      websocket_pings_sent_total: 0,
      websocket_liveness_timeouts_total: 0,
      participants_active: 1,
    })
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  test('[R-LIM-3] the liveness timer stands still during a pause', async () => {
    const limits = { inbound_bytes_per_sec: 1, inbound_bytes_burst: 100 }
    realtime = await startRealtime({ limits })
    const raw = await opened()
    raw.socket.write(clientFrame(encodeFrame(5, bytesOf('t-ann'))))
    await raw.until('u-ann')
    // The ping of 15 s stays unanswered; the connection is then paused for five minutes.
    await realtime.clock.advance(20_000)
    raw.socket.write(clientFrame(encodeFrame(100, new Uint8Array(403))))
    await expectBytesIn(11 + 409)
    await realtime.clock.advance(300_000)
    await realtime.clock.advance(39_000)
    expect(realtime.gateway.metrics()).toMatchObject({
      participants_active: 1,
      websocket_pings_sent_total: 1,
    })
    await realtime.clock.advance(2000)
    await raw.until('liveness timeout')
  })
})

describe('the end of a connection', () => {
  test.each([
    ['an abrupt reset', (raw: RawClient) => raw.socket.resetAndDestroy()],
    ['a half-close without a close frame', (raw: RawClient) => raw.socket.end()],
    [
      'a close frame',
      (raw: RawClient) => raw.socket.write(clientFrame(bytesOf(''), { opcode: 8 })),
    ],
  ])('%s ends the participant and frees everything', async (_name, leave) => {
    realtime = await startRealtime()
    const raw = await opened()
    raw.socket.write(clientFrame(encodeFrame(5, bytesOf('t-ann'))))
    await raw.until('u-ann')
    leave(raw)
    await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['join 1', 'leave 1'])
    await expect
      .poll(() => realtime.gateway.metrics(), waiting)
      .toMatchObject({
        connections_active: 0,
        participants_active: 0,
        sessions_active: 0,
      })
  })

  test('[R-CLS-2] a close whose reason is no UTF-8 is answered with 1007 and no seat', async () => {
    realtime = await startRealtime({ rooms: { reconnect_grace_ms: 10_000 } })
    const raw = await opened()
    raw.socket.write(clientFrame(encodeFrame(5, bytesOf('t-ann'))))
    await raw.until('u-ann')
    raw.socket.write(clientFrame(Buffer.from([0x0f, 0xa0, 0xc3, 0x28]), { opcode: 8 }))
    await raw.ended
    expect(hexOf(raw.received().subarray(-4))).toBe('880203ef')
    await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['join 1', 'leave 1'])
  })

  test('a close frame ends the participant although the peer keeps the connection', async () => {
    realtime = await startRealtime()
    const client = await realtime.connectRaw()
    client.socket.allowHalfOpen = true
    const serverEnded = once(client.socket, 'end')
    await client.until('\r\n\r\n')
    client.socket.write(clientFrame(encodeFrame(5, bytesOf(''))))
    client.socket.write(clientFrame(bytesOf(''), { opcode: 8 }))
    await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['join 1', 'leave 1'])
    await serverEnded
    await realtime.clock.advance(2000)
    await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
  })
})

async function opened(): Promise<RawClient> {
  const raw = await realtime.connectRaw()
  await raw.until('\r\n\r\n')
  return raw
}

async function expectBytesIn(bytes: number): Promise<void> {
  await expect.poll(() => realtime.gateway.metrics().bytes_in_total, waiting).toBe(bytes)
}

function messagesSeen(): string[] {
  return realtime.script.calls.flatMap((call) =>
    call.hook === 'message' ? [textOf(call.body)] : [],
  )
}

function slices(bytes: Buffer, cuts: number[]): Buffer[] {
  const points = [0, ...[...cuts].sort((a, b) => a - b), bytes.length]
  return points.slice(1).map((end, index) => bytes.subarray(points[index], end))
}

function fragments(part: Buffer): Buffer[] {
  const half = part.length >> 1
  return [
    clientFrame(part.subarray(0, half), { final: false }),
    clientFrame(bytesOf('ping'), { opcode: 9 }),
    clientFrame(part.subarray(half), { opcode: 0 }),
  ]
}
