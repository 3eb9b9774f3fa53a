import { z } from 'zod'
import { AccountDetail, AccountRow, accountStates } from '../shapes/accounts.ts'
import { Friend } from '../shapes/friends.ts'
import { groupRoles } from '../shapes/groups.ts'
import {
  freeObject,
  hasControlCharacter,
  isBlank,
  label,
  limit,
  listOf,
  optional,
  presentReference,
  reference,
  text,
  unixMs,
  utf8Bytes,
} from '../values/fields.ts'
import { int64ByName, offset, pageOf, queryTime } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'
import { emailAddress } from './sign-in.ts'

const AccountGroup = once(() =>
  z.strictObject({
    id: z.int(),
    name: z.string(),
    role: z.enum(groupRoles),
    joined_at_unix_ms: unixMs,
  }),
)

const AccountObject = once(() =>
  z.strictObject({
    collection: z.string(),
    key: z.string(),
    version: z.string(),
  }),
)

/** An account with everything that belongs to it. */
export const AccountExport = once(() =>
  z.strictObject({
    ...AccountDetail().shape,
    related: z.strictObject({
      wallet: int64ByName.meta({ description: 'Balances by currency' }),
      friends: z.array(Friend()),
      groups: z
        .array(AccountGroup())
        .nullable()
        .meta({ description: 'By id; null for an API key without groups:read' }),
      storage: z
        .array(AccountObject())
        .nullable()
        .meta({ description: 'By collection, then key; null for an API key without storage:read' }),
    }),
  }),
)
export type AccountExport = z.input<ReturnType<typeof AccountExport>>

const accountPath = once(() => z.strictObject({ id: presentReference() }))

/** What a page shows of an account wherever it is named by its id. */
const AccountName = once(() =>
  z.strictObject({
    user_id: z.string(),
    username: z.string(),
    display_name: z.string().nullable(),
    state: AccountRow().shape.state,
  }),
)
export type AccountName = z.output<ReturnType<typeof AccountName>>

const namesMax = 200

/** What a timeline is made of, in the order of entries of one moment. */
const timelineKinds = [
  'audit',
  'friend',
  'group',
  'notice',
  'purchase',
  'sign_in',
  'tournament',
  'wallet',
] as const

/** One thing that happened to an account. */
const TimelineEntry = once(() =>
  z.strictObject({
    at_unix_ms: unixMs,
    kind: z.enum(timelineKinds),
    text: z.string().meta({ description: 'In a few words, for people' }),
    ref: z
      .string()
      .nullable()
      .meta({
        description:
          'The id of the session, booking, transaction, group, account, tournament, notification ' +
          'or audit entry',
      }),
  }),
)

/** Opaque; of at most so many characters, because ids of the game's own stand in it. */
const timelineCursorMax = 8192

const NewAccount = once(() =>
  z.strictObject({
    username: label(128),
    display_name: optional(label(255)),
    metadata: optional(freeObject),
  }),
)
export type NewAccount = z.output<ReturnType<typeof NewAccount>>

/** Absent and null fields stay; an empty display_name clears it; metadata replaces the object. */
const AccountChange = once(() =>
  z.strictObject({
    username: optional(label(128)),
    display_name: optional(clearableLabel(255)),
    metadata: optional(freeObject),
  }),
)
export type AccountChange = z.output<ReturnType<typeof AccountChange>>

