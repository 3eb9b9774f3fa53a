import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide } from './admission.verdicts.ts'

const window = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), limit: fc.constant(0) })
/** Windows of one name have one limit, as those of one rule do. */
const limits: Readonly<Record<string, number>> = { a: 1, b: 3, c: 10, d: 1000 }
const plan = fc
  .uniqueArray(window, { minLength: 1, maxLength: 3, selector: ({ id }) => id })
  .map((slots) => slots.map(({ id }) => ({ id, limit: limits[id] ?? 0 })))
const bodies = fc.array(
  plan.map((slots) => ({ slots, change: 1 as const })),
  { maxLength: 60 },
)
const start = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(12)).map((taken) => {
  return new Map(Object.entries(taken))
})

describe('the verdicts of admission', () => {
  it('[H-ADM-1] are those of a model that looks at one request at a time', () => {
    fc.assert(
      fc.property(bodies, start, (requests, before) => {
        const model = new Map(before)
        const { verdicts, taken } = decide(requests, before)
        for (const [index, { slots }] of requests.entries()) {
          const full = slots.filter(({ id, limit }) => (model.get(id) ?? 0) + 1 > limit)
          expect(verdicts[index]).toBe(full[0])
          if (full.length === 0) for (const { id } of slots) model.set(id, (model.get(id) ?? 0) + 1)
        }
        expect(taken).toEqual(model)
      }),
    )
  })

  it('[H-ADM-1] never take more than a limit, nor change what they were given', () => {
    fc.assert(
      fc.property(bodies, start, (requests, before) => {
        const copy = new Map(before)
        const { taken } = decide(requests, before)
        expect(before).toEqual(copy)
        for (const [id, count] of taken) {
          expect(count).toBeLessThanOrEqual(Math.max(limits[id] ?? 0, before.get(id) ?? 0))
        }
      }),
    )
  })

  it('[H-CON-2] leave no trace of what was taken and given back', () => {
    fc.assert(
      fc.property(bodies, start, (requests, before) => {
        const { verdicts, taken } = decide(requests, before)
        const admitted = requests.filter((_, index) => verdicts[index] === undefined)
        const returned = admitted.map(({ slots }) => ({ slots, change: -1 as const }))
        const after = decide(returned, taken)
        expect(after.verdicts).toEqual(returned.map(() => undefined))
        for (const id of ['a', 'b', 'c', 'd']) {
          expect(after.taken.get(id) ?? 0).toBe(before.get(id) ?? 0)
        }
      }),
    )
  })

  it('[H-CON-2] take back what was taken under a limit that has been lowered since', () => {
    const slots = [{ id: 'a', limit: 1 }]
    const { verdicts, taken } = decide([{ slots, change: -1 }], new Map([['a', 5]]))
    expect([verdicts, taken.get('a')]).toEqual([[undefined], 4])
    expect(decide([{ slots, change: -1 }], new Map()).taken.get('a')).toBe(0)
  })
})
