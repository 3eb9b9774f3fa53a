import { z } from 'zod'
import { ChatMessage, channelTypes, NewMessage } from '../shapes/chat.ts'
import { limit, presentReference, reference, unixMs } from '../values/fields.ts'
import { before, pageOf, pathInteger } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

export const ChatChannel = once(() =>
  z.strictObject({
    channel: z.string(),
    channel_type: z.enum(channelTypes),
    messages: z.int().min(1).meta({ description: 'Ever appended: the highest id' }),
    last_activity_unix_ms: unixMs,
  }),
)
export type ChatChannel = z.output<ReturnType<typeof ChatChannel>>

const channelPath = once(() => z.strictObject({ channel: presentReference() }))

export const chatApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/chat',
    access: 'operator',
    scope: 'chat:read',
    summary: 'Channels, most recently active first; the filter is a substring of the id',
    query: () =>
      z.strictObject({
        filter: reference().optional(),
        limit: limit({ default: 100, cap: 500 }),
      }),
    ok: () =>
      pageOf(ChatChannel()).extend({
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
    body: NewMessage,
    ok: ChatMessage,
  },
  history: {
    method: 'GET',
    path: '/console/v1/chat/{channel}/messages',
    access: 'operator',
    scope: 'chat:read',
    summary: 'Messages, newest first; an unknown channel is an empty page',
    params: channelPath,
    query: () => z.strictObject({ limit: limit({ default: 50, cap: 200 }), before }),
    ok: () =>
      z.strictObject({
        channel: z.string(),
        items: z.array(ChatMessage()),
        next: z.int().min(1).optional().meta({ description: 'Present when the page is full' }),
      }),
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/chat/{channel}/messages/{id}',
    access: 'admin',
    audit: 'chat.message.delete',
    summary: 'Blanks a message; a repeat changes nothing',
    params: () => z.strictObject({ channel: presentReference(), id: pathInteger }),
    errors: ['not_found'],
  },
})
