import { type HttpLoad, type HttpOutcome, runHttpLoad } from './http-load.ts'

const roundsDefault = 5

/**
 * Loads several servers in turn, round by round, so that whatever else the machine does disturbs
 * all of them alike; every other round begins with the last one. Answers the median round of each,
 * by what `figure` says; the first round only warms up.
 */
export async function inTurn(
  loads: readonly HttpLoad[],
  figure: (outcome: HttpOutcome) => number,
  rounds = roundsDefault,
): Promise<HttpOutcome[]> {
  const outcomes = loads.map((): HttpOutcome[] => [])
  for (let round = 0; round <= rounds; round += 1) {
    const inOrder = [...loads.entries()]
    for (const [index, load] of round % 2 === 0 ? inOrder : inOrder.reverse()) {
      const outcome = await runHttpLoad({ ...load, seconds: load.seconds / rounds })
      if (round > 0) outcomes[index]?.push(outcome)
    }
  }
  return outcomes.map((all) => {
    const middle = all.toSorted((a, b) => figure(a) - figure(b))[rounds >> 1]
    if (middle === undefined) throw new Error('there is a middle of an odd number of rounds')
    return middle
  })
}
