import { createMemoryDirectory } from '../../cluster/directory/memory-directory.ts'
import type { Membership, MembershipDeps } from '../../kernel/cluster/membership.ts'
import { checkCalm, checkNames, whatIsLeft } from './checks.ts'
import { chooseFaults, type Fault } from './faults.ts'
import { House } from './house.ts'
import { createNetwork } from './network.ts'
import { friends, SimulatedPlayer } from './player.ts'
import { createSlowDirectory } from './slow-directory.ts'
import { takeTurns } from './turns.ts'
import { createWatcher } from './watcher.ts'
import { createWorld, type World } from './world.ts'

export type Plan = {
  seed: number
  /** How long players act and faults come, in milliseconds. */
  runMs: number
  /** Those of the seed if not given. */
  faults?: readonly Fault[] | undefined
  /** Makes another membership than the product's: for mistakes that a run must find. */
  makeMembership?: ((deps: MembershipDeps) => Membership) | undefined
}

export type Outcome = {
  violations: readonly string[]
  trace: readonly string[]
  faults: readonly Fault[]
}

const faultsPerMinute = 24
const watchMs = 250
const settleMs = 30_000
/** All that was of somebody is gone after so long. */
const emptyMs = 40_000
const lookMs = 1000

/** Plays one run: the same seed gives the same trace. */
export async function simulate(plan: Plan): Promise<Outcome> {
  const turns = takeTurns()
  try {
    return await play(plan, createWorld(plan.seed, turns.pass))
  } finally {
    turns.end()
  }
}

async function play(plan: Plan, world: World): Promise<Outcome> {
  const random = world.random('plan')
  const count = 3 + random.below(3)
  const graceMs = random.pick([0, 4000, 8000]) ?? 0
  const faultCount = Math.round((faultsPerMinute * plan.runMs) / 60_000)
  const faults = plan.faults ?? chooseFaults(random, { ...plan, count: faultCount, nodes: count })
  const shared = createMemoryDirectory()
  const house = new House({
    ...{ world, graceMs, count, makeMembership: plan.makeMembership },
    network: createNetwork(world),
    directory: createSlowDirectory(world, shared),
    watcher: createWatcher(world),
  })
  house.startAll()
  await world.pass(idleMs)
  const idleTimers = Math.max(...house.nodes.map(({ process }) => process.timers))
  const rooms: number[] = []
  const parties: string[] = []
  const deps = { world, watcher: house.watcher, nodes: () => house.open, rooms, parties }
  const people = [...friends, 'guest'].map((name) => {
    return new SimulatedPlayer(name, name === 'guest', deps)
  })
  house.players = people
  for (const fault of faults) world.after(fault.atMs, () => house.apply(fault))
  const watching = world.every(watchMs, () => checkNames(world, house))
  await world.pass(plan.runMs)
  world.say('calm from here on')
  house.heal()
  for (const each of people) each.isActing = false
  await world.pass(settleMs)
  await checkCalm(world, house)
  world.say('everybody leaves')
  for (const each of people) each.leave()
  let left: string[] = []
  for (let waitedMs = 0; waitedMs < emptyMs; waitedMs += lookMs) {
    await world.pass(lookMs)
    left = await whatIsLeft(house, { directory: shared, idleTimers })
    if (left.length === 0) break
  }
  for (const line of left) world.broken(line)
  watching.cancel()
  await house.shutDown()
  const { violations, trace } = world
  return { violations, trace, faults }
}

const idleMs = 3000
