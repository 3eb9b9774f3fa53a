import { statement } from '../statement.ts'

/**
 * The statements of leases that are rows of `table`. A lease has a holder until it expires by the
 * database's clock; `token` distinguishes this taking from every other one. A holder
 * whose answer was lost takes it again, under a new token.
 *
 * @param alsoFree SQL of a further condition under which a lease that has not expired is free
 */
export function leaseRows(table: 'leases' | 'schema_lease', alsoFree = '0 = 1') {
  const own = 'name = :name AND holder = :holder AND token = :token'
  const ownParams = { name: 'text', holder: 'text', token: 'integer' } as const
  return {
    /** Answers nothing when somebody else holds it. */
    take: statement({
      name: `${table}.take`,
      text: `INSERT INTO ${table} (name, holder, token, expires_at_unix_ms)
        VALUES (:name, :holder, 1, {{now}} + :life_ms)
        ON CONFLICT (name) DO UPDATE SET
          holder = excluded.holder,
          token = ${table}.token + 1,
          expires_at_unix_ms = excluded.expires_at_unix_ms
        WHERE ${table}.expires_at_unix_ms <= {{now}} OR ${table}.holder = excluded.holder
          OR ${alsoFree}
        RETURNING token`,
      params: { name: 'text', holder: 'text', life_ms: 'integer' },
      row: { token: 'integer' },
    }),
    /** Changes no row when the lease was lost. */
    renew: statement({
      name: `${table}.renew`,
      text: `UPDATE ${table} SET expires_at_unix_ms = {{now}} + :life_ms WHERE ${own}`,
      params: { ...ownParams, life_ms: 'integer' },
    }),
    /** Locks the row until the end of the transaction; answers nothing when the lease was lost. */
    own: statement({
      name: `${table}.own`,
      text: `SELECT l.token FROM ${table} l WHERE ${own} {{for share of l}}`,
      params: ownParams,
      row: { token: 'integer' },
    }),
    release: statement({
      name: `${table}.release`,
      text: `UPDATE ${table} SET expires_at_unix_ms = 0 WHERE ${own}`,
      params: ownParams,
    }),
  }
}
