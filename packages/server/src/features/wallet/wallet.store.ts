import type { Queries } from '../../database/database.ts'
import {
  batchStatement,
  type Engine,
  eachEngine,
  type Row,
  statement,
} from '../../database/statement.ts'

/** How many of an account's newest entries its wallet shows. */
export const ledgerShown = 100

const user = { user_id: 'text' } as const
const pair = { user_id: 'text', currency: 'text' } as const

const holdingRow = { ...pair, balance: 'bigint' } as const
export type HoldingRow = Row<typeof holdingRow>

const entryColumns = {
  ...pair,
  delta: 'bigint',
  balance_after: 'bigint',
  reason: 'text',
  time_unix_ms: 'integer',
} as const
const entryNames = Object.keys(entryColumns)
const entryRow = { ...entryColumns, seq: 'integer' } as const
export type EntryRow = Row<typeof entryRow>
export type NewEntry = Row<typeof entryColumns>

/** A balance has no seq; an entry has no balance. One statement, so both are of one moment. */
const walletRow = {
  ...pair,
  balance: 'bigint?',
  seq: 'integer?',
  delta: 'bigint?',
  balance_after: 'bigint?',
  reason: 'text?',
  time_unix_ms: 'integer?',
} as const
export type WalletRow = Row<typeof walletRow>

/**
 * A parameter as a value that PostgreSQL cannot know when it plans, and as the parameter itself on
 * SQLite, which takes nothing else in a subquery's LIMIT. For a user as a constant PostgreSQL may
 * follow the numbers of all entries, through the ledgers of everybody.
 */
const given = (engine: Engine, name: string) =>
  engine === 'postgres' ? `(SELECT r.${name})` : `:${name}`

/** The rows of a user as a range of the index that begins with users, the only way to them. */
function rowsOf(engine: Engine, table: string): string {
  const user = given(engine, 'user_id')
  return `${table}.user_id >= ${user} AND ${table}.user_id <= ${user}`
}

/**
 * What each row of the batch asks for by itself: PostgreSQL has no other way than row by row, while
 * a join it decides by what it knows of the table. Needs a `{{fence}}` or a LIMIT inside.
 */
const forEachRow = 'FROM {{rows}} AS r CROSS JOIN {{lateral}}'

const wallets = batchStatement({
  name: 'wallet.wallets',
  text: eachEngine(
    (engine) => `SELECT b.user_id, b.currency, b.balance, NULL AS seq, NULL AS delta,
      NULL AS balance_after, NULL AS reason, NULL AS time_unix_ms
    ${forEachRow} (SELECT b.* FROM wallet_balances b
      WHERE b.user_id = ${given(engine, 'user_id')} {{fence}}) AS b
    UNION ALL
    SELECT l.user_id, l.currency, NULL, l.seq, l.delta, l.balance_after, l.reason, l.time_unix_ms
    ${forEachRow} (SELECT l.* FROM wallet_ledger l
      WHERE ${rowsOf(engine, 'l')}
      ORDER BY l.user_id DESC, l.seq DESC LIMIT ${ledgerShown}) AS l
    ORDER BY seq DESC, currency`,
  ),
  params: user,
  row: walletRow,
})

const ledger = batchStatement({
  name: 'wallet.ledger',
  text: eachEngine(
    (engine) => `SELECT ${[...entryNames, 'seq'].map((name) => `l.${name}`).join(', ')}
    ${forEachRow} (SELECT l.* FROM wallet_ledger l
      WHERE l.user_id >= ${given(engine, 'user_id')}
        AND (l.user_id, l.seq) < (${given(engine, 'user_id')}, ${given(engine, 'before')})
      ORDER BY l.user_id DESC, l.seq DESC
      LIMIT ${given(engine, 'wanted')} OFFSET ${given(engine, 'skipped')}) AS l
    ORDER BY l.seq DESC`,
  ),
  params: { ...user, before: 'integer', wanted: 'integer', skipped: 'integer' },
  row: entryRow,
})

