import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startPasses } from './pass.fixture.ts'

type Properties = { region: string; rating: number }

/** What players ask for: the text of the query, and once more what it means. */
const drafts: readonly { query: string; fits(other: Properties): boolean }[] = [
  { query: '', fits: () => true },
  { query: 'region == "eu"', fits: ({ region }) => region === 'eu' },
  { query: 'region != "eu"', fits: ({ region }) => region !== 'eu' },
  { query: 'rating >= 2 AND rating <= 4', fits: ({ rating }) => rating >= 2 && rating <= 4 },
  {
    query: 'rating < 2 OR (region == "us" AND rating > 4)',
    fits: ({ region, rating }) => rating < 2 || (region === 'us' && rating > 4),
  },
  { query: 'level > 0', fits: () => false },
]

const membersMax = 6
const widenAfterMs = 5000

const player = fc.record({
  region: fc.constantFrom('eu', 'us'),
  rating: fc.nat(6),
  draft: fc.nat(drafts.length - 1),
  wideDraft: fc.nat(drafts.length - 1),
  size: fc.constantFrom(1, 1, 1, 2, 3),
  minCount: fc.integer({ min: 2, max: 5 }),
  more: fc.nat(4),
  multiple: fc.integer({ min: 1, max: 3 }),
  ageMs: fc.constantFrom(0, 10, 10, 4000, 5000, 9000),
})

type Player = {
  id: string
  properties: Properties
  fits(other: Properties): boolean
  isWide: boolean
  size: number
  min: number
  max: number
  multiple: number
  ageMs: number
}

/** Every size that all of the group could be together, counted out. */
function legalSizes(group: readonly Player[]): number[] {
  return Array.from({ length: membersMax }, (_, index) => index + 1).filter((size) =>
    group.every(({ min, max, multiple }) => size >= min && size <= max && size % multiple === 0),
  )
}

const total = (group: readonly Player[]) => group.reduce((sum, { size }) => sum + size, 0)
const fitEachOther = (one: Player, other: Player) =>
  one.fits(other.properties) && other.fits(one.properties)
const isComplete = (group: readonly Player[]) => total(group) === legalSizes(group).at(-1)

/** What a seed forms among those that wait, as the rule says it. */
function groupOf(seed: Player, waiting: readonly Player[]): Player[] | undefined {
  const groups: Player[][] = [[seed]]
  let group = [seed]
  for (const other of waiting) {
    if (isComplete(group)) return group
    if (other === seed || !group.every((member) => fitEachOther(member, other))) continue
    const grown = [...group, other]
    if (!legalSizes(grown).some((size) => size >= total(grown))) continue
    group = grown
    groups.push(group)
  }
  if (isComplete(group)) return group
  const legal = groups.filter((one) => legalSizes(one).includes(total(one)))
  return seed.isWide ? legal.at(-1) : undefined
}

/** A whole pass, from the oldest. */
function groupsOf(players: readonly Player[]): string[][] {
  let waiting = players.toSorted((a, b) => b.ageMs - a.ageMs || (a.id < b.id ? -1 : 1))
  const formed: string[][] = []
  for (const seed of waiting) {
    if (!waiting.includes(seed)) continue
    const group = groupOf(seed, waiting)
    if (group === undefined) continue
    waiting = waiting.filter((one) => !group.includes(one))
    formed.push(group.map(({ id }) => id))
  }
  return formed
}

/** All groups that could play together, by brute force. */
function possibleGroups(players: readonly Player[]): Player[][] {
  let groups: Player[][] = [[]]
  for (const one of players) {
    const grown = groups.filter((group) => group.every((member) => fitEachOther(member, one)))
    groups = [...groups, ...grown.map((group) => [...group, one])]
  }
  return groups.filter((group) => legalSizes(group).includes(total(group)))
}

const noDraft = { query: '', fits: () => false }

