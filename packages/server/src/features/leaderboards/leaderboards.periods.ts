import type { Transaction } from '../../database/database.ts'
import { leaderboardsStore } from './leaderboards.store.ts'
import { openBlocks } from './ranks/blocks.ts'

export type Closing = {
  board: string
  /** What the reset is due for; no two resets of a board share it. */
  due_at: number
  /** Occurrences of the schedule that it covers. */
  occurrences: number
  /** The cursor from now on. */
  next_due_at: number | null
}

/**
 * Closes the period of a board and begins the next one, in the caller's transaction, which is the
 * same work however many records there are. The closed ones stay as they are. False, and nothing is
 * changed, when there is no such board or its cursor is beyond `due_at`: somebody else was first.
 *
 * @throws UniqueViolation when the board has an epoch of this `due_at`
 */
export async function closePeriod(
  tx: Transaction,
  { board: id, due_at, occurrences, next_due_at }: Closing,
): Promise<boolean> {
  const board = await leaderboardsStore.dueBoard(tx, { id, due_at })
  if (board === undefined) return false
  const { period, records } = board
  await leaderboardsStore.closePeriod(tx, { period, due_at_unix_ms: due_at, occurrences, records })
  const next = { id, period: await beginPeriod(tx, id), next_due_at_unix_ms: next_due_at }
  await leaderboardsStore.enterPeriod(tx, next)
  return true
}

/** The number of a new period of a board, which has no records and has the blocks to count them. */
export async function beginPeriod(tx: Transaction, boardId: string): Promise<number> {
  const period = await leaderboardsStore.openPeriod(tx, boardId)
  await openBlocks(tx, period)
  return period
}