const balances = statement({
  name: 'wallet.balances',
  text: `SELECT currency, balance FROM wallet_balances WHERE user_id = :user_id ORDER BY currency`,
  params: user,
  row: { currency: 'text', balance: 'bigint' },
})

/** In one order for everybody, so that two nodes with the same wallets never wait in a circle. */
const lock = batchStatement({
  name: 'wallet.lock',
  text: eachEngine(
    (engine) => `SELECT w.user_id, w.currency, w.balance FROM {{rows}} AS r
    JOIN wallet_balances w ON ${rowsOf(engine, 'w')}
    ORDER BY w.user_id, w.currency {{for update of w}}`,
  ),
  params: user,
  row: holdingRow,
})

const addBalances = batchStatement({
  name: 'wallet.add-balances',
  text: `INSERT INTO wallet_balances (user_id, currency, balance)
    SELECT r.user_id, r.currency, r.balance FROM {{rows}} AS r
    ORDER BY r.user_id, r.currency`,
  params: holdingRow,
})

const setBalances = batchStatement({
  name: 'wallet.set-balances',
  text: `UPDATE wallet_balances SET balance = r.balance FROM {{rows}} AS r
    WHERE wallet_balances.user_id = r.user_id AND wallet_balances.currency = r.currency`,
  params: holdingRow,
})

/** The rows get their numbers in the order of their positions. */
const append = batchStatement({
  name: 'wallet.append',
  text: `INSERT INTO wallet_ledger (${entryNames.join(', ')})
    SELECT ${entryNames.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r
    ORDER BY r.position
    RETURNING seq, user_id, currency, balance_after`,
  params: { ...entryColumns, position: 'integer' },
  row: { ...pair, seq: 'integer', balance_after: 'bigint' },
})

/** The newest entry that is one too many. */
const newestSurplus = statement({
  name: 'wallet.newest-surplus',
  text: 'SELECT seq FROM wallet_ledger ORDER BY seq DESC LIMIT 1 OFFSET :kept',
  params: { kept: 'integer' },
  row: { seq: 'integer' },
  long: true,
})

/** Numbers are never given twice, so there are at most as many entries as numbers in between. */
const span = statement({
  name: 'wallet.span',
  text: `SELECT COALESCE((SELECT seq FROM wallet_ledger ORDER BY seq DESC LIMIT 1)
    - (SELECT seq FROM wallet_ledger ORDER BY seq LIMIT 1) + 1, 0) AS numbers`,
  row: { numbers: 'integer' },
})

const removeOldest = statement({
  name: 'wallet.remove-oldest',
  text: `DELETE FROM wallet_ledger WHERE seq IN (
      SELECT seq FROM wallet_ledger WHERE seq <= :seq ORDER BY seq LIMIT :batch_items)
    RETURNING user_id, currency, delta`,
  params: { seq: 'integer', batch_items: 'integer' },
  row: { ...pair, delta: 'bigint' },
})

const carry = batchStatement({
  name: 'wallet.carry',
  text: `INSERT INTO wallet_carried (user_id, currency, carried)
    SELECT r.user_id, r.currency, r.carried FROM {{rows}} AS r
    WHERE true
    ORDER BY r.user_id, r.currency
    ON CONFLICT (user_id, currency)
      DO UPDATE SET carried = wallet_carried.carried + excluded.carried`,
  params: { ...pair, carried: 'bigint' },
})

const key = { user_id: 'text', idempotency_key: 'text' } as const
const keyRow = {
  ...key,
  currency: 'text',
  delta: 'bigint',
  balance_after: 'bigint',
  seq: 'integer',
  created_at_unix_ms: 'integer',
} as const
const keyNames = Object.keys(keyRow)
export type KeyRow = Row<typeof keyRow>

