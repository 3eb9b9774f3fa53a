import type { Transaction } from '../../database/database.ts'
import {
  type BlockKey,
  type BlockRow,
  blocksStore,
  type Level,
  type LocatedRow,
  topLevel,
} from './leaderboards.blocks.store.ts'
import { textOfPlace } from './leaderboards.place.ts'

export type BlockSizes = Readonly<Record<Level, { min: number; max: number }>>

/**
 * How many records a block of each level has. One with more is split in halves, so a rank adds up
 * some sixteen blocks of each level, and as many records: on PostgreSQL these cost the most. One
 * with fewer joins a neighbour, unless it is the only one of its block above.
 */
export const blockSizes: BlockSizes = {
  1: { min: 12, max: 48 },
  2: { min: 384, max: 1536 },
  3: { min: 12_288, max: 49_152 },
}

/** A record that comes (+1) or goes (-1), by its place and the blocks that the place belongs to. */
export type Change = { located: LocatedRow; delta: 1 | -1 }

type Counted = { period: number; level: Level; bound: Uint8Array; records: number }

const firstBound = new Uint8Array(0)

/** The blocks of a period without records. */
export async function openBlocks(tx: Transaction, period: number): Promise<void> {
  const levels: Level[] = [1, 2, 3]
  const empty = levels.map((level) => ({ period, level, bound: firstBound, records: 0 }))
  await blocksStore.insert(tx, empty)
}

/** Counts the changes in; to be called under the lock of the board. */
export function countChanges(tx: Transaction, changes: readonly Change[]): Promise<Counted[]> {
  const sums = new Map<string, BlockKey & { delta: number }>()
  for (const { located, delta } of changes) {
    const { period, low, mid, top } = located
    for (const [index, bound] of [low, mid, top].entries()) {
      const level = levelOf(index + 1)
      const name = nameOf({ period, level, bound })
      const sum = sums.get(name) ?? { period, level, bound, delta: 0 }
      sum.delta += delta
      sums.set(name, sum)
    }
  }
  const changed = [...sums.values()].filter(({ delta }) => delta !== 0)
  return blocksStore
    .count(tx, changed)
    .then((rows) => rows.map((row) => ({ ...row, level: levelOf(row.level) })))
}

/**
 * Brings blocks back to their sizes, after their records have changed as well. What has become too
 * small is joined from the top down, because a block that is the only one above it cannot be
 * joined; what is too large is split from the bottom up, because a block is split between two of
 * the level below. Looking at what has changed is enough: a small block that is the only one above
 * it makes that one small as well, up to the top, so none is left behind where others are.
 */
export async function keepSizes(
  tx: Transaction,
  counted: readonly Counted[],
  sizes: BlockSizes = blockSizes,
): Promise<void> {
  const large = new Map<string, BlockKey>()
  const small: Record<Level, BlockKey[]> = { 1: [], 2: [], 3: [] }
  for (const { records, ...key } of counted) {
    if (records > sizes[key.level].max) large.set(nameOf(key), key)
    if (records < sizes[key.level].min) small[key.level].push(key)
  }
  for (const level of [3, 2, 1] as const) {
    for (const key of small[level]) {
      for (const into of await joinWhileSmall(tx, key, sizes)) large.set(nameOf(into), into)
    }
  }
  const tooLarge = [...large.values()].sort((a, b) => a.level - b.level)
  for (const key of tooLarge) {
    // It may have been joined to another meanwhile.
    const block = await blocksStore.get(tx, key)
    if (block !== undefined) await split(tx, key, { records: block.records, sizes })
  }
}

/** Answers the blocks that others were joined to. */
async function joinWhileSmall(
  tx: Transaction,
  small: BlockKey,
  sizes: BlockSizes,
): Promise<BlockKey[]> {
  const joins: BlockKey[] = []
  let key = small
  for (;;) {
    const block = await blocksStore.get(tx, key)
    if (block === undefined || block.records >= sizes[key.level].min) return joins
    const joined = await join(tx, key, block)
    if (joined === undefined) return joins
    joins.push(joined)
    key = joined
  }
}

/** Joins a block with a neighbour in the same block above, if there is one. */
async function join(
  tx: Transaction,
  key: BlockKey,
  block: BlockRow,
): Promise<BlockKey | undefined> {
  if (!(await beginsAbove(tx, key))) {
    const before = await blocksStore.before(tx, key)
    if (before === undefined) throw new Error('the first block of a level is missing')
    return merge(tx, key, { into: before, from: block })
  }
  const after = await blocksStore.after(tx, key)
  if (after === undefined || (await beginsAbove(tx, { ...key, bound: after.bound }))) {
    return undefined
  }
  return merge(tx, key, { into: block, from: after })
}

async function merge(
  tx: Transaction,
  { period, level }: BlockKey,
  { into, from }: { into: BlockRow; from: BlockRow },
): Promise<BlockKey> {
  const joined = { period, level, bound: into.bound }
  await blocksStore.remove(tx, { period, level, bound: from.bound })
  await blocksStore.count(tx, [{ ...joined, delta: from.records }])
  return joined
}

/** Whether a block of the level above begins where this one does. */
async function beginsAbove(tx: Transaction, { period, level, bound }: BlockKey): Promise<boolean> {
  if (level === topLevel) return bound.length === 0
  const above = { period, level: levelOf(level + 1), bound }
  return (await blocksStore.get(tx, above)) !== undefined
}

/** Splits a block in halves, and those again, until none is too large. */
async function split(
  tx: Transaction,
  key: BlockKey,
  { records, sizes }: { records: number; sizes: BlockSizes },
): Promise<void> {
  if (records <= sizes[key.level].max) return
  const half = key.level === 1 ? await halfOfRecords(tx, key, records) : await halfOfBlocks(tx, key)
  if (half === undefined) return
  const { period, level } = key
  const moved = records - half.before
  await blocksStore.count(tx, [{ ...key, delta: -moved }])
  await blocksStore.insert(tx, [{ period, level, bound: half.bound, records: moved }])
  await split(tx, key, { records: half.before, sizes })
  await split(tx, { ...key, bound: half.bound }, { records: moved, sizes })
}

type Half = { bound: Uint8Array; before: number }

async function halfOfRecords(tx: Transaction, key: BlockKey, records: number): Promise<Half> {
  const before = Math.floor(records / 2)
  const { period, bound } = key
  const place = await blocksStore.placeAfter(tx, { period, bound, skipped: before })
  if (place === undefined) throw new Error('a block counts more records than there are')
  return { bound: place, before }
}

/** The bound of the level below that lies nearest to the middle; undefined when there is none. */
async function halfOfBlocks(tx: Transaction, key: BlockKey): Promise<Half | undefined> {
  const { period, bound } = key
  const until = (await blocksStore.after(tx, key))?.bound ?? null
  const level = levelOf(key.level - 1)
  const blocks = await blocksStore.between(tx, { period, level, bound, until })
  const total = blocks.reduce((sum, { records }) => sum + records, 0)
  let best: Half | undefined
  let before = 0
  for (const [index, block] of blocks.entries()) {
    const isNearer = best === undefined || distance(before, total) < distance(best.before, total)
    if (index > 0 && isNearer) best = { bound: block.bound, before }
    before += block.records
  }
  return best
}

function distance(before: number, total: number): number {
  return Math.abs(2 * before - total)
}

function nameOf({ period, level, bound }: BlockKey): string {
  return `${period} ${level} ${textOfPlace(bound)}`
}

function levelOf(number: number): Level {
  if (number === 1 || number === 2 || number === 3) return number
  throw new Error('a block has an unknown level')
}
