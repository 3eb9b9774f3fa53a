import { expect, test } from 'vitest'
import { Holdings } from './holdings.ts'

const KiB = 1024
const idleBytes = 64 * KiB
const max = 64 * 1024 * KiB
type Held = { heldBytes: number; isClosed: boolean; group: string }

test('[R-QU-7] while the memory has room nobody is looked at', () => {
  const holdings = holdingsOf((max * 13) / 16)
  const peer = {
    ...holding(0),
    get heldBytes() {
      return expect.unreachable()
    },
  }
  expect(holdings.excess([peer])).toEqual([])
  expect(holdings.isFull).toBe(false)
})

test('[R-QU-7, R-QU-12] connections that hold nothing stay, and no more begin than there is room', () => {
  const holdings = holdingsOf(max)
  const idle = (count: number) => Array.from({ length: count }, () => holding(0))
  const most = (max * 13) / 16 / idleBytes
  expect(holdings.excess(idle(most))).toEqual([])
  expect(holdings.isFull).toBe(false)
  look(holdings)
  expect(holdings.excess(idle(most + 1))).toEqual([])
  expect(holdings.isFull).toBe(true)
  // Those that leave make room, which is seen with the next tick.
  expect(holdings.excess([])).toEqual([])
  expect(holdings.isFull).toBe(true)
  holdings.tick()
  expect(holdings.excess([])).toEqual([])
  expect(holdings.isFull).toBe(false)
})

test('[R-QU-7] who holds most ends first, and no more end than have to', () => {
  const holdings = holdingsOf(max)
  const most = holding(8 * 1024 * KiB)
  const much = Array.from({ length: 14 }, () => holding(4 * 1024 * KiB - idleBytes))
  const little = Array.from({ length: 20 }, () => holding(16 * KiB))
  const ended = holdings.excess([...little, ...much, most])
  expect(ended[0]).toBe(most)
  expect(ended.slice(1)).toEqual(much.slice(0, ended.length - 1))
  expect(ended).toHaveLength(3)
  // What it held is free, so that there is room for others.
  expect(holdings.isFull).toBe(false)
  // One that has ended already does not end again.
  const hoard = { ...holding(max), isClosed: true }
  look(holdings)
  expect(holdings.excess([hoard, ...little])).toEqual([])
  expect(holdings.isFull).toBe(true)
})

test('[R-QU-7] many small ones of one address end before a large one of another', () => {
  const holdings = holdingsOf(max)
  const honest = holding(8 * 1024 * KiB)
  const many = Array.from({ length: 300 }, () => holding(160 * KiB, 'crowd'))
  const ended = holdings.excess([honest, ...many])
  expect(ended.length).toBeGreaterThan(0)
  expect(new Set(ended.map(({ group }) => group))).toEqual(new Set(['crowd']))
})

test('[R-QU-7] it is looked at again once as much may have come as there was room for', () => {
  let looks = 0
  const holdings = holdingsOf(max)
  const peer = {
    ...holding(0),
    get heldBytes() {
      looks += 1
      return 0
    },
  }
  const rounds = (step: () => void) => {
    looks = 0
    for (let count = 0; count < 1000; count += 1) {
      step()
      holdings.excess([peer])
    }
    return looks
  }
  holdings.excess([peer])
  // 64 MiB: packets of 1,472 bytes in 1,140 pieces each, and messages that leave in small packets.
  expect(rounds(() => holdings.received(1472))).toBe(0)
  expect(rounds(() => holdings.received(1472))).toBe(1)
  expect(rounds(() => holdings.sent(64 * KiB))).toBeGreaterThanOrEqual(3)
})

/** Of an engine that takes nothing itself, whose memory has become so large. */
function holdingsOf(bytes: number): Holdings<Held> {
  let memoryBytes = 0
  const holdings = new Holdings<Held>(() => memoryBytes, max)
  memoryBytes = bytes
  return holdings
}

let made = 0

/** Of an address that has no other one, if none is given. */
function holding(heldBytes: number, group = `address ${made++}`): Held {
  return { heldBytes, isClosed: false, group }
}

/** Lets so much come that it is looked at again. */
function look(holdings: Holdings<Held>): void {
  holdings.received(max)
}
