import type { Queries, Transaction } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { accounts, sessions } from '../../database/tables/accounts.ts'
import { pick } from '../../database/tables/table.ts'

/** Digests stay where they are: nothing here reads them. */
const sessionRow = pick(
  sessions,
  'id',
  'created_at_unix_ms',
  'access_expires_at_unix_ms',
  'refresh_expires_at_unix_ms',
)

const ofAccount = { account_id: 'text', now_unix_ms: 'integer' } as const
const pageParams = { ...ofAccount, limit: 'integer', offset: 'integer' } as const

const live = `s.account_id = :account_id AND s.revoked_at_unix_ms IS NULL
  AND s.refresh_expires_at_unix_ms > :now_unix_ms`

/** Sorted after the index of an account's sessions: an account may have many. */
const page = statement({
  name: 'console-sessions.page',
  text: `SELECT ${Object.keys(sessionRow)
    .map((column) => `s.${column}`)
    .join(', ')} FROM sessions s WHERE ${live}
    ORDER BY s.created_at_unix_ms DESC, s.id DESC LIMIT :limit OFFSET :offset`,
  params: pageParams,
  row: sessionRow,
  long: true,
})

const count = statement({
  name: 'console-sessions.count',
  text: `SELECT count(*) AS total FROM sessions s WHERE ${live}`,
  params: ofAccount,
  row: { total: 'integer' },
  long: true,
})

const find = statement({
  name: 'console-sessions.find',
  text: `SELECT refresh_expires_at_unix_ms FROM sessions
    WHERE id = :id AND account_id = :account_id`,
  params: pick(sessions, 'id', 'account_id'),
  row: pick(sessions, 'refresh_expires_at_unix_ms'),
})

/** Sessions are opened and refreshed under a share of this lock. */
const lockAccount = statement({
  name: 'console-sessions.lock-account',
  text: 'SELECT a.id FROM accounts a WHERE a.id = :account_id {{for update of a}}',
  params: { account_id: 'text' },
  row: pick(accounts, 'id'),
})

type OfAccount = Row<typeof ofAccount>

/** Queries of operators about sessions; every function takes the transaction first. */
export const consoleSessionsStore = {
  /** Live sessions of an account, newest first. */
  page: (db: Queries, asked: Row<typeof pageParams>) => db.all(page, asked),
  /** How many sessions of an account are live. */
  count: async (tx: Queries, asked: OfAccount) => (await tx.get(count, asked))?.total ?? 0,
  /** When a session of this account ends, revoked or not. */
  find: (tx: Queries, session: Row<(typeof find)['params']>) => tx.get(find, session),
  /** Keeps sessions of the account from being opened and refreshed; false for unknown ones. */
  lockAccount: async (tx: Transaction, account_id: string) =>
    (await tx.get(lockAccount, { account_id })) !== undefined,
}
