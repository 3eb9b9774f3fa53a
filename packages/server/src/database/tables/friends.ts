import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const friendEdges = defineTable('friend_edges', {
  columns: {
    user_id: 'text',
    other_id: 'text',
    state: oneOf('invited_sent', 'invited_received', 'friend', 'blocked'),
    updated_unix_ms: 'time',
  },
  key: ['user_id', 'other_id'],
})
