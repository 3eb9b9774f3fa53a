import { boardSorts, tournamentStates } from '@guildhall/contract'
import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const tournaments = defineTable('tournaments', {
  columns: {
    id: 'text',
    leaderboard_id: 'text',
    state: oneOf(...tournamentStates),
    registration_opens_at_unix_ms: 'time',
    registration_closes_at_unix_ms: 'time',
    starts_at_unix_ms: 'time',
    ends_at_unix_ms: 'time',
    settled_epoch_due_at_unix_ms: 'time?',
    settled_sort: oneOf(...boardSorts, null),
    settled_records: 'integer?',
    created_at_unix_ms: 'time',
    updated_at_unix_ms: 'time',
  },
  key: ['id'],
})

export const tournamentEntries = defineTable('tournament_entries', {
  columns: { tournament_id: 'text', user_id: 'text', registered_at_unix_ms: 'time' },
  key: ['tournament_id', 'user_id'],
})

export const tournamentSnapshots = defineTable('tournament_snapshots', {
  columns: { tournament_id: 'text', user_id: 'text', score: 'bigint', subscore: 'bigint' },
  key: ['tournament_id', 'user_id'],
})

export const tournamentResults = defineTable('tournament_results', {
  columns: {
    tournament_id: 'text',
    rank: 'integer',
    user_id: 'text',
    score: 'bigint',
    subscore: 'bigint',
  },
  key: ['tournament_id', 'rank'],
})
