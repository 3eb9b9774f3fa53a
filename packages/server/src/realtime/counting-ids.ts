/**
 * Makes the ids of one family. The slot is 1..4095, and 0 on a node without cluster. Ids count
 * from 1 per boot and are never reused within one, so that a late message cannot reach the wrong
 * participant or room.
 */
export function countingIds(nodeSlot: () => number): () => number {
  let made = 0
  return () => {
    made += 1
    return nodeSlot() * idsPerSlot + made
  }
}

/** The slot of the node that made an id. */
export function slotOf(id: number): number {
  return Math.floor(id / idsPerSlot)
}

const idsPerSlot = 2 ** 40
