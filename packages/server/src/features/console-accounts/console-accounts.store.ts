import type { Queries } from '../../database/database.ts'
import { batchStatement, type Columns, type Row, statement } from '../../database/statement.ts'
import { accounts, identities } from '../../database/tables/accounts.ts'
import { pick, without } from '../../database/tables/table.ts'
import { foldedName } from '../../database/writes/folded-name.ts'

export const accountRow = without(accounts, 'metadata', 'counted', 'display_folded')
const detailRow = without(accounts, 'counted', 'display_folded')

const columns = Object.keys(accountRow).join(', ')
export const columnsOf = (table: string) =>
  Object.keys(accountRow)
    .map((column) => `${table}.${column}`)
    .join(', ')

const pageParams = { limit: 'integer', offset: 'integer' } as const
const filteredParams = { ...pageParams, filter: 'text' } as const

/** Pages that end before it are read at once, others on a thread of their own. */
const nearRows = 1000

/**
 * The accounts of a page of usernames. No two share one, so the order needs nothing beside it.
 * CROSS JOIN lets SQLite take nothing but the page first.
 */
const pageText = (usernames: string) => `SELECT ${columnsOf('a')} FROM (
    SELECT username FROM ${usernames} ORDER BY username LIMIT :limit OFFSET :offset
  ) AS named CROSS JOIN accounts a WHERE a.username = named.username
  ORDER BY a.username`

/** The bound lets planners know that a page is small whatever it is, so that one plan suits all. */
const nearPage = statement({
  name: 'console-accounts.near-page',
  text: pageText(
    `(SELECT username FROM accounts ORDER BY username LIMIT ${nearRows}) AS near_usernames`,
  ),
  params: pageParams,
  row: accountRow,
})

const farPage = statement({
  name: 'console-accounts.far-page',
  text: pageText('accounts'),
  params: pageParams,
  row: accountRow,
  long: true,
})

/**
 * Sorted by an expression, so that the table is read once from end to end: following the index of
 * usernames would fetch a million rows one by one to find the few that match.
 */
const filteredPage = statement({
  name: 'console-accounts.filtered-page',
  text: `SELECT ${columns} FROM accounts
    WHERE {{contains username :filter}} OR {{contains id :filter}}
    ORDER BY username || '' LIMIT :limit OFFSET :offset`,
  params: filteredParams,
  row: accountRow,
  long: true,
})

const countFiltered = statement({
  name: 'console-accounts.count-filtered',
  text: `SELECT count(*) AS total FROM accounts
    WHERE {{contains username :filter}} OR {{contains id :filter}}`,
  params: { filter: 'text' },
  row: { total: 'integer' },
  long: true,
})

/** One statement, so that an account which is just being counted is in one of the two numbers. */
const count = statement({
  name: 'console-accounts.count',
  text: `SELECT t.accounts + (SELECT count(*) FROM accounts WHERE counted = 0) AS total
    FROM account_totals t WHERE t.name = 'counted'`,
  row: { total: 'integer' },
})

/** Those who count wait for each other here. */
const lockTotal = statement({
  name: 'console-accounts.lock-total',
  text: `SELECT t.accounts FROM account_totals t WHERE t.name = 'counted' {{for update of t}}`,
  row: { accounts: 'integer' },
})

const pickUncounted = statement({
  name: 'console-accounts.pick-uncounted',
  text: 'SELECT id FROM accounts WHERE counted = 0 ORDER BY id LIMIT {{unplanned :items}}',
  params: { items: 'integer' },
  row: { id: 'text' },
})

/**
 * By the ids that were picked: together with the picking, PostgreSQL joins the uncounted accounts
 * with themselves, each with each while its statistics say that there are none.
 */
const markCounted = batchStatement({
  name: 'console-accounts.mark-counted',
  text: 'UPDATE accounts SET counted = 1 FROM {{rows}} AS r WHERE accounts.id = r.id',
  params: { id: 'text' },
})

const raiseTotal = statement({
  name: 'console-accounts.raise-total',
  text: `UPDATE account_totals SET accounts = accounts + :items WHERE name = 'counted'`,
  params: { items: 'integer' },
})

const uncounted = statement({
  name: 'console-accounts.uncounted',
  text: `SELECT count(*) AS items FROM (
    SELECT id FROM accounts WHERE counted = 0 ORDER BY id LIMIT {{unplanned :at_most}}
  ) AS gathered`,
  params: { at_most: 'integer' },
  row: { items: 'integer' },
})

const byId = statement({
  name: 'console-accounts.by-id',
  text: `SELECT ${columns}, metadata FROM accounts WHERE id = :id`,
  params: { id: 'text' },
  row: detailRow,
})

const activeById = batchStatement({
  name: 'console-accounts.active-by-id',
  text: `SELECT ${columnsOf('a')}, a.metadata FROM {{rows}} AS r
    JOIN accounts a ON a.id = r.id WHERE a.state = 'active'`,
  params: { id: 'text' },
  row: detailRow,
})

const activeByUsername = batchStatement({
  name: 'console-accounts.active-by-username',
  text: `SELECT ${columnsOf('a')}, a.metadata FROM {{rows}} AS r
    JOIN accounts a ON a.username = r.username WHERE a.state = 'active'`,
  params: { username: 'text' },
  row: detailRow,
})

