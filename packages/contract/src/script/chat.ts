import { z } from 'zod'
import { ChatMessage, chatApi } from '../chat.ts'
import { optional, presentReference } from '../fields.ts'
import { options, pageBefore, pageLimit, rowId } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const { channel } = chatApi.append.params.shape
const { sender, content, channel_type } = chatApi.append.body.shape

/** What kind 28 may be about. */
export const chatEventTypes = [
  'message.create',
  'message.update',
  'message.remove',
  'presence.join',
  'presence.leave',
  'typing',
  'access.revoked',
  'resync_required',
] as const

/** The most accounts of one chat.push or notifications.push. */
export const pushedAccountsMax = 1000

/** An event of a channel as a script gives it. */
export const ChatEvent = z.strictObject({
  type: z.enum(chatEventTypes),
  channel_id: channel,
  message: optional(ChatMessage),
  presence: optional(
    z.strictObject({ presence_id: presentReference(), user_id: presentReference() }),
  ),
  expires_at: optional(z.int().min(0)),
  watermark_event_id: optional(z.int().min(0)),
})
export type ChatEvent = z.output<typeof ChatEvent>

const planned = { tier: 'trusted', runs: 'node', planned: true } as const

export const chatScript = defineScriptApi({
  'chat.append': {
    doc: 'Appends a message; the first one makes the channel. The sender need not be an account.',
    args: { channel, sender, content, options: options({ channel_type }) },
    ok: ChatMessage,
    ...planned,
  },
  'chat.history': {
    doc: 'Messages, newest first; an unknown channel is an empty page.',
    args: {
      channel,
      options: options({ limit: pageLimit({ default: 50, cap: 200 }), before: pageBefore }),
    },
    ok: z.strictObject({ items: z.array(ChatMessage), next: z.int().nullable() }),
    ...planned,
  },
  'chat.remove': {
    doc: 'Blanks a message; a repeat changes nothing.',
    args: { channel, id: rowId },
    ok: ChatMessage,
    errors: ['not_found'],
    ...planned,
  },
  'chat.push': {
    doc: 'Sends an event (kind 28) to the live connections of up to 1,000 accounts.',
    args: { user_ids: z.array(presentReference()).max(pushedAccountsMax), event: ChatEvent },
    errors: ['limit_exceeded'],
    tier: 'trusted',
    runs: 'command',
    planned: true,
  },
})
