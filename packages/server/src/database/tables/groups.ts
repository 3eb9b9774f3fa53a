import { groupRoles } from '@guildhall/contract'
import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const groups = defineTable('groups', {
  columns: {
    id: 'integer',
    name: 'text',
    description: 'text',
    open: 'flag',
    max_size: 'integer',
    members_kept: 'integer',
    member_count: 'integer',
    members_joined: 'integer',
    created_at_unix_ms: 'time',
  },
  key: ['id'],
  sequence: 'id',
  counted: true,
})

export const groupMembers = defineTable('group_members', {
  columns: {
    group_id: 'integer',
    user_id: 'text',
    role: oneOf(...groupRoles),
    join_order: 'integer',
    joined_at_unix_ms: 'time',
  },
  key: ['group_id', 'user_id'],
})
