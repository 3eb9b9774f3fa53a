import {
  type BoardOperator,
  type BoardSort,
  type JsonObject,
  type Leaderboard,
  type LeaderboardRecord,
  type RankedRecord,
  stringifyExact,
} from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { databaseNow } from '../../database/reads/stored-time.ts'
import { inTheirOrder } from '../../database/writes/in-their-order.ts'
import { mergedTransactions } from '../../database/writes/merged-writes.ts'
import { sharedReads } from '../../kernel/batching/shared-reads.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import { readObject } from '../../kernel/json/free-json.ts'
import type { Done, Mutate, MutateMany, Mutation } from '../../kernel/mutation.ts'
import { beginPeriod } from './leaderboards.periods.ts'
import { leaderboardsStore, type RecordRow } from './leaderboards.store.ts'
import { type BlockSizes, countChanges, keepSizes } from './ranks/blocks.ts'
import { type PageRow, type PageWanted, pagesStore } from './ranks/pages.store.ts'
import { type AroundRow, ranksStore } from './ranks/ranks.store.ts'
import {
  ResetDue,
  recordOf,
  type Submission,
  submitAll,
  unknownBoard,
} from './submissions/batch.ts'

export type LeaderboardsDeps = {
  db: Database
  clock: Clock
  mutate: Mutate<Transaction>
  mutateMany: MutateMany<Transaction>
  /** When a schedule is due for the first time after `unixMs`; null when it is not executed. */
  cursorAfter(schedule: string | null, unixMs: number): number | null
  /**
   * Executes what is due of a board, in a transaction of its own. Undefined when there was nothing
   * to execute, or when nothing may be executed now.
   */
  resetDue(boardId: string): Promise<object | undefined>
  /** Whether resets may be executed now: when not, a due board takes submissions as any other. */
  mayReset(): boolean
  /** For tests: blocks that are split and joined after a few records. */
  blockSizes?: BlockSizes
}

export type NewBoard = {
  id: string
  sort?: BoardSort | undefined
  operator?: BoardOperator | undefined
  reset_schedule?: string | null | undefined
}

export type NewRecord = {
  user_id: string
  score: bigint
  subscore?: bigint | undefined
  metadata?: JsonObject | undefined
}

export type Page = { limit: number; offset: number }

export type Leaderboards = ReturnType<typeof createLeaderboards>

/** The most submissions of one transaction. */
const itemsMax = 256
/** How often a submission finds its board due before it is given up. */
const resetsMax = 10
const lockedRows = { isolation: 'read committed' } as const

/**
 * Boards, their records and ranks. Every change of a board's records first locks the board's row,
 * so the changes of one board happen one after another on all nodes, and its blocks count exactly
 * what there is. Submissions that come at the same time share a transaction.
 */
