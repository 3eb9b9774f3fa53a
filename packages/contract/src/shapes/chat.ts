import { z } from 'zod'
import { isBlank, optional, presentReference, text, unixMs, utf8Bytes } from '../values/fields.ts'
import { once } from '../values/once.ts'

export const channelTypes = ['room', 'group', 'direct'] as const

export const ChatMessage = once(() =>
  z.strictObject({
    id: z.int().min(1).meta({ description: 'Counts from 1 in each channel, without gaps' }),
    sender: z.string(),
    content: z.string().meta({ description: 'Empty once deleted' }),
    created_at_unix_ms: unixMs,
    updated_at_unix_ms: unixMs,
    revision: z.int().min(1),
    last_event_id: z.int().min(1),
    deleted: z.boolean(),
  }),
)
export type ChatMessage = z.output<ReturnType<typeof ChatMessage>>

const content = text(
  (value) => !isBlank(value) && utf8Bytes(value) <= 2048 && !hasForbiddenControl(value),
  'must be 1..2048 bytes, not blank, without control characters except line ends',
  { minLength: 1, maxLength: 2048 },
)

export const NewMessage = once(() =>
  z.strictObject({
    sender: presentReference(),
    content,
    channel_type: optional(z.enum(channelTypes)),
  }),
)

/** Control characters other than LF and CR. */
function hasForbiddenControl(value: string): boolean {
  return /\p{Cc}/u.test(value.replace(/[\n\r]/g, ''))
}
