import { z } from 'zod'
import { isBlank, optional, reference, trimmed, unixMs, utf8Bytes } from '../values/fields.ts'
import { once } from '../values/once.ts'

/** The ladder of a group's members, from the lowest rung. */
export const groupRoles = ['member', 'admin', 'superadmin'] as const
export type GroupRole = (typeof groupRoles)[number]

export const GroupSummary = once(() =>
  z.strictObject({
    id: z.int().min(1),
    name: z.string(),
    description: z.string(),
    open: z.boolean().meta({ description: 'Advisory: nothing enforces it' }),
    max_size: z.int().min(0).meta({ description: '0 is unlimited' }),
    member_count: z.int().min(0),
    created_at_unix_ms: unixMs,
  }),
)
export type GroupSummary = z.output<ReturnType<typeof GroupSummary>>

export const GroupDetail = once(() =>
  z.strictObject({
    ...GroupSummary().shape,
    members: z
      .array(
        z.strictObject({
          user_id: z.string(),
          role: z.enum(groupRoles),
          joined_at_unix_ms: unixMs,
        }),
      )
      .meta({ description: 'In the order of joining' }),
  }),
)
export type GroupDetail = z.output<ReturnType<typeof GroupDetail>>

export const GroupChange = once(() =>
  z.strictObject({
    description: optional(reference(4096)),
    open: optional(z.boolean()),
    max_size: optional(z.int().min(0).max(4_294_967_295)),
  }),
)

export const NewGroup = once(() =>
  z.strictObject({
    name: trimmedReference(),
    ...GroupChange().shape,
    creator_user_id: optional(trimmedReference()),
  }),
)

/** Trimmed before it is checked and stored. */
function trimmedReference() {
  return z
    .string()
    .transform(trimmed)
    .refine((value) => !isBlank(value) && utf8Bytes(value) <= 1024 && !value.includes('\0'), {
      error: 'must be 1..1024 bytes, not blank and without U+0000',
    })
    .meta({ jsonSchema: { type: 'string', minLength: 1, maxLength: 1024 } })
}
