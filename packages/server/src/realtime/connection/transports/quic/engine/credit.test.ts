import { expect, test } from 'vitest'
import { createSystemClock } from '../../../../../kernel/clock.ts'
import { transportBufferBytesMax } from '../../transport.ts'
import { type Batch, BatchWriter, isBatch, readBatch } from './batch.ts'
import type { CoreServer } from './core.ts'
import { commands, datagramsMax, engineCounterNames, reports } from './engine.ts'
import { createEngine } from './engine-thread.ts'
import { Peer } from './peer.ts'

const at = { host: '127.0.0.1', address: '127.0.0.1:1', key: '', handle: 1 }

test('[R-TR-3] what was read is reported with the next command, and by itself once it is much', async () => {
  const heard: [kind: number, value: number][][] = []
  let report = (_batch: Batch) => {}
  const engine = createEngine({
    line: {
      postMessage: (message) => void (isBatch(message) && heard.push(rowsOf(message))),
      onMessage(take) {
        report = take
      },
      ended: new Promise(() => {}),
      terminate() {},
    },
    counters: new SharedArrayBuffer(engineCounterNames.length * 8),
    address: { host: '127.0.0.1', port: 7351 },
    events: new Proxy({}, { get: () => () => true }) as never,
    clock: createSystemClock(),
  })
  report(dataOf(1000))
  report(dataOf(500))
  await Promise.resolve()
  expect(heard).toEqual([])
  engine.pause(1)
  await Promise.resolve()
  report(dataOf(2 ** 20))
  await Promise.resolve()
  expect(heard).toEqual([
    [
      [commands.pause, 0],
      [commands.read, 1500],
    ],
    [[commands.read, 2 ** 20]],
  ])
})

test('[R-TR-3, R-QU-2] what has left is reported by the quarter of what the node may give', () => {
  const server = { send: () => true, datagram: () => true } as unknown as CoreServer
  const peer = new Peer(1, { ...at, server })
  const part = new Uint8Array(transportBufferBytesMax / 8)
  peer.send({ stream: 3, bytes: part, fin: false }, 0)
  expect(peer.takenToReport()).toBeUndefined()
  peer.send({ stream: 3, bytes: part, fin: false }, 0)
  expect(peer.takenToReport()).toEqual({ value: 2 * part.length, stream: 0 })
  for (let count = 0; count < datagramsMax / 4; count += 1) {
    expect(peer.takenToReport()).toBeUndefined()
    peer.datagram(part)
  }
  expect(peer.takenToReport()).toEqual({ value: 0, stream: datagramsMax / 4 })
  expect(peer.takenToReport()).toBeUndefined()
})

test('[R-QU-7, R-BP-1] while the peer has a buffer to acknowledge the engine is given no more', () => {
  let waiting = 0
  const given: number[] = []
  const send = (_handle: number, _stream: number, { length }: Uint8Array) => {
    given.push(length)
    waiting += length
    return true
  }
  const memoryOf = () => ({ unacknowledgedBytes: () => waiting })
  const server = { send, memoryOf } as unknown as CoreServer
  const peer = new Peer(1, { ...at, server })
  peer.send({ stream: 3, bytes: new Uint8Array(2 * transportBufferBytesMax), fin: true }, 0)
  expect(waiting).toBe(transportBufferBytesMax)
  expect(Math.max(...given)).toBe(16 * 1024)
  expect([peer.awaitsPeer, peer.isDrained]).toEqual([true, false])
  waiting -= 96 * 1024
  peer.flush(0)
  expect(waiting).toBe(transportBufferBytesMax)
  waiting = 0
  peer.flush(0)
  expect(peer.isDrained).toBe(true)
  expect(waiting).toBe(transportBufferBytesMax - 96 * 1024)
})

test('[R-QU-5] of a paused peer 64 packets are kept, the first ones and the newest', () => {
  const peer = new Peer(1, { ...at, server: {} as CoreServer })
  peer.held = []
  const packets = Array.from({ length: 66 }, (_, at) => Uint8Array.of(at))
  const kept = packets.map((packet) => peer.hold(packet))
  expect(kept).toEqual(packets.map((_, at) => at < 64))
  expect(peer.release(0)).toEqual(packets[0])
  expect(peer.resume()).toEqual([...packets.slice(1, 63), packets[65]])
})

test('[R-QU-11, R-CLS-2] a close waits for what the peer has not acknowledged, a second at most', () => {
  let waiting = 10
  const memoryOf = () => ({ unacknowledgedBytes: () => waiting })
  const roundTripMs = () => 40
  const server = { send: () => true, memoryOf, roundTripMs } as unknown as CoreServer
  const peer = new Peer(1, { ...at, server })
  peer.send({ stream: 3, bytes: new Uint8Array(waiting), fin: false }, 500)
  peer.beginClose({ code: 4004, reason: new Uint8Array(), drains: true }, 520)
  expect(peer.closeAtMs()).toBe(1520)
  waiting = 0
  expect(peer.closeAtMs()).toBe(620)
})

test('[R-TR-3, R-QU-2] of datagrams that left while others wait each is reported', () => {
  let room = 10
  const datagram = () => room-- > 0
  const server = { datagram } as unknown as CoreServer
  const peer = new Peer(1, { ...at, server })
  for (let count = 0; count < datagramsMax; count += 1) peer.datagram(new Uint8Array(1))
  expect(peer.takenToReport()).toEqual({ value: 0, stream: 10 })
  expect(peer.flushDatagrams()).toBe(false)
  expect(peer.takenToReport()).toBeUndefined()
  expect(peer.hasDatagrams).toBe(true)
  room = datagramsMax
  expect(peer.flushDatagrams()).toBe(true)
  expect(peer.takenToReport()).toEqual({ value: 0, stream: datagramsMax - 10 })
  expect(peer.hasDatagrams).toBe(false)
})

function dataOf(length: number): Batch {
  const writer = new BatchWriter()
  writer.add(reports.data, 1, { stream: 0, bytes: new Uint8Array(length) })
  return writer.take()
}

function rowsOf(batch: Batch): [kind: number, value: number][] {
  const rows: [kind: number, value: number][] = []
  readBatch(batch, ({ kind, value }) => rows.push([kind, value]))
  return rows
}
