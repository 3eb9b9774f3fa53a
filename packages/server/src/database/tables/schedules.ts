import { defineTable } from './table.ts'

/** What scripts want to run by the clock. */
export const scriptSchedules = defineTable('script_schedules', {
  columns: {
    name: 'text',
    cron: 'text',
    next_due_at_unix_ms: 'time',
    fencing_token: 'integer',
    seen_at_unix_ms: 'time',
  },
  key: ['name'],
})
