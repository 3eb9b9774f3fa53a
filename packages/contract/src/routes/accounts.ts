import { z } from 'zod'
import { label, presentReference } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** What players see of an account: never metadata, credentials, state or times. */
export const Profile = once(() =>
  z.strictObject({
    user_id: z.string(),
    username: z.string(),
    display_name: z.string().optional().meta({ description: 'Absent when not set' }),
  }),
)
export type Profile = z.output<ReturnType<typeof Profile>>

/** At least one field; `display_name: null` clears it. */
const ProfilePatch = once(() =>
  z
    .strictObject({
      username: label(128).nullish(),
      display_name: label(255).nullish(),
    })
    .refine((patch) => typeof patch.username === 'string' || patch.display_name !== undefined, {
      error: 'needs username or display_name',
    }),
)

/** 1 to 100 keys in total, counted before duplicates are merged. */
const LookupBody = once(() =>
  z
    .strictObject({
      user_ids: z.array(presentReference()).meta({ maxItems: 100 }).nullish(),
      usernames: z.array(label(128)).meta({ maxItems: 100 }).nullish(),
    })
    .refine(
      ({ user_ids, usernames }) => {
        const keys = (user_ids?.length ?? 0) + (usernames?.length ?? 0)
        return keys >= 1 && keys <= 100
      },
      { error: 'needs 1..100 keys in total' },
    ),
)

export const accountsApi = defineApi({
  get: {
    method: 'GET',
    path: '/v1/account',
    access: 'player',
    noStore: true,
    summary: "The caller's own profile",
    ok: Profile,
  },
  patch: {
    method: 'PATCH',
    path: '/v1/account',
    access: 'player',
    noStore: true,
    summary: 'Changes username, display name or both',
    body: ProfilePatch,
    ok: Profile,
    errors: ['conflict'],
  },
  lookup: {
    method: 'POST',
    path: '/v1/users/lookup',
    access: 'player',
    summary: 'Profiles of active accounts by exact id or username; unknown ones are left out',
    body: LookupBody,
    ok: () => z.strictObject({ users: z.array(Profile()) }),
  },
})
