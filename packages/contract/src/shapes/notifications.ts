import { z } from 'zod'
import { freeObject, optional, presentReference, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'

export const Notification = once(() =>
  z.strictObject({
    id: z.int().min(1),
    user_id: z.string().nullable().meta({ description: 'Null reaches everybody' }),
    subject: z.string(),
    content: freeObject,
    code: z.int(),
    created_at_unix_ms: unixMs,
    read: z.boolean(),
  }),
)

export const NewNotification = once(() =>
  z.strictObject({
    user_id: optional(presentReference()),
    subject: presentReference(),
    content: freeObject.optional(),
    code: optional(z.int().min(-2_147_483_648).max(2_147_483_647)),
  }),
)
