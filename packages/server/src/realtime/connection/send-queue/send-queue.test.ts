import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { type OutgoingFrame, outgoingFrame } from '../../frames/outgoing-frame.ts'
import { createGatewayMetrics } from '../../metrics.ts'
import {
  bytesOf,
  type RealtimeFixture,
  startRealtime,
  transportConfig,
  waiting,
} from '../../realtime.fixture.ts'
import { upgradeRequest } from '../../websocket-bytes.fixture.ts'
import type { Connection, Lanes } from '../transports/transport.ts'
import { FrameQueue } from './frame-queue.ts'
import { SendQueue } from './send-queue.ts'

describe('the lanes of one connection', () => {
  test('[R-BP-1] the reliable lane is bounded by envelopes, up to the exact number', () => {
    const { queue, metrics } = queueWith({ reliable_queue_capacity: 3 })
    const fits = [1, 2, 3, 4].map(() => queue.queueReliable(frame(100, 'x')))
    expect(fits).toEqual([true, true, true, false])
    expect(metrics.reliable_queue_bytes).toBe(21)
  })

  test('[R-BP-1] the reliable lane is bounded by bytes, up to the exact byte', () => {
    const { queue } = queueWith({ reliable_queue_bytes: 14 })
    expect(queue.queueReliable(frame(100, 'xx'))).toBe(true)
    expect(queue.queueReliable(frame(100, 'x'))).toBe(false)
    expect(queue.queueReliable(frame(100, ''))).toBe(true)
  })

  test('[R-BP-1] an envelope counts only until the transport has taken it', () => {
    const { queue, transport, metrics, totals } = queueWith({ reliable_queue_capacity: 1 })
    queue.queueReliable(frame(100, 'x'))
    transport.room = 1
    expect(queue.queueReliable(frame(101, 'y'))).toBe(true)
    expect(transport.taken).toEqual([100])
    expect(metrics).toMatchObject({ messages_out_total: 1, bytes_out_total: 7 })
    expect([metrics.reliable_queue_bytes, totals.queuedBytes]).toEqual([7, 7])
  })

  test('[R-BP-2] a full unreliable lane drops its oldest entries', () => {
    const { queue, transport, metrics } = queueWith({ unreliable_queue_capacity: 2 })
    for (const kind of [100, 101, 102, 103]) queue.queueUnreliable(frame(kind, 'x'))
    transport.room = 10
    queue.transmit()
    expect(transport.taken).toEqual([102, 103])
    expect(metrics.unreliable_dropped_total).toBe(2)
  })

  test('[R-BP-2] the unreliable lane is bounded by bytes too', () => {
    const { queue, transport, metrics, totals } = queueWith({ unreliable_queue_bytes: 20 })
    for (const kind of [100, 101, 102]) queue.queueUnreliable(frame(kind, 'xx'))
    expect(totals.queuedBytes).toBe(16)
    transport.room = 10
    queue.transmit()
    expect([transport.taken, metrics.unreliable_dropped_total]).toEqual([[101, 102], 1])
    expect(totals.queuedBytes).toBe(0)
  })

  test('[R-BP-2] the newest position of a sender takes the place of the one that waits', () => {
    const { queue, metrics, totals } = queueWith({})
    for (const [sender, at] of [
      [41, 'a'],
      [42, 'b'],
      [41, 'cc'],
    ] as const) {
      queue.queueUnreliable(position(sender, at))
    }
    const waitingBodies = [0, 1].map((index) => queue.unreliable?.at(index)?.bytes.at(-1))
    expect(waitingBodies).toEqual([...bytesOf('cb')])
    expect(queue.unreliable?.length).toBe(2)
    expect(metrics.unreliable_coalesced_total).toBe(1)
    expect(totals.queuedBytes).toBe(queue.bytes)
  })

  test('[R-BP-2, R-DSP-2] of a round it takes the positions of others, in the place of older ones', () => {
    const { queue, transport, metrics, totals } = queueWith({})
    queue.queuePositions([position(42, 'own')], 42)
    expect(queue.unreliable).toBeUndefined()
    queue.queuePositions([position(41, 'a'), position(42, 'own'), position(43, 'c')], 42)
    expect([queue.unreliable?.length, totals.queuedBytes]).toEqual([2, queue.bytes])
    queue.queuePositions([position(43, 'd'), position(42, 'own'), position(44, 'e')], 42)
    const bodies = [0, 1, 2, 3].map((index) => queue.unreliable?.at(index)?.bytes.at(-1))
    expect(bodies).toEqual([...bytesOf('ade'), undefined])
    expect(metrics.unreliable_coalesced_total).toBe(1)
    transport.room = 10
    queue.transmit()
    expect(transport.taken).toEqual([2, 2, 2])
    expect([queue.bytes, totals.queuedBytes]).toEqual([0, 0])
  })

  test('[R-BP-2] a round that a lane cannot hold goes to the transport, and the oldest give way', () => {
    const { queue, transport, metrics, totals } = queueWith({ unreliable_queue_capacity: 2 })
    const round = [41, 42, 43, 44].map((sender) => position(sender, 'x'))
    transport.room = 1
    queue.queuePositions(round, 0)
    expect(transport.taken).toEqual([2])
    expect([queue.unreliable?.length, metrics.unreliable_dropped_total]).toEqual([2, 1])
    transport.room = 10
    queue.transmit()
    expect([transport.taken.length, totals.queuedBytes]).toEqual([3, 0])
    queue.queuePositions(round, 0)
    expect([transport.taken.length, metrics.unreliable_dropped_total]).toEqual([7, 1])
  })

  test('[R-BP-2] application kinds are never merged', () => {
    const { queue, metrics } = queueWith({})
    for (let count = 0; count < 3; count += 1) queue.queueUnreliable(frame(100, 'same body'))
    expect(queue.unreliable?.length).toBe(3)
    expect(metrics.unreliable_coalesced_total).toBe(0)
  })

  test('[R-MET-1] the bytes of all lanes are counted down to zero, whatever happens', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('reliable' as const), size: fc.nat(50) }),
        fc.record({ do: fc.constant('unreliable' as const), size: fc.nat(50) }),
        fc.record({ do: fc.constant('position' as const), size: fc.nat(5) }),
        fc.record({ do: fc.constant('round' as const), size: fc.nat(9) }),
        fc.record({ do: fc.constant('transmit' as const), size: fc.nat(5) }),
      ),
    )
    fc.assert(
      fc.property(steps, (list) => {
        const { queue, transport, metrics, totals } = queueWith({
          reliable_queue_capacity: 10,
          unreliable_queue_capacity: 5,
          unreliable_queue_bytes: 200,
        })
        for (const step of list) {
          if (step.do === 'reliable') queue.queueReliable(frame(100, 'x'.repeat(step.size)))
          if (step.do === 'unreliable') queue.queueUnreliable(frame(100, 'x'.repeat(step.size)))
          if (step.do === 'position') queue.queueUnreliable(position(step.size, 'x'))
          if (step.do === 'round') {
            const senders = Array.from({ length: step.size }, (_, sender) => sender + 1)
            queue.queuePositions(
              senders.map((sender) => position(sender, 'xy')),
              step.size,
            )
          }
          if (step.do === 'transmit') {
            transport.room = step.size
            queue.transmit()
            transport.room = 0
          }
          expect(totals.queuedBytes).toBe(queue.bytes)
          expect(metrics.reliable_queue_bytes).toBe(queue.reliable?.bytes ?? 0)
        }
        queue.discard()
        expect([totals.queuedBytes, metrics.reliable_queue_bytes]).toEqual([0, 0])
      }),
    )
  })
})