export function createLeaderboards(deps: LeaderboardsDeps) {
  const { db, mutate } = deps
  const submit = createSubmit(deps)
  // Written out, because a page has up to 500 of them.
  const rankedOf = (row: RecordRow, rank: number): RankedRecord => ({
    rank,
    user_id: row.user_id,
    score: row.score,
    subscore: row.subscore,
    metadata: row.metadata === null ? null : readObject(row.metadata),
    updated_at_unix_ms: row.updated_at_unix_ms,
    submissions: row.submissions,
  })
  const submissionOf = (board_id: string, { subscore = 0n, metadata, ...record }: NewRecord) => {
    const text = metadata === undefined ? null : stringifyExact(metadata)
    return { ...record, board_id, subscore, metadata: text }
  }

  const pages = sharedPages(async (wanted) => {
    const [head, ...rows] = await pagesStore.page(db, wanted)
    if (head?.total === undefined || head.total === null) throw unknownBoard()
    const first = wanted.skipped + 1
    const items = rows.filter(isRecord).map((row, index) => rankedOf(row, first + index))
    return { board: wanted.board_id, total: head.total, items }
  })

  return {
    async list(): Promise<{ items: Leaderboard[]; total: number }> {
      const items = await leaderboardsStore.list(db)
      return { items, total: items.length }
    },
    create: (mutation: Mutation, board: NewBoard): Promise<Leaderboard> =>
      mutate(mutation, (tx) => create(tx, board, deps), lockedRows),
    delete: (mutation: Mutation, id: string): Promise<undefined> =>
      mutate(mutation, (tx) => remove(tx, id), lockedRows),
    /** An operator's submission; answers the record after the rule of the board was applied. */
    async submit(mutation: Mutation, id: string, record: NewRecord): Promise<LeaderboardRecord> {
      return recordOf(await submit({ ...submissionOf(id, record), mutation }))
    },
    /** Removes a record where there is one; false when the owner has none. */
    discard: (mutation: Mutation, id: string, userId: string): Promise<boolean> =>
      mutate(mutation, (tx) => discard(tx, { id, userId }, deps.blockSizes), lockedRows),
    deleteRecord: (mutation: Mutation, id: string, userId: string): Promise<undefined> =>
      mutate(mutation, (tx) => removeRecord(tx, { id, userId }, deps.blockSizes), lockedRows),

    /** Records by rank, and the number of all, as of one moment. Callers may share it. */
    records: pages,
    /** The record of one owner with its rank; undefined when there is none. */
    async rankOf(id: string, userId: string): Promise<RankedRecord | undefined> {
      const row = await db.find(ranksStore.ranked, { board_id: id, user_id: userId })
      if (row !== undefined) return rankedOf(row, row.rank)
      if (!(await ranksStore.exists(db, id))) throw unknownBoard()
      return undefined
    },
    /** Where one owner stands on all boards, by board. */
    async ranksOf(userId: string): Promise<({ board: string } & RankedRecord)[]> {
      const boards = await ranksStore.boardsOf(db, userId)
      const owners = boards.map(({ board_id }) => ({ board_id, user_id: userId }))
      const rows = await ranksStore.rankedAll(db, owners)
      const ranks = rows.map((row) => ({ board: row.board_id, ...rankedOf(row, row.rank) }))
      return ranks.sort((a, b) => (a.board < b.board ? -1 : 1))
    },
    /** The records of these owners by rank; those without one are left out. */
    async ofUsers(id: string, userIds: readonly string[]): Promise<RankedRecord[]> {
      const owners = [...new Set(userIds)].map((user_id) => ({ board_id: id, user_id }))
      const rows = await ranksStore.rankedAll(db, owners)
      if (rows.length === 0 && !(await ranksStore.exists(db, id))) throw unknownBoard()
      return rows.sort((a, b) => a.rank - b.rank).map((row) => rankedOf(row, row.rank))
    },
    /**
     * The record of one owner between those that rank right before and after it, by rank. Empty
     * when the owner has none. At most 500 on each side.
     */
    async around(
      id: string,
      userId: string,
      beside: { before: number; after: number },
    ): Promise<RankedRecord[]> {
      const rows = await ranksStore.around(db, { board_id: id, owner_id: userId, ...beside })
      if (rows.length === 0 && !(await ranksStore.exists(db, id))) throw unknownBoard()
      return inRankOrder(rows).map(([row, rank]) => rankedOf(row, rank))
    },
  }
}

function sharedPages<T>(read: (wanted: PageWanted) => Promise<T>) {
  const shared = sharedReads(read)
  return (id: string, { limit, offset }: Page) => {
    return shared(`${limit} ${offset} ${id}`, { board_id: id, wanted: limit, skipped: offset })
  }
}

type SubmissionRequest = Omit<Submission, 'ignoresDue'> & { mutation: Mutation }

