import { atEndOfTurn } from '../../../kernel/clock.ts'

/** Collects items during one turn of the event loop, and works on all at its end. */
export type TurnBatch<Item> = {
  add(item: Item): void
  /** Works on what was collected so far without waiting for the end. */
  runNow(): void
}

export function createTurnBatch<Item>(work: (item: Item) => void): TurnBatch<Item> {
  let items: Item[] = []

  function run(): void {
    const collected = items
    items = []
    for (const item of collected) work(item)
  }

  return {
    add(item) {
      if (items.length === 0) atEndOfTurn(run)
      items.push(item)
    },
    runNow: run,
  }
}