test('a queue gives back what was put in, in order and with its bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(40), fc.constant(-1), fc.constant(-3))), (steps) => {
      const queue = new FrameQueue()
      const model: number[] = []
      for (const step of steps) {
        if (step >= 0) {
          queue.push(frame(100, 'x'.repeat(step)))
          model.push(step + 6)
        } else {
          const gone = model.splice(0, -step)
          expect(queue.drop(-step)).toBe(gone.reduce((sum, size) => sum + size, 0))
        }
        expect(queue.length).toBe(model.length)
        expect(queue.bytes).toBe(model.reduce((sum, size) => sum + size, 0))
        expect(queue.at(0)?.bytes.length).toBe(model[0])
        expect(queue.at(model.length - 1)?.bytes.length).toBe(model.at(-1))
      }
    }),
  )
})

describe('slow consumers', () => {
  let realtime: RealtimeFixture
  afterEach(() => realtime.close())

  test('[R-BP-1] a peer that does not read is closed with 4008 and leaves', async () => {
    realtime = await startRealtime({ limits: { reliable_queue_bytes: 65_536 } })
    const raw = await stuckClient()
    const other = await realtime.join()
    const body = new Uint8Array(60_000)
    for (let count = 0; count < 400; count += 1) {
      realtime.gateway.send({ kind: 100, body, unreliable: false, participants: [1] })
      await realtime.clock.advance(0)
    }
    expect(realtime.script.hooks()).toEqual(['join 1', 'join 2', 'leave 1'])
    expect(realtime.gateway.metrics()).toMatchObject({
      slow_consumer_closes_total: 1,
      reliable_queue_bytes: 0,
    })
    await realtime.clock.advance(2000)
    raw.socket.resume()
    await raw.ended
    expect(other.isOpen()).toBe(true)
  })

  test('[R-BP-3] unreliable frames wait behind a full buffer and are merged or dropped', async () => {
    realtime = await startRealtime({ limits: { unreliable_queue_capacity: 4 } })
    await stuckClient()
    const body = new Uint8Array(60_000)
    for (let count = 0; count < 400; count += 1) {
      realtime.gateway.send({ kind: 100, body, unreliable: true, participants: [1] })
      await realtime.clock.advance(0)
    }
    expect(realtime.gateway.metrics().unreliable_dropped_total).toBeGreaterThan(0)
    expect(realtime.script.hooks()).toEqual(['join 1'])
  })

  test('[R-BP-4] above the total the connection with the most bytes goes first', async () => {
    // So large that the lane of one alone closes nobody.
    const reliable_queue_bytes = 100_000_000
    realtime = await startRealtime({
      limits: { max_queued_bytes_total: 2_000_000, reliable_queue_bytes },
    })
    await stuckClient()
    await stuckClient()
    const fill = async (participant: number, count: number) => {
      const body = new Uint8Array(60_000)
      for (let index = 0; index < count; index += 1) {
        realtime.gateway.send({ kind: 100, body, unreliable: false, participants: [participant] })
        await realtime.clock.advance(0)
      }
    }
    while (realtime.gateway.metrics().reliable_queue_bytes < 300_000) await fill(1, 1)
    const queuedByFirst = realtime.gateway.metrics().reliable_queue_bytes
    while (realtime.gateway.metrics().slow_consumer_closes_total === 0) {
      await fill(2, 1)
      expect(realtime.gateway.metrics().reliable_queue_bytes).toBeLessThanOrEqual(2_000_000)
    }
    expect(realtime.script.hooks()).toEqual(['join 1', 'join 2', 'leave 2'])
    expect(realtime.gateway.metrics().reliable_queue_bytes).toBe(queuedByFirst)
  })

  test('[R-BP-4] one turn that fills all queues closes nobody who can take it', async () => {
    realtime = await startRealtime({ limits: { max_queued_bytes_total: 1_048_576 } })
    const clients = [await realtime.join(), await realtime.join(), await realtime.join()]
    for (let count = 0; count < 12; count += 1) {
      const body = new Uint8Array(60_000)
      const command = { kind: 100, body, unreliable: false, sender: 0, except: [], room_id: null }
      realtime.gateway.broadcast(command)
    }
    for (const { received } of clients) await expect.poll(() => received.length, waiting).toBe(12)
    expect(realtime.gateway.metrics().slow_consumer_closes_total).toBe(0)
  })

  test('[R-BP-5] a peer that reads late gets every reliable frame, in order and whole', async () => {
    realtime = await startRealtime({ limits: { reliable_queue_bytes: 100_000_000 } })
    const client = await realtime.join()
    client.pause()
    const sent = 1500
    for (let index = 0; index < sent; index += 1) {
      const body = new Uint8Array(15_000 + index).fill(index & 255)
      realtime.gateway.send({ kind: 1000 + index, body, unreliable: false, participants: [1] })
      if (index % 7 === 0) await realtime.clock.advance(0)
    }
    expect(realtime.gateway.metrics().reliable_queue_bytes).toBeGreaterThan(0)
    client.resume()
    await expect.poll(() => client.received.length, waiting).toBe(sent)
    client.received.forEach(({ kind, body }, index) => {
      const whole = body.every((byte) => byte === (index & 255))
      expect([kind, body.length, whole]).toEqual([1000 + index, 15_000 + index, true])
    })
    expect(Math.max(...client.messageBytes)).toBeLessThanOrEqual(65_536)
  })

  test('[R-BP-3] an unreliable frame leaves only when no reliable one waits', async () => {
    realtime = await startRealtime()
    const client = await realtime.join()
    const send = (kind: number, unreliable: boolean) => {
      const body = new Uint8Array(unreliable ? 10 : 40_000)
      realtime.gateway.send({ kind, body, unreliable, participants: [1] })
    }
    send(200, true)
    send(201, true)
    send(100, false)
    send(101, false)
    await expect
      .poll(() => client.received.map(({ kind }) => kind), waiting)
      .toEqual([100, 101, 200, 201])
  })

  test('[R-MET-2] the high water is the largest lane of the last whole minute', async () => {
    realtime = await startRealtime({ websocket: { heartbeat_interval_ms: 0 } })
    await realtime.join()
    const command = { kind: 100, unreliable: false, participants: [1] }
    realtime.gateway.send({ ...command, body: new Uint8Array(994) })
    expect(realtime.gateway.metrics().reliable_queue_high_water_bytes).toBe(0)
    await realtime.clock.advance(60_000)
    expect(realtime.gateway.metrics().reliable_queue_high_water_bytes).toBe(1000)
    await realtime.clock.advance(60_000)
    expect(realtime.gateway.metrics().reliable_queue_high_water_bytes).toBe(0)
  })

  test('[R-CLS-2] what is queued has a second to leave, and the peer two more', async () => {
    realtime = await startRealtime()
    await stuckClient()
    const { metrics } = realtime.gateway
    const command = { kind: 100, unreliable: false, participants: [1] }
    while (metrics().reliable_queue_bytes < 300_000) {
      realtime.gateway.send({ ...command, body: new Uint8Array(60_000) })
      await realtime.clock.advance(0)
    }
    const closed = realtime.gateway.close()
    await realtime.clock.advance(999)
    expect(metrics().reliable_queue_bytes).toBeGreaterThan(0)
    await realtime.clock.advance(1)
    expect(metrics().reliable_queue_bytes).toBe(0)
    await realtime.clock.advance(1999)
    expect(metrics().connections_active).toBe(1)
    await realtime.clock.advance(1)
    await closed
    expect(metrics().connections_active).toBe(0)
  })

  /** A guest that reads its AUTH_RESULT and nothing after it. */
  async function stuckClient() {
    const raw = await realtime.connectRaw(upgradeRequest())
    await raw.until('\r\n\r\n')
    raw.socket.write(Buffer.from([0x82, 0x86, 0, 0, 0, 0, 0, 0, 0, 2, 0, 5]))
    await raw.until('\x82\x07\x00\x00\x00\x03\x00\x06\x01')
    raw.socket.pause()
    return raw
  }
})