export const consoleAccountsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/accounts',
    access: 'operator',
    scope: 'accounts:read',
    summary: 'Accounts in every state, by username; the filter is a substring of id or username',
    query: () =>
      z.strictObject({
        filter: reference().optional(),
        id: presentReference()
          .optional()
          .meta({ description: 'Exactly this one, in place of all' }),
        username: presentReference().optional().meta({ description: 'Exactly, in place of all' }),
        limit: limit({ default: 50, cap: 200 }),
        offset,
      }),
    ok: () => pageOf(AccountRow()),
  },
  search: {
    method: 'GET',
    path: '/console/v1/account-search',
    access: 'operator',
    scope: 'accounts:read',
    summary:
      'Accounts by exactly one of display_name, username_prefix, email, device_id, custom_id, or ' +
      'by state and the time of their creation; by id, those of username_prefix by username',
    query: () =>
      z.strictObject({
        display_name: label(255)
          .optional()
          .meta({ description: 'How it begins, whatever the case of letters' }),
        username_prefix: presentReference()
          .optional()
          .meta({ description: 'How the username begins, letter by letter' }),
        email: emailAddress().optional(),
        device_id: presentReference().optional(),
        custom_id: presentReference().optional(),
        state: z.enum(accountStates).optional(),
        created_from: queryTime.meta({ description: 'Unix milliseconds, inclusive' }),
        created_to: queryTime.meta({ description: 'Unix milliseconds, inclusive' }),
        after: presentReference()
          .optional()
          .meta({ description: '`next_after` of the page before' }),
        limit: limit({ default: 50, cap: 200 }),
      }),
    ok: () => z.strictObject({ items: z.array(AccountRow()), next_after: z.string().optional() }),
  },
  usernames: {
    method: 'GET',
    path: '/console/v1/usernames',
    access: 'operator',
    scope: 'accounts:read',
    summary:
      'The names behind account ids, in the order asked, each once; unknown ids are left out',
    query: () => z.strictObject({ user_ids: listOf(presentReference(), namesMax) }),
    ok: () => z.strictObject({ items: z.array(AccountName()) }),
  },
  create: {
    method: 'POST',
    path: '/console/v1/accounts',
    access: 'admin',
    audit: 'accounts.create',
    summary: 'Adds an account without a credential',
    body: NewAccount,
    ok: AccountRow,
    status: 201,
    errors: ['conflict'],
  },
  get: {
    method: 'GET',
    path: '/console/v1/accounts/{id}',
    access: 'operator',
    scope: 'accounts:read',
    summary: 'One account with its metadata and credentials',
    params: accountPath,
    ok: AccountDetail,
    errors: ['not_found'],
  },
  update: {
    method: 'PUT',
    path: '/console/v1/accounts/{id}',
    access: 'admin',
    audit: 'accounts.update',
    summary: 'Changes username, display name or metadata, in every state of the account',
    params: accountPath,
    body: AccountChange,
    ok: AccountRow,
    errors: ['not_found', 'conflict'],
  },
  ban: {
    method: 'POST',
    path: '/console/v1/accounts/{id}/ban',
    access: 'admin',
    audit: 'accounts.ban',
    summary: 'Disables the account and ends its sessions at once',
    params: accountPath,
    ok: AccountRow,
    errors: ['not_found', 'conflict'],
  },
  unban: {
    method: 'POST',
    path: '/console/v1/accounts/{id}/unban',
    access: 'admin',
    audit: 'accounts.unban',
    summary: 'Makes a disabled account active again',
    params: accountPath,
    ok: AccountRow,
    errors: ['not_found', 'conflict'],
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/accounts/{id}',
    access: 'admin',
    audit: 'accounts.delete',
    summary: 'Unlinks the credentials and ends the sessions; username and record stay',
    params: accountPath,
    errors: ['not_found'],
  },
  timeline: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/timeline',
    access: 'operator',
    scope: 'accounts:read',
    summary: 'What happened to an account, newest first, as far back as each part is kept',
    params: accountPath,
    query: () =>
      z.strictObject({
        after: presentReference(timelineCursorMax)
          .optional()
          .meta({ description: '`next_after` of the page before' }),
        limit: limit({ default: 50, cap: 200 }),
      }),
    ok: () =>
      z.strictObject({ items: z.array(TimelineEntry()), next_after: z.string().optional() }),
    errors: ['not_found'],
  },
  export: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/export',
    access: 'operator',
    scope: 'accounts:read',
    summary: 'Everything that belongs to an account, read as one state, as a file',
    params: accountPath,
    ok: AccountExport,
    attachment: 'account.json',
    errors: ['not_found'],
  },
})

/** A label, or the empty text that clears one. */
function clearableLabel(bytesMax: number) {
  return text(
    (value) =>
      value === '' ||
      (utf8Bytes(value) <= bytesMax && !isBlank(value) && !hasControlCharacter(value)),
    `must be empty, or 1..${bytesMax} bytes, not blank and without control characters`,
    { maxLength: bytesMax },
  )
}