/** Submissions of one turn, or that come while others are under way, share a transaction. */
function createSubmit({
  db,
  clock,
  mutateMany,
  resetDue,
  mayReset,
  blockSizes: sizes,
}: Pick<LeaderboardsDeps, 'db' | 'clock' | 'mutateMany' | 'resetDue' | 'mayReset' | 'blockSizes'>) {
  const combined = mergedTransactions<Submission & { mutation: Mutation }, RecordRow>(db, {
    itemsMax,
    runsOnFile: 2,
    run: (items) =>
      mutateMany(
        items,
        (tx, left) => submitAll(tx, left, { nowUnixMs: clock.nowUnixMs(), sizes }),
        lockedRows,
      ),
  })
  const resets = new Map<string, Promise<object | undefined>>()

  /** Submissions that find a board due meanwhile wait for the same reset. */
  function resetOnce(boardId: string): Promise<object | undefined> {
    const known = resets.get(boardId)
    if (known !== undefined) return known
    const reset = resetDue(boardId).finally(() => resets.delete(boardId))
    resets.set(boardId, reset)
    return reset
  }

  return async (request: SubmissionRequest): Promise<RecordRow> => {
    // Where nothing may be reset, to find the board due would only cost a second transaction.
    let ignoresDue = !mayReset()
    for (let made = 1; ; made += 1) {
      try {
        return await combined({ ...request, ignoresDue })
      } catch (error) {
        if (!(error instanceof ResetDue) || made > resetsMax) throw error
        // Without a reset somebody else has done it, or nobody may: then the period goes on.
        ignoresDue = (await resetOnce(request.board_id)) === undefined
      }
    }
  }
}

async function create(
  tx: Transaction,
  { id, sort = 'desc', operator = 'best', reset_schedule: schedule = null }: NewBoard,
  { clock, cursorAfter }: Pick<LeaderboardsDeps, 'clock' | 'cursorAfter'>,
): Promise<Done<Leaderboard>> {
  const next_due_at_unix_ms =
    schedule === null ? null : cursorAfter(schedule, await databaseNow(tx))
  const period = await beginPeriod(tx, id)
  const board = { id, sort, operator, reset_schedule: schedule }
  const created_at_unix_ms = clock.nowUnixMs()
  const row = { ...board, period, next_due_at_unix_ms, created_at_unix_ms }
  if (!(await leaderboardsStore.insert(tx, row))) {
    throw refuse.conflict('a leaderboard of this id exists')
  }
  const answer = { ...board, records: 0 }
  return { answer, target: id, details: `sort=${sort} operator=${operator}` }
}

/** However many records it has: they are left to retention. */
async function remove(tx: Transaction, id: string): Promise<Done<undefined>> {
  const records = await leaderboardsStore.delete(tx, id)
  if (records === undefined) throw unknownBoard()
  await leaderboardsStore.dropPeriods(tx, id)
  return { answer: undefined, target: id, details: `records=${records}` }
}

type RecordKey = { id: string; userId: string }

async function removeRecord(
  tx: Transaction,
  key: RecordKey,
  sizes: BlockSizes | undefined,
): Promise<Done<undefined>> {
  if (!(await takeRecord(tx, key, sizes))) throw refuse.notFound('no such record')
  return { answer: undefined, target: `${key.id}/${key.userId}`, details: 'deleted' }
}

async function discard(
  tx: Transaction,
  key: RecordKey,
  sizes: BlockSizes | undefined,
): Promise<Done<boolean>> {
  const answer = await takeRecord(tx, key, sizes)
  return { answer, target: `${key.id}/${key.userId}`, details: `removed=${answer}` }
}

/** False when there is none. */
async function takeRecord(
  tx: Transaction,
  { id, userId: user_id }: RecordKey,
  sizes: BlockSizes | undefined,
): Promise<boolean> {
  const [[board], [held]] = await inTheirOrder([
    leaderboardsStore.lock(tx, [id]),
    leaderboardsStore.held(tx, [{ board_id: id, user_id }]),
  ])
  if (board === undefined) throw unknownBoard()
  if (held === undefined) return false
  const [counted] = await inTheirOrder([
    countChanges(tx, [{ period: board.period, place: held.place, delta: -1 }]),
    leaderboardsStore.removeRecord(tx, { period: board.period, user_id }),
    leaderboardsStore.countRecords(tx, [{ id, delta: -1 }]),
  ])
  await keepSizes(tx, counted, sizes)
  return true
}

function inRankOrder(rows: readonly AroundRow[]): [AroundRow, rank: number][] {
  const before = rows.filter(({ is_before }) => is_before).reverse()
  const after = rows.filter(({ is_before }) => !is_before)
  return [...before, ...after].map((row, index) => [row, row.owner_rank - before.length + index])
}

function isRecord(row: PageRow): row is PageRow & RecordRow {
  return row.user_id !== null
}
