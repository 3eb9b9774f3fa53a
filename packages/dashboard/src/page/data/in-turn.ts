/** Work of which so much is under way at a time; of what waits, the newest is the next. */
export function createTurns(atOnce: number) {
  const waiting: (() => void)[] = []
  let underWay = 0
  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (underWay < atOnce) underWay += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.pop()
      if (next === undefined) underWay -= 1
      else next()
    }
  }
}