function queueWith(limits: Parameters<typeof transportConfig>[0]['limits'] & object) {
  const metrics = createGatewayMetrics()
  const totals = { queuedBytes: 0, highWaterBytes: 0 }
  const transport = createNarrowTransport()
  const config = transportConfig({ limits })
  const queue = new SendQueue(transport, { limits: config.limits, metrics, totals })
  return { queue, transport, metrics, totals }
}

/** A transport that takes as many frames as there is room, reliable ones first. */
function createNarrowTransport(): Connection & { room: number; taken: number[] } {
  const transport = {
    limitGroup: undefined,
    datagrams: undefined,
    room: 0,
    get credit() {
      return transport.room
    },
    taken: [] as number[],
    write({ reliable, unreliable }: Lanes) {
      const lane = reliable?.length ? reliable : unreliable
      const frame = lane?.at(0)
      if (frame === undefined) return
      transport.taken.push(kindOf(frame))
      transport.room -= 1
      lane?.drop(1)
    },
    pauseReading() {},
    resumeReading() {},
    close() {},
    destroy() {},
  }
  return transport
}

function kindOf({ bytes }: OutgoingFrame): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint16(4)
}

function frame(kind: number, text: string): OutgoingFrame {
  return outgoingFrame(kind, bytesOf(text))
}

function position(sender: number, text: string): OutgoingFrame {
  const body = Buffer.alloc(8)
  body.writeBigUInt64BE(BigInt(sender))
  return outgoingFrame(2, Buffer.concat([body, bytesOf(text)]))
}
