/**
 * Makes the ids of one family. `nodeSlot` is 0..4095 and 0 on a node without cluster. Ids count
 * from 1 per boot and are never reused within one, so that a late message cannot reach the wrong
 * participant or room.
 */
export function countingIds(nodeSlot: number): () => number {
  let made = 0
  return () => {
    made += 1
    return nodeSlot * 2 ** 40 + made
  }
}
