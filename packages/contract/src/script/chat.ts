import { z } from 'zod'
import { ChatMessage, NewMessage } from '../shapes/chat.ts'
import { optional, presentReference } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { options, pageBefore, pageLimit, raw, rowId } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const channel = presentReference()

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

const presence = once(() =>
  z.strictObject({ presence_id: presentReference(), user_id: presentReference() }),
)

/** An event of a channel as a script gives it. */
export const ChatEvent = once(() =>
  z
    .strictObject({
      type: z.enum(chatEventTypes),
      channel_id: channel,
      message: optional(ChatMessage()),
      presence: optional(presence()),
      expires_at: optional(z.int().min(0)),
      watermark_event_id: optional(z.int().min(0)),
    })
    .refine(hasItsShape, { error: 'must have what its type says, and nothing else' }),
)
export type ChatEvent = z.output<ReturnType<typeof ChatEvent>>

const trusted = { tier: 'trusted', runs: 'node' } as const
/** For answers that are handed on. */
const handedOn = { raw: true, ...trusted } as const

export const chatScript = defineScriptApi({
  'chat.append': {
    doc: 'Appends a message; the first one makes the channel. The sender need not be an account.',
    args: () => {
      const { sender, content, channel_type } = NewMessage().shape
      return { channel, sender, content, options: options({ channel_type }) }
    },
    ok: ChatMessage,
    ...trusted,
  },
  'chat.history': {
    doc: 'Messages, newest first; an unknown channel is an empty page.',
    args: () => ({
      channel,
      options: options({ limit: pageLimit({ default: 50, cap: 200 }), before: pageBefore, raw }),
    }),
    ok: () => z.strictObject({ items: z.array(ChatMessage()), next: z.int().nullable() }),
    ...handedOn,
  },
  'chat.remove': {
    doc: 'Blanks a message; a repeat changes nothing.',
    args: () => ({ channel, id: rowId }),
    ok: ChatMessage,
    errors: ['not_found'],
    ...trusted,
  },
  'chat.push': {
    doc: 'Sends an event (kind 28) to the live connections of up to 1,000 accounts.',
    args: () => ({
      user_ids: z.array(presentReference()).max(pushedAccountsMax),
      event: ChatEvent(),
    }),
    errors: ['limit_exceeded'],
    tier: 'trusted',
    runs: 'command',
  },
})

/** What each type has beside its channel. */
function hasItsShape(event: {
  type: (typeof chatEventTypes)[number]
  message?: ChatMessage | undefined
  presence?: z.output<ReturnType<typeof presence>> | undefined
  expires_at?: number | undefined
  watermark_event_id?: number | undefined
}): boolean {
  const { type, message, presence, expires_at, watermark_event_id } = event
  const has = [message, presence, expires_at, watermark_event_id].map((each) => each !== undefined)
  const only = (...at: number[]) => has.every((is, index) => is === at.includes(index))
  switch (type) {
    case 'message.create':
    case 'message.update':
    case 'message.remove':
      return only(0) && message !== undefined && isRowOf(type, message)
    case 'presence.join':
    case 'presence.leave':
      return only(1)
    case 'typing':
      return only(1, 2)
    case 'access.revoked':
      return only()
    case 'resync_required':
      return only(3)
  }
}

function isRowOf(type: string, message: ChatMessage): boolean {
  const { revision, created_at_unix_ms, updated_at_unix_ms, content } = message
  if (type === 'message.create') return revision === 1 && created_at_unix_ms === updated_at_unix_ms
  return revision > 1 && (type === 'message.update' || content === '')
}
