import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Ring } from './ring.ts'

describe('a ring', () => {
  it('reads newest first and gives up the oldest', () => {
    const ring = new Ring<number>(3)
    expect([1, 2, 3].map((entry) => ring.push(entry))).toEqual([undefined, undefined, undefined])
    expect([...ring.newestFirst()]).toEqual([3, 2, 1])
    expect(ring.push(4)).toBe(1)
    expect([...ring.newestFirst()]).toEqual([4, 3, 2])
    expect(ring.take(2)).toEqual([2, 3])
    expect([ring.size, ring.shift(), ring.shift(), ring.size]).toEqual([1, 4, undefined, 0])
  })

  it.each([0, -1, 1.5, Number.NaN])('cannot have a capacity of %d', (capacity) => {
    expect(() => new Ring(capacity)).toThrow(RangeError)
  })

  it('behaves like a list that is cut at its capacity', () => {
    const step = fc.oneof(
      fc.record({ push: fc.nat() }),
      fc.record({ take: fc.integer({ min: 0, max: 5 }) }),
    )
    const property = fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(step, { maxLength: 60, size: 'max' }),
      (capacity, steps) => {
        const ring = new Ring<number>(capacity)
        const list: number[] = []
        for (const each of steps) {
          if ('push' in each) {
            const displaced = list.length === capacity ? list.shift() : undefined
            list.push(each.push)
            expect(ring.push(each.push)).toBe(displaced)
          } else expect(ring.take(each.take)).toEqual(list.splice(0, each.take))
          expect([...ring.newestFirst()]).toEqual(list.toReversed())
          expect(ring.size).toBe(list.length)
        }
      },
    )
    fc.assert(property)
  })
})
