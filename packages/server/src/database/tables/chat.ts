import { channelTypes } from '@guildhall/contract'
import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const chatChannels = defineTable('chat_channels', {
  columns: {
    channel: 'text',
    channel_type: oneOf(...channelTypes),
    messages: 'integer',
    events: 'integer',
    last_activity_unix_ms: 'time',
  },
  key: ['channel'],
  counted: true,
})

export const chatMessages = defineTable('chat_messages', {
  columns: {
    channel: 'text',
    id: 'integer',
    sender: 'text',
    content: 'text',
    created_at_unix_ms: 'time',
    updated_at_unix_ms: 'time',
    revision: 'integer',
    last_event_id: 'integer',
    deleted: 'flag',
  },
  key: ['channel', 'id'],
})

export const chatModeration = defineTable('chat_moderation', {
  columns: {
    id: 'integer',
    time_unix_ms: 'time',
    actor_kind: 'text',
    actor_digest: 'bytes',
    channel_digest: 'bytes',
    author_digest: 'bytes',
    action: 'text',
    message_id: 'integer',
    node_id: 'text',
  },
  key: ['id'],
  sequence: 'id',
})
