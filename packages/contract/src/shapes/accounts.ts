import { z } from 'zod'
import { freeObject, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'

export const accountStates = ['active', 'disabled', 'tombstoned'] as const

/** An account as operators see it in lists and in the answers of changes. */
export const AccountRow = once(() =>
  z.strictObject({
    id: z.string(),
    username: z.string(),
    display_name: z.string().nullable(),
    state: z.enum(accountStates),
    created_at_unix_ms: unixMs,
    updated_at_unix_ms: unixMs,
  }),
)
export type AccountRow = z.output<ReturnType<typeof AccountRow>>

/** One linked credential; verifiers are never shown. */
const AccountIdentity = once(() =>
  z.strictObject({
    provider: z.enum(['device', 'custom', 'email']),
    external_id: z.string(),
    created_at_unix_ms: unixMs,
  }),
)

export const AccountDetail = once(() =>
  z.strictObject({
    ...AccountRow().shape,
    metadata: freeObject.nullable(),
    identities: z
      .array(AccountIdentity())
      .meta({ description: 'By provider, then time, then external_id' }),
  }),
)
export type AccountDetail = z.output<ReturnType<typeof AccountDetail>>
