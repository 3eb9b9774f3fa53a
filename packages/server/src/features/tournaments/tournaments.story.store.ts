import { ofOneUser } from '../../database/reads/of-one-user.ts'
import { statement } from '../../database/statement.ts'
import type { Stories } from '../feature.ts'

const place = { 'e.registered_at_unix_ms': ':at_unix_ms', 'e.tournament_id': ':ref' }

const enteredBy = statement({
  name: 'tournaments.entered-by',
  text: `SELECT e.tournament_id, e.registered_at_unix_ms, r.rank, r.score
    FROM tournament_entries e
    LEFT JOIN tournament_results r
      ON r.tournament_id = e.tournament_id AND r.user_id = e.user_id
    WHERE ${ofOneUser('e.user_id', place)}`,
  params: { user_id: 'text', at_unix_ms: 'time', ref: 'text', limit: 'integer' },
  row: {
    tournament_id: 'text',
    registered_at_unix_ms: 'time',
    rank: 'integer?',
    score: 'bigint?',
  },
})

/** The tournaments that a user entered, and what became of it. */
export const tournamentStory: Stories['tournament'] = {
  scope: 'tournaments:read',
  async read(tx, { user_id, before, limit }) {
    const rows = await tx.all(enteredBy, { user_id, ...before, limit })
    return rows.map(({ tournament_id, registered_at_unix_ms, rank, score }) => ({
      at_unix_ms: registered_at_unix_ms,
      ref: tournament_id,
      text: `entered ${tournament_id}${rank === null ? '' : `; rank ${rank} with ${score}`}`,
    }))
  },
}