const pools = fc.array(player, { minLength: 1, maxLength: 9 }).map((made) =>
  made.map((one, index) => {
    const isWide = one.ageMs >= widenAfterMs
    const draft = drafts[one.draft] ?? noDraft
    const wideDraft = drafts[one.wideDraft] ?? noDraft
    const most = one.minCount + one.more
    const largest = Math.floor(most / one.multiple) * one.multiple
    const max = largest >= one.minCount ? most : one.minCount * one.multiple
    return {
      id: `t${(index * 7) % 10}`,
      properties: { region: one.region, rating: one.rating },
      fits: (isWide ? wideDraft : draft).fits,
      narrow: draft.fits,
      wide: wideDraft.fits,
      isWide,
      size: one.size,
      min: one.minCount,
      max,
      multiple: one.multiple,
      ageMs: one.ageMs,
      payload: {
        query: draft.query,
        wide_query: wideDraft.query,
        properties: { region: one.region, rating: one.rating },
        min_count: one.minCount,
        max_count: max,
        count_multiple: one.multiple,
      },
    }
  }),
)

test('[R-MM-6, R-MM-7] a pass forms what the rule says, and nothing that may not be', async () => {
  await fc.assert(
    fc.asyncProperty(pools, async (pool) => {
      const { clock, ticketOf, groups, passes } = startPasses({ membersMax, widenAfterMs })
      await clock.advance(249)
      for (const { id, payload, size, ageMs } of pool) {
        ticketOf(payload, { id, size, ageMs: ageMs - 1 })
      }
      await clock.advance(1)
      expect(groups).toEqual(groupsOf(pool))
      const possible = possibleGroups(pool).map((group) => group.map(({ id }) => id).toSorted())
      for (const group of groups) expect(possible).toContainEqual(group.toSorted())
      passes.stop()
    }),
    { numRuns: 400 },
  )
})

test('[R-MM-6, R-MM-7] later passes form the same as a first one would', async () => {
  const later = fc.record({ pool: pools, share: fc.nat(8), quiet: fc.constantFrom(0, 4, 20) })
  await fc.assert(
    fc.asyncProperty(later, async ({ pool, share, quiet }) => {
      const { clock, ticketOf, groups, passes } = startPasses({ membersMax, widenAfterMs })
      let present: typeof pool = []
      let checked = 0
      async function pass(newcomers: typeof pool): Promise<void> {
        await clock.advance(249)
        for (const { id, payload, size, ageMs } of newcomers) {
          ticketOf(payload, { id, size, ageMs: ageMs - 1 })
        }
        await clock.advance(1)
        present = [...present.map((one) => aged(one, 250)), ...newcomers]
        expect(groups.slice(checked)).toEqual(groupsOf(present))
        checked = groups.length
        present = present.filter(({ id }) => !groups.flat().includes(id))
      }
      await pass(pool.slice(0, share))
      for (let count = 0; count < quiet; count += 1) await pass([])
      await pass(pool.slice(share).map((one) => aged({ ...one, ageMs: 0 }, 0)))
      passes.stop()
    }),
    { numRuns: 400 },
  )
})

/** The same player after a while: what it takes, and whether it has waited long. */
function aged<
  P extends Player & { wide(other: Properties): boolean; narrow(other: Properties): boolean },
>(one: P, laterMs: number): P {
  const ageMs = one.ageMs + laterMs
  const isWide = ageMs >= widenAfterMs
  return { ...one, ageMs, isWide, fits: isWide ? one.wide : one.narrow }
}

test('[R-MM-7] one against one, nobody waits who could play with somebody who is left', async () => {
  const wide = pools.map((pool) =>
    pool.map((one) => {
      const payload = { ...one.payload, min_count: 2, max_count: 2, count_multiple: 1 }
      return { ...one, payload, size: 1, min: 2, max: 2, multiple: 1 }
    }),
  )
  await fc.assert(
    fc.asyncProperty(wide, async (pool) => {
      const { clock, ticketOf, groups, passes } = startPasses({ membersMax, widenAfterMs })
      await clock.advance(249)
      for (const { id, payload, ageMs } of pool) ticketOf(payload, { id, ageMs: ageMs - 1 })
      await clock.advance(1)
      const left = pool.filter(({ id }) => !groups.flat().includes(id))
      expect(possibleGroups(left)).toEqual([])
      passes.stop()
    }),
    { numRuns: 200 },
  )
})
