import type { Queries } from '../../../database/database.ts'
import { type Row, statement } from '../../../database/statement.ts'

const page = { after_unix_ms: 'integer', after_id: 'text', limit: 'integer' } as const
const pageRow = { id: 'text', due_unix_ms: 'integer' } as const
/** A place in the order of what is due: behind this moment and, at this moment, behind this id. */
export type DuePage = Row<typeof page>

/**
 * A reset of the board that was due first finalizes the tournament, with the records of the period
 * that it closes. Boards have a cursor only where resets are executed. One whose reset keeps
 * failing delays its tournaments, and that is right: what the reset closes is what they rank.
 */
const noResetFirst = `NOT EXISTS (SELECT 1 FROM leaderboards b
        WHERE b.id = tournaments.leaderboard_id AND b.next_due_at_unix_ms <= {{now}}
          AND b.next_due_at_unix_ms <= tournaments.ends_at_unix_ms)`

const ended = statement({
  name: 'tournaments.ended',
  text: `SELECT id, ends_at_unix_ms AS due_unix_ms FROM tournaments
    WHERE state = 'running' AND ends_at_unix_ms <= {{now}}
      AND (ends_at_unix_ms > :after_unix_ms
        OR (ends_at_unix_ms = :after_unix_ms AND id > :after_id))
      AND ${noResetFirst}
    ORDER BY ends_at_unix_ms, id LIMIT :limit`,
  params: page,
  row: pageRow,
})

const finalizing = statement({
  name: 'tournaments.finalizing',
  text: `SELECT id, settled_epoch_due_at_unix_ms AS due_unix_ms FROM tournaments
    WHERE state = 'finalizing'
      AND (settled_epoch_due_at_unix_ms > :after_unix_ms
        OR (settled_epoch_due_at_unix_ms = :after_unix_ms AND id > :after_id))
    ORDER BY settled_epoch_due_at_unix_ms, id LIMIT :limit`,
  params: page,
  row: pageRow,
})

/** Changes nothing when the tournament is not running any more, or a reset comes first. */
const finalize = statement({
  name: 'tournaments.finalize',
  text: `UPDATE tournaments
    SET state = 'finalizing', settled_epoch_due_at_unix_ms = ends_at_unix_ms,
      updated_at_unix_ms = :now_unix_ms
    WHERE id = :id AND state = 'running' AND ${noResetFirst}
    RETURNING leaderboard_id`,
  params: { id: 'text', now_unix_ms: 'integer' },
  row: { leaderboard_id: 'text' },
})

/** An end that was due before the reset came first, even if nobody has looked since. */
const finalizeBoard = statement({
  name: 'tournaments.finalize-board',
  text: `UPDATE tournaments
    SET state = 'finalizing', updated_at_unix_ms = :now_unix_ms, settled_epoch_due_at_unix_ms =
      CASE WHEN ends_at_unix_ms < :due_at_unix_ms THEN ends_at_unix_ms ELSE :due_at_unix_ms END
    WHERE leaderboard_id = :leaderboard_id AND state = 'running'
    RETURNING id`,
  params: { leaderboard_id: 'text', due_at_unix_ms: 'integer', now_unix_ms: 'integer' },
  row: { id: 'text' },
})

const noteSnapshot = statement({
  name: 'tournaments.note-snapshot',
  text: `UPDATE tournaments SET settled_sort = :sort, settled_records = :records WHERE id = :id`,
  params: { id: 'text', sort: 'text?', records: 'integer' },
})

/** Changes nothing when the tournament is completed already. */
const complete = statement({
  name: 'tournaments.complete',
  text: `UPDATE tournaments SET state = 'completed', updated_at_unix_ms = :now_unix_ms
    WHERE id = :id AND state = 'finalizing'
    RETURNING leaderboard_id, settled_sort`,
  params: { id: 'text', now_unix_ms: 'integer' },
  row: { leaderboard_id: 'text', settled_sort: 'text?' },
})

const rank = (sort: 'asc' | 'desc') =>
  statement({
    name: `tournaments.rank-${sort}`,
    text: `INSERT INTO tournament_results (tournament_id, rank, user_id, score, subscore)
      SELECT s.tournament_id,
        ROW_NUMBER() OVER (ORDER BY s.score ${sort}, s.subscore ${sort}, s.user_id),
        s.user_id, s.score, s.subscore
      FROM tournament_snapshots s WHERE s.tournament_id = :tournament_id`,
    params: { tournament_id: 'text' },
  })
const rankAscending = rank('asc')
const rankDescending = rank('desc')

const dropSnapshot = statement({
  name: 'tournaments.drop-snapshot',
  text: 'DELETE FROM tournament_snapshots WHERE tournament_id = :tournament_id',
  params: { tournament_id: 'text' },
})

const ranks = statement({
  name: 'tournaments.ranks',
  text: `SELECT r.user_id, r.rank, r.score, r.subscore, t.leaderboard_id FROM tournament_results r
    JOIN tournaments t ON t.id = r.tournament_id
    WHERE r.tournament_id = :tournament_id AND r.rank BETWEEN :from_rank AND :to_rank
    ORDER BY r.rank`,
  params: { tournament_id: 'text', from_rank: 'integer', to_rank: 'integer' },
  row: {
    user_id: 'text',
    rank: 'integer',
    score: 'bigint',
    subscore: 'bigint',
    leaderboard_id: 'text',
  },
})

/** Queries of the settlement; every function takes the transaction first. */
export const settlementStore = {
  /** Running tournaments whose end has passed by the database's clock, before any reset was due. */
  ended: (tx: Queries, from: DuePage) => tx.all(ended, from),
  finalizing: (tx: Queries, from: DuePage) => tx.all(finalizing, from),
  finalize: (tx: Queries, change: Row<typeof finalize.params>) => tx.get(finalize, change),
  finalizeBoard: (tx: Queries, change: Row<typeof finalizeBoard.params>) =>
    tx.all(finalizeBoard, change),
  noteSnapshot: (tx: Queries, note: Row<typeof noteSnapshot.params>) => tx.run(noteSnapshot, note),
  complete: (tx: Queries, change: Row<typeof complete.params>) => tx.get(complete, change),
  /** Writes the results from the snapshot; answers how many there are. */
  rank: (tx: Queries, tournament_id: string, sort: string): Promise<number> =>
    tx.run(sort === 'asc' ? rankAscending : rankDescending, { tournament_id }),
  dropSnapshot: (tx: Queries, tournament_id: string) => tx.run(dropSnapshot, { tournament_id }),
  ranks: (tx: Queries, range: Row<typeof ranks.params>) => tx.all(ranks, range),
}
