import type { BoardOperator, BoardSort, JsonObject, RankedRecord } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Mutate, MutateMany } from '../../kernel/mutation.ts'
import { closePeriod } from './leaderboards.periods.ts'
import { createLeaderboards, type LeaderboardsDeps } from './leaderboards.service.ts'
import type { BlockSizes } from './ranks/blocks.ts'

/** Blocks that a handful of records split and join, so that small boards have all levels. */
export const tinyBlocks: BlockSizes = { min: 2, max: 5 }

type Options = Partial<
  Pick<LeaderboardsDeps, 'cursorAfter' | 'resetDue' | 'mayReset' | 'blockSizes'>
> & { clock?: Clock }

/** The service on a database, without the rest of a node. */
export function openBoards(db: Database, options: Options = {}) {
  const { clock = createFakeClock(), ...rest } = options
  const mutate: Mutate<Transaction> = async (_, change, how) =>
    (await db.transaction(change, how)).answer
  const mutateMany: MutateMany<Transaction> = async (items, change, how) => {
    const results = await db.transaction((tx) => change(tx, items), how)
    return results.map((result) => (result.ok ? { ok: true, value: result.value.answer } : result))
  }
  return createLeaderboards({
    db,
    clock,
    mutate,
    mutateMany,
    cursorAfter: () => null,
    resetDue: async () => undefined,
    mayReset: () => true,
    ...rest,
  })
}

const setCursor = statement({
  name: 'tests.leaderboards-set-cursor',
  text: 'UPDATE leaderboards SET next_due_at_unix_ms = :due_at WHERE id = :id',
  params: { id: 'text', due_at: 'integer' },
})

/** Resets a board that has no schedule. */
export async function resetBoard(db: Database, id: string, dueAt: number): Promise<void> {
  const closing = { board: id, due_at: dueAt, occurrences: 1, next_due_at: null }
  const closed = await db.transaction(
    async (tx) => {
      await tx.run(setCursor, { id, due_at: dueAt })
      return closePeriod(tx, closing)
    },
    { isolation: 'read committed' },
  )
  if (!closed) throw new Error('the board was not reset')
}

type Submitted = {
  user_id: string
  score: bigint
  subscore: bigint
  metadata: JsonObject | null
}
type Kept = Omit<RankedRecord, 'rank'>

/** What a board must be: every rule written down once more, in the plainest way. */
export function createModel(sort: BoardSort, operator: BoardOperator) {
  const records = new Map<string, Kept>()
  const clamp = (sum: bigint) => {
    if (sum > 2n ** 63n - 1n) return 2n ** 63n - 1n
    return sum < -(2n ** 63n) ? -(2n ** 63n) : sum
  }
  const compareScores = (a: Submitted, b: Submitted) => {
    const ascending =
      a.score === b.score ? Number(a.subscore > b.subscore) - Number(a.subscore < b.subscore) : 0
    const byScore = ascending || Number(a.score > b.score) - Number(a.score < b.score)
    return sort === 'asc' ? byScore : -byScore
  }
  return {
    submit(sent: Submitted, nowUnixMs: number): Kept {
      const held = records.get(sent.user_id)
      let next: Kept = { ...sent, updated_at_unix_ms: nowUnixMs, submissions: 1 }
      if (held !== undefined) {
        const submissions = held.submissions + 1
        next = { ...next, submissions }
        if (operator === 'best' && compareScores(sent, held) >= 0) next = { ...held, submissions }
        if (operator === 'incr') {
          next.score = clamp(held.score + sent.score)
          next.subscore = clamp(held.subscore + sent.subscore)
        }
      }
      records.set(sent.user_id, next)
      return next
    },
    remove: (userId: string): boolean => records.delete(userId),
    reset: () => records.clear(),
    ranked(): RankedRecord[] {
      const sorted = [...records.values()].sort(
        (a, b) =>
          compareScores(a, b) || Buffer.compare(Buffer.from(a.user_id), Buffer.from(b.user_id)),
      )
      return sorted.map((record, index) => ({ rank: index + 1, ...record }))
    },
  }
}

const blocks = statement({
  name: 'tests.leaderboards-blocks',
  text: `SELECT k.period, k.level, k.bound, k.records FROM leaderboard_blocks k
    JOIN leaderboards b ON b.period = k.period ORDER BY k.period, k.level, k.bound`,
  row: { period: 'integer', level: 'integer', bound: 'bytes', records: 'integer' },
})

/** Blocks of live periods that are too large, or too small although they have a neighbour. */
export async function misshapenBlocks(db: Database, { min, max }: BlockSizes): Promise<string[]> {
  const all = (await db.all(blocks, {})).map(({ bound, ...block }) => {
    return { ...block, bound: Buffer.from(bound).toString('latin1') }
  })
  type Block = (typeof all)[number]
  const ofLevel = (level: number, { period }: Block) =>
    all.filter((each) => each.period === period && each.level === level)
  // Latin-1 texts compare as their bytes do.
  const blocksIn = (above: Block | undefined, level: number, some: Block) => {
    const until = above && ofLevel(above.level, above).find(({ bound }) => bound > above.bound)
    return ofLevel(level, some).filter(
      ({ bound }) => bound >= (above?.bound ?? '') && !(until && bound >= until.bound),
    )
  }
  return all.flatMap((block) => {
    const { level, bound, records } = block
    const size = level === 1 ? records : blocksIn(block, level - 1, block).length
    const parent = ofLevel(level + 1, block).findLast((each) => each.bound <= bound)
    const isAlone = blocksIn(parent, level, block).length === 1
    return size <= max && (size >= min || isAlone) ? [] : [`level ${level}: ${size}`]
  })
}
