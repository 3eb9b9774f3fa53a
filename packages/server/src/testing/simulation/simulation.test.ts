import { randomInt } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { afterOthers, atEndOfTurn } from '../../kernel/clock.ts'
import { Membership } from '../../kernel/cluster/membership.ts'
import { Link } from '../../realtime/relay/link.ts'
import { Visit } from '../../realtime/relay/visit.ts'
import { createRandom } from '../crash/random.ts'
import { chooseFaults, describeFault, type Fault, shorten } from './faults.ts'
import { type Outcome, type Plan, simulate } from './simulate.ts'
import { takeTurns } from './turns.ts'

/** Nodes of the product under one seed, with all that can go wrong between them. */

/** `npm test` plays the same ones each time; `npm run simulate` plays 10,000 others. */
const seedsDefault = 200
const { SIMULATION_SEEDS, SIMULATION_SEED } = process.env
const seeds = Number(SIMULATION_SEEDS ?? (SIMULATION_SEED === undefined ? seedsDefault : 1))
const runMs = 60_000
const secondsPerSeed = 5

afterEach(() => vi.restoreAllMocks())

test(`[R-CL-16, R-CL-13, R-CL-23, R-GEN-7, R-RPC-1] whatever happens between nodes, what may be holds`, {
  timeout: 60_000 + seeds * secondsPerSeed * 1000,
}, async () => {
  const others = SIMULATION_SEEDS === undefined ? 1 : randomInt(2 ** 31)
  const first = Number(SIMULATION_SEED ?? others)
  process.stdout.write(`simulation: ${seeds} seeds from ${first}\n`)
  for (let seed = first; seed < first + seeds; seed += 1) {
    const outcome = await simulate({ seed, runMs })
    await afterOthers()
    if (outcome.violations.length > 0) throw new Error(await report(seed, outcome))
  }
})

/** The last lines of a trace that a report shows. */
const traceLinesMax = 60

/** What went wrong, the fewest faults that make it go wrong, and what happened before. */
async function report(seed: number, { violations, faults }: Outcome): Promise<string> {
  const plan = { seed, runMs }
  const kept = await shorten(faults, (fewer) => fails({ ...plan, faults: fewer }))
  const shortest = await simulate({ ...plan, faults: kept })
  const until = shortest.trace.findIndex((line) => line.includes('BROKEN'))
  return [
    `SIMULATION_SEED=${seed} breaks:`,
    ...violations,
    `With ${kept.length} of its ${faults.length} faults it breaks as well:`,
    ...kept.map(describeFault),
    ...shortest.violations,
    'Before that:',
    ...shortest.trace.slice(Math.max(0, until - traceLinesMax), until + 1),
  ].join('\n')
}

async function fails(plan: Plan): Promise<boolean> {
  return (await simulate(plan)).violations.length > 0
}

test('[R-CL-23] turns end until nothing is left to be done, promises included', async () => {
  const turns = takeTurns()
  const served: number[] = []
  const serve = async (count: number) => {
    for (let wait = 0; wait < count; wait += 1) await undefined
    served.push(count)
    if (count < 9) atEndOfTurn(() => void serve(count + 1))
  }
  atEndOfTurn(() => void serve(5))
  await turns.pass()
  turns.end()
  expect(served).toEqual([5, 6, 7, 8, 9])
})

test('[R-CL-23] the same seed gives the same trace, and another one another', async () => {
  const plan = { seed: 7, runMs: 20_000 }
  const [one, again, other] = [
    await simulate(plan),
    await simulate(plan),
    await simulate({ ...plan, seed: 8 }),
  ]
  expect(again.trace).toEqual(one.trace)
  expect(other.trace).not.toEqual(one.trace)
})

/** Finds a seed that breaks; most of them do within a few. */
async function violationsOf(plan: Omit<Plan, 'seed' | 'runMs'>, triesMax = 20): Promise<string[]> {
  for (let seed = 1; seed <= triesMax; seed += 1) {
    const { violations } = await simulate({ ...plan, seed, runMs })
    if (violations.length > 0) return [...violations]
  }
  return []
}

test('[R-CL-23] it finds links that do not look at the sequence', async () => {
  const takes = Link.prototype.takes
  const expected = new WeakMap<object, number>()
  vi.spyOn(Link.prototype, 'takes').mockImplementation(function (this: Link<never>) {
    const count = expected.get(this) ?? 0
    expected.set(this, count + 1)
    return takes.call(this, count)
  })
  expect((await violationsOf({})).join('\n')).toMatch(/\(c\)|out of order|R-RPC-1|R-GEN-7/)
})

test('[R-CL-23] it finds links that are reset without a word to their members', async () => {
  vi.spyOn(Visit.prototype, 'linkLost').mockImplementation(() => {})
  expect((await violationsOf({})).join('\n')).toMatch(/\(c\) .* has the room|something under way/)
})

/** One name, whose node is paused for longer than its lease. */
const takeovers: readonly Fault[] = [0, 1, 2, 3, 4].flatMap((node) => {
  const atMs = 6000 + 10_000 * node
  const fault = { node, other: 0, atMs, forMs: 9500, amount: 0 }
  return [
    { ...fault, kind: 'database stalls for one' },
    { ...fault, kind: 'bus cut off' },
  ]
})

test('[R-CL-23] it finds names that are served again without a look at their rows', async () => {
  class Trusting extends Membership {
    override epoch(): number {
      return 0
    }
  }
  const found = await violationsOf({
    faults: takeovers,
    makeMembership: (deps) => new Trusting(deps),
  })
  expect(found.join('\n')).toContain('(a) ')
})

test('[R-CL-23] it finds a lease that is held for too long', async () => {
  class Stubborn extends Membership {
    override holdsLease(): boolean {
      return true
    }
    override epoch(): number {
      return 0
    }
  }
  const found = await violationsOf({
    faults: takeovers,
    makeMembership: (deps) => new Stubborn(deps),
  })
  expect(found.join('\n')).toContain('(a) ')
})

test('[R-CL-23] the product holds what these mistakes break', async () => {
  expect(await violationsOf({ faults: takeovers }, 5)).toEqual([])
})

test('[R-CL-23] of the faults of a failing run the fewest are named', async () => {
  const faults = chooseFaults(createRandom(1), { count: 24, runMs, nodes: 3 })
  const guilty = new Set([faults[3], faults[17]])
  let tries = 0
  const kept = await shorten(faults, async (fewer) => {
    tries += 1
    return fewer.filter((fault) => guilty.has(fault)).length === guilty.size
  })
  expect(new Set(kept)).toEqual(guilty)
  expect(tries).toBeLessThan(60)
  expect(kept.map(describeFault)[0]).toMatch(/^\d+ ms: .*, node \d/)
})
