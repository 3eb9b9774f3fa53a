import type { Queries } from '../../database/database.ts'
import { batchStatement, lookup, type Row, statement } from '../../database/statement.ts'
import { foldedName } from '../../database/writes/folded-name.ts'
import { inTheirOrder } from '../../database/writes/in-their-order.ts'

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

const newAccount = {
  id: 'text',
  username: 'text',
  display_name: 'text?',
  display_folded: 'text?',
  metadata: 'json?',
  now_unix_ms: 'integer',
  provider: 'text',
  external_id: 'text',
} as const

/** Adds no account whose username, or the credential that it is for, is known. */
const insertAccounts = batchStatement({
  name: 'accounts.insert',
  text: `INSERT INTO accounts (id, username, display_name, display_folded, metadata, state,
      created_at_unix_ms, updated_at_unix_ms)
    SELECT r.id, r.username, r.display_name, r.display_folded, r.metadata, 'active',
      r.now_unix_ms, r.now_unix_ms
    FROM {{rows}} AS r
    WHERE NOT EXISTS (SELECT 1 FROM identities i
      WHERE i.provider = r.provider AND i.external_id = r.external_id)
    ON CONFLICT (username) DO NOTHING
    RETURNING id`,
  params: newAccount,
  row: { id: 'text' },
})

/** Adds the credentials of accounts that were added, unless somebody has them by now. */
const insertIdentities = batchStatement({
  name: 'accounts.insert-identity',
  text: `INSERT INTO identities (provider, external_id, account_id, password_verifier,
      created_at_unix_ms)
    SELECT r.provider, r.external_id, a.id, r.password_verifier, r.now_unix_ms
    FROM {{rows}} AS r JOIN accounts a ON a.id = r.account_id WHERE true
    ON CONFLICT (provider, external_id) DO NOTHING
    RETURNING account_id`,
  params: {
    provider: 'text',
    external_id: 'text',
    account_id: 'text',
    password_verifier: 'text?',
    now_unix_ms: 'integer',
  },
  row: { account_id: 'text' },
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
      display_folded =
        CASE WHEN :keep_display_name = 1 THEN display_folded ELSE :display_folded END,
      updated_at_unix_ms = :now_unix_ms
    WHERE id = :id AND state = 'active'
    RETURNING id, username, display_name`,
  params: {
    id: 'text',
    username: 'text?',
    keep_display_name: 'flag',
    display_name: 'text?',
    display_folded: 'text?',
    now_unix_ms: 'integer',
  },
  row: profileRow,
})

const setDisplayNames = batchStatement({
  name: 'accounts.set-display-names',
  text: `UPDATE accounts SET display_name = r.display_name, display_folded = r.display_folded,
      updated_at_unix_ms = r.now_unix_ms
    FROM {{rows}} AS r WHERE accounts.id = r.id AND accounts.state = 'active'
    RETURNING accounts.id, accounts.username`,
  params: {
    id: 'text',
    display_name: 'text?',
    display_folded: 'text?',
    now_unix_ms: 'integer',
  },
  row: { id: 'text', username: 'text' },
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

export type DisplayName = Omit<Row<(typeof setDisplayNames)['params']>, 'display_folded'>

/** An account with its first credential. */
export type StoredAccount = Omit<Row<typeof newAccount>, 'display_folded'> & {
  password_verifier: string | null
}

/** Queries about accounts and their credentials; every function takes the transaction first. */
export const accountsStore = {
  /** Whether an account has this id, in whatever state. */
  exists: async (tx: Queries, id: string) => (await tx.get(accountExists, { id })) !== undefined,
  stateOf: async (tx: Queries, id: string) => (await tx.get(accountState, { id }))?.state,
  /** Adds accounts with their first credentials; answers the ids of either. */
  async register(tx: Queries, accounts: readonly StoredAccount[]) {
    const identities = accounts.map(({ id, ...account }) => ({ ...account, account_id: id }))
    const [added, identified] = await inTheirOrder([
      tx.each(insertAccounts, accounts.map(foldedName)),
      tx.each(insertIdentities, identities),
    ])
    return {
      added: new Set(added.map(({ id }) => id)),
      identified: new Set(identified.map(({ account_id }) => account_id)),
    }
  },
  identities: (tx: Queries, credentials: readonly Row<(typeof identityLookup)['params']>[]) =>
    tx.each(identityLookup, credentials),
  replaceVerifier: (tx: Queries, change: Row<(typeof replaceVerifier)['params']>) =>
    tx.run(replaceVerifier, change),
  updateProfile: (
    tx: Queries,
    change: Omit<Row<(typeof updateProfile)['params']>, 'display_folded'>,
  ) => tx.get(updateProfile, foldedName(change)),
  /** Answers the active ones of these accounts, each given once. */
  setDisplayNames: (tx: Queries, names: readonly DisplayName[]) =>
    tx.each(setDisplayNames, names.map(foldedName)),
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