const keys = batchStatement({
  name: 'wallet.keys',
  text: `SELECT ${keyNames.map((name) => `k.${name}`).join(', ')} FROM {{rows}} AS r
    JOIN wallet_keys k ON k.user_id = r.user_id AND k.idempotency_key = r.idempotency_key`,
  params: key,
  row: keyRow,
})

const removeKeys = batchStatement({
  name: 'wallet.remove-keys',
  text: `DELETE FROM wallet_keys
    WHERE (user_id, idempotency_key) IN (SELECT r.user_id, r.idempotency_key FROM {{rows}} AS r)`,
  params: key,
})

const addKeys = batchStatement({
  name: 'wallet.add-keys',
  text: `INSERT INTO wallet_keys (${keyNames.join(', ')})
    SELECT ${keyNames.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r`,
  params: keyRow,
})

const pruneKeys = statement({
  name: 'wallet.prune-keys',
  text: `DELETE FROM wallet_keys WHERE (user_id, idempotency_key) IN (
    SELECT user_id, idempotency_key FROM wallet_keys
    WHERE created_at_unix_ms <= :expired_unix_ms
    ORDER BY created_at_unix_ms LIMIT :batch_items)`,
  params: { expired_unix_ms: 'integer', batch_items: 'integer' },
})

/** Queries about balances and their ledger; every function takes the transaction first. */
export const walletStore = {
  /** The balances of each user by currency, and the newest entries, newest first. */
  wallets: (tx: Queries, users: readonly Row<typeof user>[]) => tx.each(wallets, users),
  /** The entries before one, newest first. */
  ledger: (tx: Queries, page: Row<(typeof ledger)['params']>) => tx.each(ledger, [page]),
  balances: (tx: Queries, user_id: string) => tx.all(balances, { user_id }),
  /** Keeps others from changing what balances these users have; answers these as they are then. */
  lock: (tx: Queries, users: readonly Row<typeof user>[]) => tx.each(lock, users),
  /** @throws UniqueViolation when another node has just added one of them */
  addBalances: (tx: Queries, rows: readonly HoldingRow[]) => tx.each(addBalances, rows),
  setBalances: (tx: Queries, rows: readonly HoldingRow[]) => tx.each(setBalances, rows),
  /** Appends entries in their order; answers their numbers, each larger than the one before. */
  async append(tx: Queries, entries: readonly NewEntry[]): Promise<number[]> {
    const rows = entries.map((entry, position) => ({ ...entry, position }))
    const numbered = (await tx.each(append, rows)).sort((a, b) => a.seq - b.seq)
    for (const [index, { user_id, currency, balance_after }] of entries.entries()) {
      const row = numbered[index]
      const inOrder =
        row?.user_id === user_id && row.currency === currency && row.balance_after === balance_after
      if (!inOrder) throw new Error('the ledger was not numbered in the order of its entries')
    }
    return numbered.map(({ seq }) => seq)
  },
  /** The number of the newest entry beyond the `kept` newest, or undefined when none is. */
  async newestSurplus(tx: Queries, kept: number): Promise<number | undefined> {
    const { numbers = 0 } = (await tx.get(span, {})) ?? {}
    if (numbers <= kept) return undefined
    return (await tx.get(newestSurplus, { kept }))?.seq
  },
  removeOldest: (tx: Queries, bounds: Row<(typeof removeOldest)['params']>) =>
    tx.all(removeOldest, bounds),
  /** Adds to what is carried over from entries that are gone. */
  carry: (tx: Queries, sums: readonly Row<(typeof carry)['params']>[]) => tx.each(carry, sums),
  keys: (tx: Queries, of: readonly Row<typeof key>[]) => tx.each(keys, of),
  removeKeys: (tx: Queries, of: readonly Row<typeof key>[]) => tx.each(removeKeys, of),
  addKeys: (tx: Queries, rows: readonly KeyRow[]) => tx.each(addKeys, rows),
  pruneKeys: (tx: Queries, bounds: Row<(typeof pruneKeys)['params']>) => tx.run(pruneKeys, bounds),
}
