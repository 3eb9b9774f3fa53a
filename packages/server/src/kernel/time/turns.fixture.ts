import { atEndOfTurn } from '../clock.ts'

/** Counts the turns of the event loop from now on. */
export function countTurns(): { readonly count: number; stop(): void } {
  let count = 0
  let stopped = false
  const next = () => {
    count += 1
    if (!stopped) atEndOfTurn(next)
  }
  atEndOfTurn(next)
  return {
    get count() {
      return count
    },
    stop() {
      stopped = true
    },
  }
}
