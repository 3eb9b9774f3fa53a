import type { LeaderboardRecord } from '@guildhall/contract'
import type { Transaction } from '../../../database/database.ts'
import { inTheirOrder } from '../../../database/writes/in-their-order.ts'
import type { CombinedResult } from '../../../kernel/batching/combiner.ts'
import { refuse } from '../../../kernel/failure.ts'
import { readObject } from '../../../kernel/json/free-json.ts'
import type { Done } from '../../../kernel/mutation.ts'
import {
  type LockedBoard,
  leaderboardsStore,
  type RecordRow,
  type StoredRow,
} from '../leaderboards.store.ts'
import type { Change } from '../ranks/blocks.store.ts'
import { type BlockSizes, countChanges, keepSizes } from '../ranks/blocks.ts'
import { placeOf } from '../ranks/place.ts'
import { applyOperator, type Score } from './operators.ts'

/** A submission as it is stored; `metadata` is JSON text. */
export type Submission = Score & {
  board_id: string
  user_id: string
  /** A due reset of the board does not stop it. */
  ignoresDue: boolean
}

/** Thrown for a submission to a board whose reset is due: nothing of it was stored. */
export class ResetDue extends Error {
  override readonly name = 'ResetDue'
}

/** The record of one user in one batch: as it was found, and as it has become. */
type Slot = { board: LockedBoard; held: StoredRow | undefined; row: RecordRow | undefined }

/**
 * Applies submissions in their order, each as if it had been alone, with one statement of each kind
 * for all of them. Boards are locked first, so what is read after that stays true until the commit.
 */
export async function submitAll(
  tx: Transaction,
  items: readonly Submission[],
  { nowUnixMs, sizes }: { nowUnixMs: number; sizes?: BlockSizes | undefined },
): Promise<CombinedResult<Done<RecordRow>>[]> {
  const keys = new Map(
    items.map(({ board_id, user_id }) => [nameOf(board_id, user_id), { board_id, user_id }]),
  )
  const [locked, held] = await inTheirOrder([
    leaderboardsStore.lock(tx, [...new Set(items.map(({ board_id }) => board_id))]),
    leaderboardsStore.held(tx, [...keys.values()]),
  ])
  const boards = new Map(locked.map((board) => [board.id, board]))
  const slots = slotsOf(boards, held)
  const results = items.map((item): CombinedResult<Done<RecordRow>> => {
    const board = boards.get(item.board_id)
    if (board === undefined) return { ok: false, error: unknownBoard() }
    if (board.is_due && !item.ignoresDue) return { ok: false, error: new ResetDue() }
    const name = nameOf(board.id, item.user_id)
    const slot = slots.get(name) ?? { board, held: undefined, row: undefined }
    slots.set(name, slot)
    slot.row = submitted(slot, item, nowUnixMs)
    const { score, subscore } = item
    return {
      ok: true,
      value: {
        answer: slot.row,
        shown: shownOf(slot.row),
        target: `${board.id}/${item.user_id}`,
        details: `score=${score} subscore=${subscore}`,
      },
    }
  })
  await store(tx, [...slots.values()], sizes)
  return results
}

/** The record as it is shown, made once somebody asks. */
function shownOf(row: RecordRow): () => LeaderboardRecord {
  return () => recordOf(row)
}

export function recordOf(row: RecordRow): LeaderboardRecord {
  return { ...row, metadata: row.metadata === null ? null : readObject(row.metadata) }
}

export function unknownBoard() {
  return refuse.notFound('no such leaderboard')
}

/** What the record has become by one more submission. */
function submitted({ board, row }: Slot, item: Submission, nowUnixMs: number): RecordRow {
  const { user_id, score, subscore, metadata } = item
  if (row === undefined) {
    const first = { user_id, score, subscore, metadata }
    return { ...first, updated_at_unix_ms: nowUnixMs, submissions: 1 }
  }
  const submissions = row.submissions + 1
  const applied = applyOperator(board, row, { score, subscore, metadata })
  if (applied === undefined) return { ...row, submissions }
  return { user_id, ...applied, updated_at_unix_ms: nowUnixMs, submissions }
}

async function store(
  tx: Transaction,
  slots: readonly Slot[],
  sizes: BlockSizes | undefined,
): Promise<void> {
  const added: StoredRow[] = []
  const moved: StoredRow[] = []
  const kept: StoredRow[] = []
  const left: Change[] = []
  const counts = new Map<string, { id: string; delta: number }>()
  for (const { board, held, row } of slots) {
    if (row === undefined) continue
    const stored = { period: board.period, place: placeOf(board.sort, row), ...row }
    if (held === undefined) {
      added.push(stored)
      counts.set(board.id, { id: board.id, delta: (counts.get(board.id)?.delta ?? 0) + 1 })
    } else if (held.score === row.score && held.subscore === row.subscore) {
      if (held.submissions !== row.submissions) kept.push(stored)
    } else {
      moved.push(stored)
      left.push({ period: held.period, place: held.place, delta: -1 })
    }
  }
  const arrived = [...added, ...moved].map(({ period, place }) => ({ period, place, delta: 1 }))
  const [counted] = await inTheirOrder([
    countChanges(tx, [...left, ...arrived]),
    leaderboardsStore.move(tx, moved),
    leaderboardsStore.add(tx, added),
    leaderboardsStore.keep(tx, kept.map(standingOf)),
    leaderboardsStore.countRecords(tx, [...counts.values()]),
  ])
  await keepSizes(tx, counted, sizes)
}

function standingOf({ period, place, metadata, updated_at_unix_ms, submissions }: StoredRow) {
  return { period, place, metadata, updated_at_unix_ms, submissions }
}

function slotsOf(
  boards: ReadonlyMap<string, LockedBoard>,
  held: readonly StoredRow[],
): Map<string, Slot> {
  const byPeriod = new Map([...boards.values()].map((board) => [board.period, board]))
  const slots = new Map<string, Slot>()
  for (const row of held) {
    const board = byPeriod.get(row.period)
    if (board === undefined) continue
    const { user_id, score, subscore, metadata, updated_at_unix_ms, submissions } = row
    slots.set(nameOf(board.id, user_id), {
      board,
      held: row,
      row: { user_id, score, subscore, metadata, updated_at_unix_ms, submissions },
    })
  }
  return slots
}

function nameOf(boardId: string, userId: string): string {
  return `${boardId}\u0000${userId}`
}
