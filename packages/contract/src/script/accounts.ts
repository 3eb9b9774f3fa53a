import { z } from 'zod'
import { AccountDetail } from '../shapes/accounts.ts'
import { label, optional, presentReference } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { keptObject } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

/** An account as scripts see it: no credential and no identity. */
export const ScriptAccount = once(() =>
  z.strictObject({
    user_id: z.string(),
    username: AccountDetail().shape.username,
    display_name: AccountDetail().shape.display_name,
    state: AccountDetail().shape.state,
    metadata: AccountDetail().shape.metadata,
    created_at_unix_ms: AccountDetail().shape.created_at_unix_ms,
    updated_at_unix_ms: AccountDetail().shape.updated_at_unix_ms,
  }),
)
export type ScriptAccount = z.output<ReturnType<typeof ScriptAccount>>

const user_id = presentReference()
const display_name = label(255).nullable().optional().meta({ description: 'Null clears it' })
const metadata = optional(keptObject)
const keysMax = 100

const trusted = { tier: 'trusted', runs: 'node' } as const

export const accountsScript = defineScriptApi({
  'accounts.get': {
    doc: 'One account, or null.',
    args: () => ({ user_id }),
    ok: () => ScriptAccount().nullable(),
    ...trusted,
  },
  'accounts.lookup': {
    doc: 'The active accounts among up to 100 ids and usernames.',
    args: () => ({
      keys: z
        .strictObject({
          user_ids: z.array(presentReference()).max(keysMax).optional(),
          usernames: z.array(presentReference()).max(keysMax).optional(),
        })
        .refine(
          ({ user_ids = [], usernames = [] }) => user_ids.length + usernames.length <= keysMax,
          { error: 'must hold at most 100 keys' },
        ),
    }),
    ok: () => z.array(ScriptAccount()),
    ...trusted,
  },
  'accounts.update': {
    doc: 'Changes display name or metadata; members that are not given stay.',
    args: () => ({ user_id, patch: z.strictObject({ display_name, metadata }) }),
    ok: ScriptAccount,
    errors: ['not_found', 'conflict'],
    ...trusted,
  },
  'accounts.ban': {
    doc: 'Disables an account, revokes its sessions and closes its connections.',
    args: () => ({ user_id }),
    ok: ScriptAccount,
    errors: ['not_found', 'conflict'],
    ...trusted,
  },
  'accounts.unban': {
    doc: 'Enables a disabled account.',
    args: () => ({ user_id }),
    ok: ScriptAccount,
    errors: ['not_found', 'conflict'],
    ...trusted,
  },
})
