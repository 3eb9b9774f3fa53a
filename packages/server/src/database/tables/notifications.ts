import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const notifications = defineTable('notifications', {
  columns: {
    id: 'integer',
    user_id: 'text?',
    subject: 'text',
    content: 'json',
    code: 'integer',
    created_at_unix_ms: 'time',
    read_at_unix_ms: 'time?',
  },
  key: ['id'],
  sequence: 'id',
})

export const notificationTotals = defineTable('notification_totals', {
  columns: { audience: oneOf('all', 'broadcast', 'user'), user_id: 'text', total: 'integer' },
  key: ['audience', 'user_id'],
  visibility: 'hidden',
})
