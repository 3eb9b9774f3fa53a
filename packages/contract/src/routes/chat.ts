import { z } from 'zod'
import {
  isBlank,
  limit,
  optional,
  presentReference,
  reference,
  text,
  unixMs,
  utf8Bytes,
} from '../values/fields.ts'
import { before, pageOf, pathInteger } from '../values/numbers.ts'
import { defineApi } from './route.ts'

export const channelTypes = ['room', 'group', 'direct'] as const

export const ChatChannel = z.strictObject({
  channel: z.string(),
  channel_type: z.enum(channelTypes),
  messages: z.int().min(1).meta({ description: 'Ever appended: the highest id' }),
  last_activity_unix_ms: unixMs,
})
export type ChatChannel = z.output<typeof ChatChannel>

export const ChatMessage = z.strictObject({
  id: z.int().min(1).meta({ description: 'Counts from 1 in each channel, without gaps' }),
  sender: z.string(),
  content: z.string().meta({ description: 'Empty once deleted' }),
  created_at_unix_ms: unixMs,
  updated_at_unix_ms: unixMs,
  revision: z.int().min(1),
  last_event_id: z.int().min(1),
  deleted: z.boolean(),
})
export type ChatMessage = z.output<typeof ChatMessage>

const content = text(
  (value) => !isBlank(value) && utf8Bytes(value) <= 2048 && !hasForbiddenControl(value),
  'must be 1..2048 bytes, not blank, without control characters except line ends',
  { minLength: 1, maxLength: 2048 },
)

const channelPath = z.strictObject({ channel: presentReference() })

export const chatApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/chat',
    access: 'operator',
    scope: 'chat:read',
    summary: 'Channels, most recently active first; the filter is a substring of the id',
    query: z.strictObject({
      filter: reference().optional(),
      limit: limit({ default: 100, cap: 500 }),
    }),
    ok: pageOf(ChatChannel).extend({
      total: z.int().min(0).meta({ description: 'Before filter and limit' }),
    }),
  },
  append: {
    method: 'POST',
    path: '/console/v1/chat/{channel}/messages',
    access: 'admin',
    audit: 'chat.message.append',
    summary: 'Appends a message; the first one makes the channel',
    params: channelPath,
    body: z.strictObject({
      sender: presentReference(),
      content,
      channel_type: optional(z.enum(channelTypes)),
    }),
    ok: ChatMessage,
  },
  history: {
    method: 'GET',
    path: '/console/v1/chat/{channel}/messages',
    access: 'operator',
    scope: 'chat:read',
    summary: 'Messages, newest first; an unknown channel is an empty page',
    params: channelPath,
    query: z.strictObject({ limit: limit({ default: 50, cap: 200 }), before }),
    ok: z.strictObject({
      channel: z.string(),
      items: z.array(ChatMessage),
      next: z.int().min(1).optional().meta({ description: 'Present when the page is full' }),
    }),
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/chat/{channel}/messages/{id}',
    access: 'admin',
    audit: 'chat.message.delete',
    summary: 'Blanks a message; a repeat changes nothing',
    params: z.strictObject({ channel: presentReference(), id: pathInteger }),
    errors: ['not_found'],
  },
})

/** Control characters other than LF and CR. */
function hasForbiddenControl(value: string): boolean {
  return /\p{Cc}/u.test(value.replace(/[\n\r]/g, ''))
}