const namesById = batchStatement({
  name: 'console-accounts.names-by-id',
  text: `SELECT a.id AS user_id, a.username, a.display_name, a.state FROM {{rows}} AS r
    JOIN accounts a ON a.id = r.id`,
  params: { id: 'text' },
  row: { user_id: 'text', ...pick(accounts, 'username', 'display_name', 'state') },
})

const identitiesOf = statement({
  name: 'console-accounts.identities-of',
  text: `SELECT provider, external_id, created_at_unix_ms FROM identities
    WHERE account_id = :account_id
    ORDER BY provider, created_at_unix_ms, external_id`,
  params: { account_id: 'text' },
  row: pick(identities, 'provider', 'external_id', 'created_at_unix_ms'),
})

const insert = statement({
  name: 'console-accounts.insert',
  text: `INSERT INTO accounts (id, username, display_name, display_folded, metadata, state,
      created_at_unix_ms, updated_at_unix_ms)
    VALUES (:id, :username, :display_name, :display_folded, :metadata, 'active',
      :now_unix_ms, :now_unix_ms)
    ON CONFLICT (username) DO NOTHING
    RETURNING ${columns}`,
  params: {
    ...pick(accounts, 'id', 'username', 'display_name', 'display_folded', 'metadata'),
    now_unix_ms: 'time',
  },
  row: accountRow,
})

const update = statement({
  name: 'console-accounts.update',
  text: `UPDATE accounts
    SET username = COALESCE(:username, username),
      display_name = CASE WHEN :keep_display_name = 1 THEN display_name ELSE :display_name END,
      display_folded =
        CASE WHEN :keep_display_name = 1 THEN display_folded ELSE :display_folded END,
      metadata = COALESCE(:metadata, metadata),
      updated_at_unix_ms = :now_unix_ms
    WHERE id = :id
    RETURNING ${columns}`,
  params: {
    id: 'text',
    username: 'text?',
    keep_display_name: 'flag',
    display_name: 'text?',
    display_folded: 'text?',
    metadata: 'json?',
    now_unix_ms: 'integer',
  },
  row: accountRow,
})

/** The account as it is, which stays so until the transaction ends. */
const lock = statement({
  name: 'console-accounts.lock',
  text: `SELECT ${columnsOf('a')} FROM accounts a WHERE a.id = :id {{for update of a}}`,
  params: { id: 'text' },
  row: accountRow,
})

const setState = statement({
  name: 'console-accounts.set-state',
  text: `UPDATE accounts SET state = :state, updated_at_unix_ms = :now_unix_ms WHERE id = :id
    RETURNING ${columns}`,
  params: { ...pick(accounts, 'id', 'state'), now_unix_ms: 'time' },
  row: accountRow,
})

const unlinkIdentities = statement({
  name: 'console-accounts.unlink-identities',
  text: 'DELETE FROM identities WHERE account_id = :account_id',
  params: { account_id: 'text' },
})

type Unfolded<P extends Columns> = Omit<Row<P>, 'display_folded'>

/** Queries of operators about accounts; every function takes the transaction first. */
export const consoleAccountsStore = {
  page: (tx: Queries, page: Row<typeof pageParams>) =>
    tx.all(page.offset + page.limit <= nearRows ? nearPage : farPage, page),
  count: async (tx: Queries) => (await tx.get(count, {}))?.total ?? 0,
  filteredPage: (tx: Queries, page: Row<typeof filteredParams>) => tx.all(filteredPage, page),
  countFiltered: async (tx: Queries, filter: string) =>
    (await tx.get(countFiltered, { filter }))?.total ?? 0,
  byId: (tx: Queries, id: string) => tx.get(byId, { id }),
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
  namesById: (tx: Queries, ids: readonly string[]) =>
    tx.each(
      namesById,
      ids.map((id) => ({ id })),
    ),
  identitiesOf: (tx: Queries, account_id: string) => tx.all(identitiesOf, { account_id }),
  /** Undefined when another account owns the username. */
  insert: (tx: Queries, account: Unfolded<(typeof insert)['params']>) =>
    tx.get(insert, foldedName(account)),
  update: (tx: Queries, change: Unfolded<(typeof update)['params']>) =>
    tx.get(update, foldedName(change)),
  lock: (tx: Queries, id: string) => tx.get(lock, { id }),
  setState: (tx: Queries, change: Row<(typeof setState)['params']>) => tx.get(setState, change),
  /** How many credentials the account had. */
  unlinkIdentities: (tx: Queries, account_id: string) => tx.run(unlinkIdentities, { account_id }),
  /** How many accounts the total does not hold yet, counted up to `at_most`. */
  uncounted: async (tx: Queries, at_most: number) =>
    (await tx.get(uncounted, { at_most }))?.items ?? 0,
  /** Moves up to `items` accounts from the index into the total; answers how many. */
  async countSome(tx: Queries, items: number): Promise<number> {
    await tx.get(lockTotal, {})
    const picked = await tx.all(pickUncounted, { items })
    await tx.each(markCounted, picked)
    await tx.run(raiseTotal, { items: picked.length })
    return picked.length
  },
}
