import type { Queries } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { pick, without } from '../../database/tables/table.ts'
import {
  tournamentEntries,
  tournamentResults,
  tournaments,
} from '../../database/tables/tournaments.ts'

const tournamentRow = without(tournaments, 'settled_sort', 'settled_records')
const columns = Object.keys(tournamentRow).join(', ')

const newRow = {
  ...pick(
    tournaments,
    'id',
    'leaderboard_id',
    'registration_opens_at_unix_ms',
    'registration_closes_at_unix_ms',
    'starts_at_unix_ms',
    'ends_at_unix_ms',
  ),
  now_unix_ms: 'time',
} as const
export type NewTournament = Row<typeof newRow>

const entryKey = pick(tournamentEntries, 'tournament_id', 'user_id')
const entryRow = { ...entryKey, registered_at: 'time' } as const
export type EntryKey = Row<typeof entryKey>

const resultRow = pick(tournamentResults, 'tournament_id', 'user_id', 'rank', 'score', 'subscore')
const resultColumns = Object.keys(resultRow).join(', ')

const list = statement({
  name: 'tournaments.list',
  text: `SELECT ${columns} FROM tournaments ORDER BY starts_at_unix_ms, id`,
  row: tournamentRow,
  long: true,
})

const byId = statement({
  name: 'tournaments.by-id',
  text: `SELECT ${columns} FROM tournaments WHERE id = :id`,
  params: { id: 'text' },
  row: tournamentRow,
})

/** No change of state happens beside what the reader does with the row. */
const held = statement({
  name: 'tournaments.held',
  text: `SELECT ${columns} FROM tournaments t WHERE t.id = :id {{for share of t}}`,
  params: { id: 'text' },
  row: tournamentRow,
})

/** Adds nothing when there is a tournament with the id. */
const insert = statement({
  name: 'tournaments.insert',
  text: `INSERT INTO tournaments (id, leaderboard_id, state, registration_opens_at_unix_ms,
      registration_closes_at_unix_ms, starts_at_unix_ms, ends_at_unix_ms, created_at_unix_ms,
      updated_at_unix_ms)
    VALUES (:id, :leaderboard_id, 'draft', :registration_opens_at_unix_ms,
      :registration_closes_at_unix_ms, :starts_at_unix_ms, :ends_at_unix_ms, :now_unix_ms,
      :now_unix_ms)
    ON CONFLICT (id) DO NOTHING
    RETURNING ${columns}`,
  params: newRow,
  row: tournamentRow,
})

const move = statement({
  name: 'tournaments.move',
  text: `UPDATE tournaments SET state = :to, updated_at_unix_ms = :now_unix_ms
    WHERE id = :id AND state = :from
    RETURNING ${columns}`,
  params: {
    id: 'text',
    from: tournaments.columns.state,
    to: tournaments.columns.state,
    now_unix_ms: 'time',
  },
  row: tournamentRow,
})

const entries = statement({
  name: 'tournaments.entries',
  text: `SELECT tournament_id, user_id, registered_at_unix_ms AS registered_at
    FROM tournament_entries WHERE tournament_id = :tournament_id
    ORDER BY registered_at_unix_ms, user_id`,
  params: { tournament_id: 'text' },
  row: entryRow,
  long: true,
})

const entry = statement({
  name: 'tournaments.entry',
  text: `SELECT tournament_id, user_id, registered_at_unix_ms AS registered_at
    FROM tournament_entries WHERE tournament_id = :tournament_id AND user_id = :user_id`,
  params: entryKey,
  row: entryRow,
})

/** Adds nothing when the user is registered. */
const insertEntry = statement({
  name: 'tournaments.insert-entry',
  text: `INSERT INTO tournament_entries (tournament_id, user_id, registered_at_unix_ms)
    VALUES (:tournament_id, :user_id, :registered_at)
    ON CONFLICT (tournament_id, user_id) DO NOTHING`,
  params: entryRow,
})

const results = statement({
  name: 'tournaments.results',
  text: `SELECT ${resultColumns} FROM tournament_results WHERE tournament_id = :tournament_id
    ORDER BY rank`,
  params: { tournament_id: 'text' },
  row: resultRow,
  long: true,
})

/** Queries about tournaments and entrants; every function takes the transaction first. */
export const tournamentsStore = {
  list: (tx: Queries) => tx.all(list, {}),
  byId: (tx: Queries, id: string) => tx.get(byId, { id }),
  held: (tx: Queries, id: string) => tx.get(held, { id }),
  insert: (tx: Queries, row: NewTournament) => tx.get(insert, row),
  move: (tx: Queries, change: Row<typeof move.params>) => tx.get(move, change),
  entries: (tx: Queries, tournament_id: string) => tx.all(entries, { tournament_id }),
  entry: (tx: Queries, key: EntryKey) => tx.get(entry, key),
  /** False when the user is registered already. */
  addEntry: async (tx: Queries, row: Row<typeof entryRow>): Promise<boolean> =>
    (await tx.run(insertEntry, row)) > 0,
  results: (tx: Queries, tournament_id: string) => tx.all(results, { tournament_id }),
}
