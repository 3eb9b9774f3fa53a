import { randomInt } from 'node:crypto'

/** The first start, then each stretch of a life once; `npm run crash-test` makes 200. */
const roundsDefault = 6
/** A kill with its restart and verification takes a second, and more on a loaded machine. */
const roundMsMax = 20_000

/** Such a start waits up to 6 seconds for the claim of the node that was killed. */
const sameIdEveryDefault = 7

const { CRASH_TEST_ROUNDS, CRASH_TEST_SEED, CRASH_TEST_SAME_ID_EVERY } = process.env

/** From the environment: `CRASH_TEST_ROUNDS` and, to see a failure again, `CRASH_TEST_SEED`. */
export const crashSettings = {
  rounds: Number(CRASH_TEST_ROUNDS ?? roundsDefault),
  sameIdEvery: Number(CRASH_TEST_SAME_ID_EVERY ?? sameIdEveryDefault),
  seed: Number(CRASH_TEST_SEED ?? randomInt(2 ** 32)),
  get timeLimitMs(): number {
    return 60_000 + this.rounds * roundMsMax
  },
  say: (line: string) => void process.stdout.write(`crash test: ${line}\n`),
}
