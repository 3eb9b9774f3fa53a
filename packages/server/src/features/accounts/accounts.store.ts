import type { Queries } from '../../database/database.ts'
import { batchStatement, lookup, type Row, statement } from '../../database/statement.ts'

export type Provider = 'device' | 'custom' | 'email'

/** The account behind a credential. */
export const identityLookup = lookup({
  name: 'accounts.by-identity',
  text: `SELECT r.provider, r.external_id, i.account_id, i.password_verifier, a.username, a.state
    FROM {{rows}} AS r
    JOIN identities i ON i.provider = r.provider AND i.external_id = r.external_id
    JOIN accounts a ON a.id = i.account_id`,
  params: { provider: 'text', external_id: 'text' },
  row: {
    provider: 'text',
    external_id: 'text',
    account_id: 'text',
    password_verifier: 'text?',
    username: 'text',
    state: 'text',
  },
})

const profileRow = { id: 'text', username: 'text', display_name: 'text?' } as const

/** Adds nothing when the username, or the credential that the account is for, is known. */
const insertAccount = statement({
  name: 'accounts.insert',
  text: `INSERT INTO accounts (id, username, display_name, metadata, state,
      created_at_unix_ms, updated_at_unix_ms)
    SELECT :id, :username, :display_name, :metadata, 'active', :now_unix_ms, :now_unix_ms
    WHERE NOT EXISTS (
      SELECT 1 FROM identities WHERE provider = :provider AND external_id = :external_id)
    ON CONFLICT (username) DO NOTHING`,
  params: {
    id: 'text',
    username: 'text',
    display_name: 'text?',
    metadata: 'json?',
    now_unix_ms: 'integer',
    provider: 'text',
    external_id: 'text',
  },
})

const insertIdentity = statement({
  name: 'accounts.insert-identity',
  text: `INSERT INTO identities (provider, external_id, account_id, password_verifier,
      created_at_unix_ms)
    VALUES (:provider, :external_id, :account_id, :password_verifier, :now_unix_ms)
    ON CONFLICT (provider, external_id) DO NOTHING`,
  params: {
    provider: 'text',
    external_id: 'text',
    account_id: 'text',
    password_verifier: 'text?',
    now_unix_ms: 'integer',
  },
})

const replaceVerifier = statement({
  name: 'accounts.replace-verifier',
  text: `UPDATE identities SET password_verifier = :stronger
    WHERE provider = 'email' AND external_id = :email AND password_verifier = :weaker`,
  params: { email: 'text', weaker: 'text', stronger: 'text' },
})

const updateProfile = statement({
  name: 'accounts.update-profile',
  text: `UPDATE accounts
    SET username = COALESCE(:username, username),
      display_name = CASE WHEN :keep_display_name = 1 THEN display_name ELSE :display_name END,
      updated_at_unix_ms = :now_unix_ms
    WHERE id = :id AND state = 'active'
    RETURNING id, username, display_name`,
  params: {
    id: 'text',
    username: 'text?',
    keep_display_name: 'flag',
    display_name: 'text?',
    now_unix_ms: 'integer',
  },
  row: profileRow,
})

const activeById = batchStatement({
  name: 'accounts.active-by-id',
  text: `SELECT a.id, a.username, a.display_name FROM {{rows}} AS r
    JOIN accounts a ON a.id = r.id WHERE a.state = 'active'`,
  params: { id: 'text' },
  row: profileRow,
})

const activeByUsername = batchStatement({
  name: 'accounts.active-by-username',
  text: `SELECT a.id, a.username, a.display_name FROM {{rows}} AS r
    JOIN accounts a ON a.username = r.username WHERE a.state = 'active'`,
  params: { username: 'text' },
  row: profileRow,
})

const accountExists = statement({
  name: 'accounts.exists',
  text: 'SELECT id FROM accounts WHERE id = :id',
  params: { id: 'text' },
  row: { id: 'text' },
})

const accountState = statement({
  name: 'accounts.state',
  text: 'SELECT a.state FROM accounts a WHERE a.id = :id {{for share of a}}',
  params: { id: 'text' },
  row: { state: 'text' },
})

/** Queries about accounts and their credentials; every function takes the transaction first. */
export const accountsStore = {
  /** Whether an account has this id, in whatever state. */
  exists: async (tx: Queries, id: string) => (await tx.get(accountExists, { id })) !== undefined,
  stateOf: async (tx: Queries, id: string) => (await tx.get(accountState, { id }))?.state,
  /** False when another account owns the username, or any account the credential. */
  insert: async (tx: Queries, account: Row<(typeof insertAccount)['params']>) =>
    (await tx.run(insertAccount, account)) === 1,
  /** False when the credential belongs to an account already. */
  insertIdentity: async (tx: Queries, identity: Row<(typeof insertIdentity)['params']>) =>
    (await tx.run(insertIdentity, identity)) === 1,
  identity: async (tx: Queries, credential: Row<(typeof identityLookup)['params']>) =>
    (await tx.each(identityLookup, [credential]))[0],
  replaceVerifier: (tx: Queries, change: Row<(typeof replaceVerifier)['params']>) =>
    tx.run(replaceVerifier, change),
  updateProfile: (tx: Queries, change: Row<(typeof updateProfile)['params']>) =>
    tx.get(updateProfile, change),
  activeById: (tx: Queries, ids: readonly string[]) =>
    tx.each(
      activeById,
      [...new Set(ids)].map((id) => ({ id })),
    ),
  activeByUsername: (tx: Queries, usernames: readonly string[]) =>
    tx.each(
      activeByUsername,
      [...new Set(usernames)].map((username) => ({ username })),
    ),
}
