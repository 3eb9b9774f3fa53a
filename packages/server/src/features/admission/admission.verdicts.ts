/** One window that a request counts in, and how many it lets through. */
type Counted = { id: string; limit: number }

/** A request wants one of each of its windows, or gives back what it took. */
export type Judged<Slot extends Counted> = { slots: readonly Slot[]; change: 1 | -1 }

/**
 * Judges requests one after another against the counters as they stand. A request takes one of each
 * of its windows, or, when any of them is full, of none; its verdict is the first full window.
 * Giving back is never refused, not even above a limit that has been lowered since.
 */
export function decide<Slot extends Counted>(
  requests: readonly Judged<Slot>[],
  before: ReadonlyMap<string, number>,
): { verdicts: (Slot | undefined)[]; taken: Map<string, number> } {
  const taken = new Map(before)
  const verdicts = requests.map(({ slots, change }) => {
    const full = change > 0 ? slots.find((slot) => isFull(slot, taken)) : undefined
    if (full !== undefined) return full
    for (const { id } of slots) taken.set(id, Math.max(0, (taken.get(id) ?? 0) + change))
    return undefined
  })
  return { verdicts, taken }
}

function isFull({ id, limit }: Counted, taken: ReadonlyMap<string, number>): boolean {
  return (taken.get(id) ?? 0) >= limit
}
