import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from './clock.fake.ts'
import { createIds, newBootId, type Randomness } from './ids.ts'

const startUnixMs = 1_763_700_000_123

function open({ nodeId = 'dev-1', bootId = 'bt1-0a', randomness }: Partial<Options> = {}) {
  const clock = createFakeClock({ startUnixMs })
  const ids = createIds({ clock, nodeId, bootId, ...(randomness && { randomness }) })
  return { clock, ids }
}

type Options = { nodeId: string; bootId: string; randomness: Randomness }

/** The bytes 1, 2, 3, ... without end. */
function countingRandomness(): Randomness {
  let last = 0
  return (size) => Buffer.from(Array.from({ length: size }, () => (last = (last + 1) % 256)))
}

describe('ids', () => {
  it('[H-ID-1] have their form', () => {
    const { ids } = open()
    expect(ids.accountId()).toMatch(/^user-[0-9a-f]{32}$/)
    expect(ids.refreshToken()).toMatch(/^gh\.refresh\.[A-Za-z0-9_-]{43}$/)
    expect(ids.consoleToken()).toMatch(/^[0-9a-f]{64}$/)
    expect(ids.hex128()).toMatch(/^[0-9a-f]{32}$/)
    expect(newBootId()).toMatch(/^bt1-[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  })

  it('[H-ID-1] [O-ID-3] take every bit of their secrets from the source of randomness', () => {
    const bytes = Buffer.from(Array.from({ length: 64 }, (_, index) => index + 1))
    const { ids } = open({ randomness: countingRandomness() })
    expect(ids.refreshToken()).toBe(`gh.refresh.${bytes.subarray(0, 32).toString('base64url')}`)
    expect(ids.consoleToken()).toBe(bytes.subarray(32, 64).toString('hex'))
  })

  it('[H-ID-1] of accounts are UUIDs of version 7, so their order is that of their time', async () => {
    const { clock, ids } = open({ randomness: countingRandomness() })
    const first = ids.accountId()
    expect(first).toBe(`user-${startUnixMs.toString(16).padStart(12, '0')}7102830405060708090a`)
    await clock.advance(1)
    expect(ids.accountId() > first).toBe(true)
  })

  it('[R-GEN-5] that last are time, salt of node and boot, and a sequence', () => {
    const { ids } = open({ nodeId: 'eu-1', bootId: 'bt1-77' })
    const salt = createHash('sha256').update('eu-1bt1-77').digest('hex').slice(0, 4)
    const time = startUnixMs.toString(16).padStart(13, '0')
    expect(ids.durable('mt1-')).toBe(`mt1-${time}${salt}000000000001`)
    expect(ids.durable('ml1-')).toBe(`ml1-${time}${salt}000000000002`)
    expect(ids.durable('au1-')).toHaveLength(33)
  })

  it('[R-GEN-5] [O-ID-3] that last keep their order whatever the wall clock does', async () => {
    const step = fc.oneof(fc.nat(5000), fc.integer({ min: -10_000_000, max: -1 }))
    const property = fc.property(fc.array(step), (steps) => {
      const { clock, ids } = open()
      const made = [ids.durable('au1-')]
      for (const each of steps) {
        clock.setWall(clock.nowUnixMs() + each)
        made.push(ids.durable('au1-'))
      }
      expect(made.toSorted()).toEqual(made)
      expect(new Set(made).size).toBe(made.length)
    })
    fc.assert(property)
  })
})

describe('the pool of randomness', () => {
  it('never hands out the same bytes twice, across its refills', () => {
    const { ids } = open()
    const drawn = Array.from({ length: 2000 }, () => ids.hex128())
    expect(new Set(drawn).size).toBe(drawn.length)
  })

  it('gives bytes that belong to the caller, of any size', () => {
    const { ids } = open()
    const first = ids.bytes(16)
    const copy = Buffer.from(first)
    for (let draw = 0; draw < 1000; draw += 1) ids.bytes(16).fill(0)
    expect(first).toEqual(copy)
    expect([0, 1, 4096, 4097, 100_000].map((size) => ids.bytes(size).length)).toEqual([
      0, 1, 4096, 4097, 100_000,
    ])
    expect(ids.bytes(100_000).every((byte) => byte === 0)).toBe(false)
  })

  it('numbers requests under a name of the boot, 32 hex digits in all', () => {
    const one = createIds({ clock: createFakeClock(), nodeId: 'n', bootId: 'b' })
    const other = createIds({ clock: createFakeClock(), nodeId: 'n', bootId: 'b' })
    const ids = [one.requestId(), one.requestId(), other.requestId(), other.requestId()]
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
  })
})
