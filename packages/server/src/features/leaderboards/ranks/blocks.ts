import type { Transaction } from '../../../database/database.ts'
import {
  type BlockKey,
  type BlockRow,
  blocksStore,
  type Change,
  type Level,
  topLevel,
} from './blocks.store.ts'
import { boundBetween, textOfPlace } from './place.ts'

/** How many records a block of level 1 has, and how many blocks of the level below any other. */
export type BlockSizes = { readonly min: number; readonly max: number }

/**
 * What has more is split in halves, so a rank adds up some sixteen blocks of each level, and as
 * many records: on PostgreSQL these cost the most. What has fewer joins a neighbour, unless it is
 * the only one of its block above.
 */
export const blockSizes: BlockSizes = { min: 12, max: 48 }

type Sum = BlockKey & { delta: number }
type Counted = BlockKey & { records: number }

const firstBound = new Uint8Array(0)

/** The blocks of a period without records. */
export async function openBlocks(tx: Transaction, period: number): Promise<void> {
  const levels: Level[] = [1, 2, 3]
  const empty = levels.map((level) => ({ period, level, bound: firstBound, records: 0 }))
  await blocksStore.insert(tx, empty)
}

/**
 * Counts the changes in; to be called under the lock of the board. Answers what the blocks of level
 * 1 then have.
 */
export async function countChanges(
  tx: Transaction,
  changes: readonly Change[],
): Promise<Counted[]> {
  const sums = new Map<string, Sum>()
  const lowest = new Map<Sum, number>()
  const add = (period: number, level: Level, { hex, delta }: { hex: string; delta: number }) => {
    const name = `${period} ${level} ${hex}`
    const sum = sums.get(name) ?? { period, level, bound: Buffer.from(hex, 'hex'), delta: 0 }
    sum.delta += delta
    sums.set(name, sum)
    return sum
  }
  for (const { period, delta, low, mid, top } of await blocksStore.locate(tx, changes)) {
    const space = low.indexOf(' ')
    const sum = add(period, 1, { hex: low.slice(0, space), delta })
    if (!lowest.has(sum)) lowest.set(sum, Number(low.slice(space + 1)))
    add(period, 2, { hex: mid, delta })
    add(period, 3, { hex: top, delta })
  }
  await blocksStore.count(
    tx,
    [...sums.values()].filter(({ delta }) => delta !== 0),
  )
  return [...lowest].map(([{ delta, ...key }, records]) => {
    return { ...key, records: records + delta }
  })
}

type Large = Readonly<Record<Level, Map<string, BlockKey>>>

/**
 * Brings blocks back to their sizes, after their records have changed as well. First what has
 * become too small is joined, then what is too large is split. Each join and split changes the size
 * of the block above by one, so that is looked at next, and no other can have the wrong size.
 */
export async function keepSizes(
  tx: Transaction,
  counted: readonly Counted[],
  sizes: BlockSizes = blockSizes,
): Promise<void> {
  const large: Large = { 1: new Map(), 2: new Map(), 3: new Map() }
  for (const { records, ...key } of counted) {
    if (records > sizes.max) large[1].set(nameOf(key), key)
    if (records < sizes.min) await joinWhileSmall(tx, key, { sizes, large })
  }
  for (const level of [1, 2, 3] as const) {
    for (const key of large[level].values()) {
      const above = (await split(tx, key, sizes)) ? await blockAbove(tx, key) : undefined
      if (above !== undefined) large[above.level].set(nameOf(above), above)
    }
  }
}

/** Notes the blocks that others were joined to as perhaps too large now. */
async function joinWhileSmall(
  tx: Transaction,
  small: BlockKey,
  { sizes, large }: { sizes: BlockSizes; large: Large },
): Promise<void> {
  let key: BlockKey | undefined = small
  while (key !== undefined) {
    const block = await blocksStore.get(tx, key)
    // It may have been joined to another meanwhile.
    if (block === undefined || (await sizeOf(tx, key, block)) >= sizes.min) return
    key = await join(tx, key, block)
    if (key === undefined) return
    large[key.level].set(nameOf(key), key)
    // Before this one goes on: it may be the only one of its block above now.
    const above = await blockAbove(tx, key)
    if (above !== undefined) await joinWhileSmall(tx, above, { sizes, large })
  }
}

async function sizeOf(tx: Transaction, key: BlockKey, { records }: BlockRow): Promise<number> {
  return key.level === 1 ? records : (await blocksIn(tx, key)).length
}

/** The blocks of the level below. */
async function blocksIn(tx: Transaction, key: BlockKey): Promise<BlockRow[]> {
  const { period, bound } = key
  const level = levelOf(key.level - 1)
  const until = (await blocksStore.after(tx, key))?.bound ?? null
  return blocksStore.between(tx, { period, level, bound, until })
}

async function blockAbove(tx: Transaction, key: BlockKey): Promise<BlockKey | undefined> {
  if (key.level === topLevel) return undefined
  const above = { ...key, level: levelOf(key.level + 1) }
  const block = await blocksStore.around(tx, above)
  return block && { ...above, bound: block.bound }
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
async function beginsAbove(tx: Transaction, key: BlockKey): Promise<boolean> {
  if (key.level === topLevel) return key.bound.length === 0
  return (await blocksStore.get(tx, { ...key, level: levelOf(key.level + 1) })) !== undefined
}

/** Splits a block in halves, and those again, until none is too large; false when it was not. */
async function split(tx: Transaction, key: BlockKey, sizes: BlockSizes): Promise<boolean> {
  const block = await blocksStore.get(tx, key)
  // It may have been joined to another meanwhile.
  if (block === undefined) return false
  const half = await halfOf(tx, key, { records: block.records, max: sizes.max })
  if (half === undefined) return false
  const { period, level } = key
  await blocksStore.count(tx, [{ ...key, delta: -half.records }])
  await blocksStore.insert(tx, [{ period, level, ...half }])
  await split(tx, key, sizes)
  await split(tx, { ...key, bound: half.bound }, sizes)
  return true
}

/** The second half of a block that is too large. */
async function halfOf(
  tx: Transaction,
  key: BlockKey,
  { records, max }: { records: number; max: number },
): Promise<BlockRow | undefined> {
  const { period, level, bound } = key
  if (level > 1) {
    const blocks = await blocksIn(tx, key)
    if (blocks.length <= max) return undefined
    const half = blocks.slice(Math.floor(blocks.length / 2))
    const [first] = half
    return (
      first && { bound: first.bound, records: half.reduce((sum, each) => sum + each.records, 0) }
    )
  }
  if (records <= max) return undefined
  const before = Math.floor(records / 2)
  const [last, next] = await blocksStore.placesAfter(tx, { period, bound, skipped: before - 1 })
  if (last === undefined || next === undefined) {
    throw new Error('a block counts more records than there are')
  }
  return { bound: boundBetween(last.place, next.place), records: records - before }
}

function nameOf({ period, level, bound }: BlockKey): string {
  return `${period} ${level} ${textOfPlace(bound)}`
}

function levelOf(number: number): Level {
  if (number === 1 || number === 2 || number === 3) return number
  throw new Error('a block has an unknown level')
}
