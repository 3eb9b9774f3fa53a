import fc from 'fast-check'
import { expect, it } from 'vitest'
import { boundBetween, placeOf, textOfPlace } from './place.ts'

const int64 = fc.oneof(
  fc.bigInt({ min: -3n, max: 3n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, -256n, 255n, 256n),
)
const user_id = fc.string({ unit: 'binary', minLength: 1, maxLength: 4 })
const standing = fc.record({ score: int64, subscore: int64, user_id })

it('[H-LDB-4] a place compares as interface.md ranks: score, subscore, then the id', () => {
  fc.assert(
    fc.property(fc.constantFrom('asc', 'desc'), standing, standing, (sort, a, b) => {
      const scores = [a.score - b.score, a.subscore - b.subscore].map(
        (difference) => Number(difference > 0n) - Number(difference < 0n),
      )
      const byScore = (scores[0] || scores[1] || 0) * (sort === 'asc' ? 1 : -1)
      const byId = Buffer.compare(Buffer.from(a.user_id), Buffer.from(b.user_id))
      const compared = Buffer.compare(placeOf(sort, a), placeOf(sort, b))
      expect(Math.sign(compared)).toBe(Math.sign(byScore || byId))
    }),
    { numRuns: 2000 },
  )
})

it('[H-LDB-4] a place that came back as plain bytes has the same text', () => {
  fc.assert(
    fc.property(standing, standing, (a, b) => {
      const [first, second] = [placeOf('asc', a), placeOf('asc', b)]
      expect(textOfPlace(new Uint8Array(first))).toBe(textOfPlace(first))
      const isSame = Buffer.compare(first, second) === 0
      expect(textOfPlace(first) === textOfPlace(second)).toBe(isSame)
    }),
  )
})

it('[H-LDB-4] a bound between two places lies behind the first, and no shorter one does', () => {
  fc.assert(
    fc.property(fc.constantFrom('asc', 'desc'), standing, standing, (sort, a, b) => {
      const [last, next] = [placeOf(sort, a), placeOf(sort, b)].sort(Buffer.compare)
      if (last === undefined || next === undefined || !Buffer.compare(last, next)) return
      const bound = boundBetween(last, next)
      expect(Buffer.compare(last, bound)).toBe(-1)
      expect(Buffer.compare(bound, next)).not.toBe(1)
      expect(Buffer.compare(last, bound.subarray(0, -1))).not.toBe(-1)
    }),
    { numRuns: 2000 },
  )
})
