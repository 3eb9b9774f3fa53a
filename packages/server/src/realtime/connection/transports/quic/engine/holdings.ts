import type { Peer } from './peer.ts'

/** A connection that is idle, with its part of a server and what servers keep after bursts. */
const idleBytes = 64 * 1024
/** What connections may take of the memory: the rest is for what comes before the next look. */
const partForAll = 13 / 16
/** It is not looked at again before this part may have been taken. */
const partOfLook = 1 / 64
/** What a byte of a packet that comes, and one of a stream that leaves, may take at most. */
const costOfByteIn = 40
const costOfByteOut = 4
/** Who holds less is spared, however much all of them hold. */
const sparedBytes = 16 * 1024

type Holder = Pick<Peer, 'heldBytes' | 'isClosed' | 'group'>
type Greedy<One> = { peer: One; heldBytes: number }
type Group<One> = { heldBytes: number; greedy: Greedy<One>[] }

/**
 * What all connections hold in the engine's memory, which ends in a trap where it is full. It is
 * looked at whenever as much may have come as there was room for.
 */
export class Holdings<One extends Holder = Peer> {
  readonly #memoryBytes: () => number
  readonly #memoryBytesMax: number
  /** What the engine has without connections. */
  readonly #ownBytes: number
  /** What may come before the next look. */
  #roomBytes = 0
  #isFull = false

  /** @param memoryBytes how large the engine's memory has become, of `memoryBytesMax` */
  constructor(memoryBytes: () => number, memoryBytesMax: number) {
    this.#memoryBytes = memoryBytes
    this.#memoryBytesMax = memoryBytesMax
    this.#ownBytes = memoryBytes()
  }

  /** Whether there is no room for one more connection. */
  get isFull(): boolean {
    return this.#isFull
  }

  opened(): void {
    this.#roomBytes -= idleBytes
  }

  received(bytes: number): void {
    this.#roomBytes -= bytes * costOfByteIn
  }

  sent(bytes: number): void {
    this.#roomBytes -= bytes * costOfByteOut
  }

  /** While there is no room it may come by itself. */
  tick(): void {
    if (this.#isFull) this.#roomBytes = 0
  }

  /**
   * Those that are to end: of the addresses that hold most in sum, the greediest first. So many
   * small ones of one address end no large one of another.
   */
  excess(peers: Iterable<One>): One[] {
    if (this.#roomBytes > 0) return []
    const memoryBytes = this.#memoryBytes()
    const max = this.#memoryBytesMax
    this.#isFull = false
    this.#roomBytes = max - memoryBytes
    // It is never more than the memory has become.
    if (memoryBytes <= partForAll * max) return []
    let allBytes = this.#ownBytes
    const groups = new Map<string, Group<One>>()
    for (const peer of peers) {
      const { heldBytes, isClosed, group: name } = peer
      allBytes += idleBytes + heldBytes
      // One that has ended stays for a while, and cannot end again.
      if (isClosed) continue
      const group = groups.get(name) ?? { heldBytes: 0, greedy: [] }
      groups.set(name, group)
      group.heldBytes += heldBytes
      if (heldBytes > sparedBytes) group.greedy.push({ peer, heldBytes })
    }
    this.#roomBytes = Math.max(partOfLook * max, max - allBytes)
    const most: One[] = []
    for (const { peer, heldBytes } of inOrder(groups.values())) {
      if (allBytes <= partForAll * max) break
      allBytes -= heldBytes
      most.push(peer)
    }
    this.#isFull = allBytes > partForAll * max
    return most
  }
}

/** By what their groups still hold when those before them have ended. */
function inOrder<One>(groups: Iterable<Group<One>>): Greedy<One>[] {
  const all: (Greedy<One> & { groupBytes: number })[] = []
  for (const { heldBytes, greedy } of groups) {
    let groupBytes = heldBytes
    for (const each of greedy.sort((one, other) => other.heldBytes - one.heldBytes)) {
      all.push({ ...each, groupBytes })
      groupBytes -= each.heldBytes
    }
  }
  return all.sort((one, other) => other.groupBytes - one.groupBytes)
}
