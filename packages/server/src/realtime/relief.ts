import type { QueueHolder, QueueTotals } from './frames/queue-totals.ts'

type ReliefDeps = {
  totals: QueueTotals
  queuedBytesMax: number
  /** Hands transports what they take now. */
  flush(): void
  /** What holds most, among the connections and among the seats. */
  largest: readonly (() => QueueHolder | undefined)[]
}

/** Gives memory back by closing the connections and ending the seats that hold most of it. */
export function createRelief({ totals, queuedBytesMax, flush, largest }: ReliefDeps): () => void {
  const isOver = () => totals.queuedBytes > queuedBytesMax
  return () => {
    if (!isOver()) return
    flush()
    while (isOver()) {
      const holders = largest.flatMap((find) => find() ?? [])
      const [first] = holders.sort((one, other) => other.bytes - one.bytes)
      if (first === undefined) return
      first.end()
    }
  }
}
