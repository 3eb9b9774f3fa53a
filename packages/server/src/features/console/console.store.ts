import type { Database, Queries, Transaction } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { consoleTokens } from '../../database/tables/console-tokens.ts'
import { pick } from '../../database/tables/table.ts'

const tokenRow = consoleTokens.columns
export type TokenRow = Row<typeof tokenRow>

const keep = statement({
  name: 'console.keep-token',
  text: `INSERT INTO console_tokens (${Object.keys(tokenRow).join(', ')})
    VALUES (${Object.keys(tokenRow)
      .map((name) => `:${name}`)
      .join(', ')})`,
  params: tokenRow,
})

/** With the slot of the boot that issued it, which has none any more once it has ended. */
const find = statement({
  name: 'console.find-token',
  text: `SELECT t.username, t.role, t.expires_at_unix_ms, t.boot_id, n.slot
    FROM console_tokens t LEFT JOIN cluster_nodes n ON n.boot_id = t.boot_id
    WHERE t.digest = :digest`,
  params: pick(consoleTokens, 'digest'),
  row: {
    ...pick(consoleTokens, 'username', 'role', 'expires_at_unix_ms', 'boot_id'),
    slot: 'integer?',
  },
})

const end = statement({
  name: 'console.end-token',
  text: 'DELETE FROM console_tokens WHERE digest = :digest',
  params: pick(consoleTokens, 'digest'),
})

const pruneExpired = statement({
  name: 'console.prune-tokens',
  text: `DELETE FROM console_tokens WHERE digest IN (
    SELECT digest FROM console_tokens WHERE expires_at_unix_ms <= :now_unix_ms
    ORDER BY expires_at_unix_ms LIMIT :batch_items)`,
  params: { now_unix_ms: 'integer', batch_items: 'integer' },
})

/** Tokens of operators; every function takes the transaction first. */
export const consoleStore = {
  keep: (db: Database, row: TokenRow) => db.run(keep, row),
  find: (db: Queries, digest: Uint8Array) => db.get(find, { digest }),
  /** False when it had ended already. */
  end: async (db: Database, digest: Uint8Array) => (await db.run(end, { digest })) > 0,
  pruneExpired: (tx: Transaction, bounds: Row<(typeof pruneExpired)['params']>) =>
    tx.run(pruneExpired, bounds),
}
