import type { Queries } from '../../../database/database.ts'
import { type Row, statement } from '../../../database/statement.ts'

/** A period of a board, live or closed, and the order in which its records rank. */
const periodRow = { period: 'integer', sort: 'text' } as const
export type BoardPeriod = Row<typeof periodRow>

const livePeriod = statement({
  name: 'tournaments.live-period',
  text: 'SELECT period, sort FROM leaderboards WHERE id = :leaderboard_id',
  params: { leaderboard_id: 'text' },
  row: periodRow,
})

const takeSnapshot = statement({
  name: 'tournaments.take-snapshot',
  text: `INSERT INTO tournament_snapshots (tournament_id, user_id, score, subscore)
    SELECT e.tournament_id, e.user_id, r.score, r.subscore
    FROM tournament_entries e
    JOIN leaderboard_records r ON r.period = :period AND r.user_id = e.user_id
    WHERE e.tournament_id = :tournament_id`,
  params: { tournament_id: 'text', period: 'integer' },
})

/**
 * The one place where tournaments read boards: within the database, because a tournament may have
 * more entrants than should pass through the process. Records belong to a period by its number
 * alone, and a period that was closed keeps them, so a reset in between changes nothing.
 */
export const snapshotStore = {
  /** The period of a board that takes records now; undefined when there is no such board. */
  livePeriod: (tx: Queries, leaderboard_id: string) => tx.get(livePeriod, { leaderboard_id }),
  /** Copies the records of a tournament's entrants; answers how many there are. */
  take: (tx: Queries, tournament_id: string, period: number): Promise<number> =>
    tx.run(takeSnapshot, { tournament_id, period }),
}
