import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Candidate, fitsBoth, type ScanResult, scan } from './scan.ts'

type Player = Candidate & { id: number; region: number; wants: number }

const player = fc
  .record({
    region: fc.nat(1),
    wants: fc.nat(2),
    size: fc.integer({ min: 1, max: 3 }),
    minCount: fc.integer({ min: 2, max: 5 }),
    more: fc.nat(4),
    countMultiple: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ more, ...rest }) => ({ ...rest, maxCount: rest.minCount + more }))

const pools = fc.array(player, { minLength: 1, maxLength: 7 }).map((made) =>
  made.map(
    (one, id): Player => ({
      ...one,
      id,
      // 2 takes everybody.
      accepts: (other) => one.wants === 2 || (other as Player).region === one.wants,
    }),
  ),
)

const bounds = { membersMax: 6, isWaiting: () => true, mustPause: () => false }

function run(seed: Player, others: readonly Player[], longEnough: boolean): ScanResult<Player> {
  const steps = scan(seed, others, { ...bounds, longEnough })
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Every legal size of a group, counted out. */
function legalSizes(group: readonly Player[]): number[] {
  return Array.from({ length: bounds.membersMax }, (_, index) => index + 1).filter((size) =>
    group.every(
      ({ minCount, maxCount, countMultiple }) =>
        size >= minCount && size <= maxCount && size % countMultiple === 0,
    ),
  )
}

const sum = (group: readonly Player[]) => group.reduce((total, { size }) => total + size, 0)
const allFit = (group: readonly Player[]) =>
  group.every((one) => group.every((other) => one === other || fitsBoth(one, other)))

/** What the rule says, step by step, with lists of sizes instead of arithmetic. */
function expected(
  seed: Player,
  others: readonly Player[],
  longEnough: boolean,
): number[] | undefined {
  let group = [seed]
  let best: Player[] | undefined = legalSizes(group).includes(sum(group)) ? group : undefined
  for (const other of others.filter((one) => one !== seed)) {
    if (sum(group) === Math.max(...legalSizes(group))) break
    const grown = [...group, other]
    if (!allFit(grown) || !legalSizes(grown).some((size) => size >= sum(grown))) continue
    group = grown
    if (legalSizes(group).includes(sum(group))) best = group
  }
  if (sum(group) === Math.max(...legalSizes(group))) return group.map(({ id }) => id)
  return longEnough ? best?.map(({ id }) => id) : undefined
}

test('[R-MM-7] a group is what the rule says, and always legal', () => {
  fc.assert(
    fc.property(pools, fc.boolean(), (pool, longEnough) => {
      for (const seed of pool) {
        const { group, seen } = run(seed, pool, longEnough)
        expect(group?.map(({ id }) => id)).toEqual(expected(seed, pool, longEnough))
        expect(seen).toBeLessThan(pool.length)
        if (group === undefined) continue
        expect(group[0]).toBe(seed)
        expect(allFit(group)).toBe(true)
        expect(legalSizes(group)).toContain(sum(group))
      }
    }),
    { numRuns: 500 },
  )
})

test('[R-MM-7] one against one, nobody is left who could have played', () => {
  const duels = pools.map((pool) =>
    pool.map((one) => ({ ...one, size: 1, minCount: 2, maxCount: 2, countMultiple: 1 })),
  )
  fc.assert(
    fc.property(duels, (pool) => {
      let waiting = pool
      for (const seed of pool) {
        if (!waiting.includes(seed)) continue
        const { group = [] } = run(seed, waiting, false)
        waiting = waiting.filter((one) => !group.includes(one))
      }
      // By brute force: no two of those who still wait fit each other.
      for (const one of waiting) {
        for (const other of waiting) expect(one !== other && fitsBoth(one, other)).toBe(false)
      }
    }),
  )
})

test('[R-MM-14] says why there is no group', () => {
  const make = (parts: Partial<Player>): Player => ({
    id: 0,
    region: 0,
    wants: 2,
    size: 1,
    minCount: 2,
    maxCount: 4,
    countMultiple: 1,
    accepts: () => true,
    ...parts,
  })
  const seed = make({ minCount: 3 })
  expect(run(seed, [seed], true)).toMatchObject({ seen: 0, reason: 'no_candidates' })
  const stranger = make({ accepts: () => false })
  expect(run(seed, [seed, stranger], true)).toMatchObject({ seen: 1, reason: 'incompatible' })
  const other = make({})
  expect(run(seed, [other], true)).toMatchObject({ seen: 1, reason: 'too_few' })
  const pair = [make({}), make({})]
  expect(run(other, pair, false)).toMatchObject({ seen: 2, reason: 'waiting_for_more' })
  expect(run(other, pair, true)).toMatchObject({ seen: 2, reason: null })
})
