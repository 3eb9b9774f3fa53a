import { createDeployment } from './deployment.ts'
import { createRandom } from './random.ts'
import { chooseMoment } from './schedule.ts'
import { roomyBounds } from './sections/sections.ts'
import type { CrashBackend } from './stores.ts'

/** A failure of the database's server while a node works, for a time. */
export type Outage = (durationMs: number) => Promise<void>

export type CrashPlan = {
  backend: CrashBackend
  /** How many times a process is killed. */
  rounds: number
  /** The same seed makes the same choices; what they meet depends on the machine's timing too. */
  seed: number
  say(line: string): void
}

/** Kills one node after the other, and verifies what each of them has left. */
export async function crash({ backend, rounds, seed, say }: CrashPlan): Promise<void> {
  const random = createRandom(seed)
  say(`${backend.name}: ${rounds} kills with seed ${seed}`)
  const counts = new Map<string, number>()
  const met = new Set<string>()
  const sums = { acknowledged: 0, unanswered: 0 }
  for (let round = 0; round < rounds; ) {
    const store = await backend.open()
    try {
      const deployment = createDeployment(store, random)
      const { traffic } = deployment.model
      for (let age = 0; age < backend.killsPerStore && round < rounds; age += 1, round += 1) {
        const moment = chooseMoment(random, { isFirst: age === 0, met })
        // The start of an empty store is another one than that of what a kill has left.
        if (age > 0) met.add(moment.during)
        counts.set(moment.during, (counts.get(moment.during) ?? 0) + 1)
        const where = `kill ${round + 1}, ${JSON.stringify(moment)}`
        await placed(deployment, deployment.round(moment), { seed, where })
      }
      await placed(deployment, deployment.end(), { seed, where: `the end after kill ${round}` })
      const { acknowledged, unanswered } = traffic.counts()
      sums.acknowledged += acknowledged
      sums.unanswered += unanswered
    } finally {
      await store.dispose()
    }
  }
  const moments = [...counts].map(([during, count]) => `${count} during ${during}`).join(', ')
  const { acknowledged, unanswered } = sums
  say(`${backend.name}: ${acknowledged} acknowledged, ${unanswered} unanswered; ${moments}`)
}

/** The longest that a database is away: shorter and longer than it takes to be taken for down. */
const outageMsMax = 3000
const noticedMs = 1500
const loadMsMax = 300

/** Takes the database away from a node under load, so many times, and verifies after each. */
export async function breakOff(
  { backend, seed, say }: Omit<CrashPlan, 'rounds'>,
  { outages, outage, sleep }: { outages: number; outage: Outage; sleep(ms: number): Promise<void> },
): Promise<void> {
  const random = createRandom(seed)
  say(`${backend.name}: ${outages} outages with seed ${seed}`)
  const store = await backend.open()
  try {
    const deployment = createDeployment(store, random, roomyBounds)
    const failures = Array.from({ length: outages }, (_, at) => async () => {
      await sleep(random.below(loadMsMax))
      // The first comes and goes before a probe can notice; the second lasts until one has.
      const leastMs = at === 1 ? noticedMs : 0
      await outage(at === 0 ? 0 : leastMs + random.below(outageMsMax - leastMs))
    })
    await placed(deployment, deployment.survive(failures), { seed, where: 'the outages' })
    await placed(deployment, deployment.end(), { seed, where: 'the end after the outages' })
    const { acknowledged, unanswered } = deployment.model.traffic.counts()
    say(`${backend.name}: ${acknowledged} acknowledged, ${unanswered} unanswered`)
  } finally {
    await store.dispose()
  }
}

/** The end of what a node said is most likely to explain it. */
const outputCharacters = 3000

/** Says where something failed, what the node had to say, and how to see it again. */
async function placed(
  deployment: ReturnType<typeof createDeployment>,
  work: Promise<void>,
  { seed, where }: { seed: number; where: string },
): Promise<void> {
  try {
    await work
  } catch (error) {
    const place = `${where}, of CRASH_TEST_SEED=${seed}`
    const message = error instanceof Error ? error.message : String(error)
    const said = deployment.output().slice(-outputCharacters)
    throw new Error(`${place}: ${message}\n\nThe node said:\n${said}`, { cause: error })
  }
}
