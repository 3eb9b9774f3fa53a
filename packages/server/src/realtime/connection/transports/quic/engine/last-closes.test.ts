import { expect, test } from 'vitest'
import { LastCloses } from './last-closes.ts'
import { keyOf } from './routes.ts'

const address = '192.0.2.1:1'

test('[R-QU-7] a close is said again ever more seldom, and not after ten seconds', () => {
  const closes = new LastCloses()
  const [close, packet] = [new Uint8Array(1), packetFor(0)]
  closes.add(keyOf(packet, address), close, 0)
  const saidAt: number[] = []
  for (let nowMs = 0; nowMs < 20_000; nowMs += 5) {
    if (closes.answer(packet, address, nowMs) === close) saidAt.push(nowMs)
  }
  expect(saidAt).toEqual([10, 30, 70, 150, 310, 630, 1270, 2550, 5110])
  closes.add(keyOf(packet, address), close, 0)
  expect(closes.answer(packet, address, 9_999)).toBe(close)
  closes.add(keyOf(packet, address), close, 0)
  expect(closes.answer(packet, address, 10_000)).toBeUndefined()
})

test('[R-QU-7] of more closes than a thousand the newest are kept, each for its own packets', () => {
  const closes = new LastCloses()
  const all = Array.from({ length: 1001 }, (_, id) => ({ id, close: new Uint8Array(1) }))
  for (const { id, close } of all) closes.add(keyOf(packetFor(id), address), close, 0)
  const said = all.map(({ id }) => closes.answer(packetFor(id), address, 10))
  expect(said[0]).toBeUndefined()
  expect(all.slice(1).every(({ id, close }) => said[id] === close)).toBe(true)
  expect(closes.answer(packetFor(5), '192.0.2.1:2', 100)).toBeUndefined()
})

/** With a short header and the id of a connection. */
function packetFor(id: number): Uint8Array {
  const packet = Buffer.alloc(30)
  packet[0] = 0x40
  packet.writeUInt32BE(id, 1)
  return packet
}
