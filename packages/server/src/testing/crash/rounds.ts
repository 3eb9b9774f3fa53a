import { createDeployment } from './deployment.ts'
import { createRandom } from './random.ts'
import { chooseMoment, type Moment } from './schedule.ts'
import type { CrashBackend } from './stores.ts'

export type CrashPlan = {
  backend: CrashBackend
  /** How many times a process is killed. */
  rounds: number
  /** The same seed makes the same choices; what they meet depends on the machine's timing too. */
  seed: number
  say(line: string): void
}

/** A store lives through so many kills; the next one begins empty. */
const roundsPerStore = 10

/** Kills one node after the other, and verifies what each of them has left. */
export async function crash({ backend, rounds, seed, say }: CrashPlan): Promise<void> {
  const random = createRandom(seed)
  say(`${backend.name}: ${rounds} kills with seed ${seed}`)
  const counts = new Map<string, number>()
  let acknowledged = 0
  let lost = 0
  for (let round = 0; round < rounds; ) {
    const store = await backend.open()
    try {
      const deployment = createDeployment(store, random)
      const { traffic } = deployment.model
      for (let age = 0; age < roundsPerStore && round < rounds; age += 1, round += 1) {
        const moment = chooseMoment(random, { isFirst: age === 0 })
        counts.set(moment.during, (counts.get(moment.during) ?? 0) + 1)
        await placed(deployment.round(moment), { round, seed, moment })
        lost += traffic.lost()
      }
      await placed(deployment.end(), { round, seed })
      acknowledged += traffic.acknowledged()
    } finally {
      await store.dispose()
    }
  }
  const moments = [...counts].map(([during, count]) => `${count} during ${during}`).join(', ')
  say(`${backend.name}: ${acknowledged} changes, ${lost} of them without an answer; ${moments}`)
}

/** Says where something failed, and how to see it again. */
async function placed(
  work: Promise<void>,
  { round, seed, moment }: { round: number; seed: number; moment?: Moment },
): Promise<void> {
  try {
    await work
  } catch (error) {
    const at = moment === undefined ? 'the end of its store' : JSON.stringify(moment)
    const place = `kill ${round + 1} (${at}) of CRASH_TEST_SEED=${seed}`
    throw new Error(`${place}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}
