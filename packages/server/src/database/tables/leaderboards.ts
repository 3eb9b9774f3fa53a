import { boardOperators, boardSorts } from '@guildhall/contract'
import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const leaderboards = defineTable('leaderboards', {
  columns: {
    id: 'text',
    sort: oneOf(...boardSorts),
    operator: oneOf(...boardOperators),
    reset_schedule: 'text?',
    period: 'integer',
    records: 'integer',
    next_due_at_unix_ms: 'time?',
    created_at_unix_ms: 'time',
  },
  key: ['id'],
})

export const leaderboardPeriods = defineTable('leaderboard_periods', {
  columns: {
    period: 'integer',
    board_id: 'text?',
    due_at_unix_ms: 'time?',
    occurrences: 'integer',
    records: 'integer',
    closed_at_unix_ms: 'time?',
  },
  key: ['period'],
  sequence: 'period',
})

export const leaderboardRecords = defineTable('leaderboard_records', {
  columns: {
    period: 'integer',
    place: 'bytes',
    user_id: 'text',
    score: 'bigint',
    subscore: 'bigint',
    metadata: 'json?',
    updated_at_unix_ms: 'time',
    submissions: 'integer',
  },
  key: ['period', 'place'],
})

export const leaderboardBlocks = defineTable('leaderboard_blocks', {
  columns: { period: 'integer', level: 'integer', bound: 'bytes', records: 'integer' },
  key: ['period', 'level', 'bound'],
  visibility: 'hidden',
})
