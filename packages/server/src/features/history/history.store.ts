import type { Queries } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { schemaMigrations } from '../../database/tables/schema.ts'
import { pick } from '../../database/tables/table.ts'

/** The table has a row for each migration there ever was. */
const appliedSince = statement({
  name: 'history.migrations-since',
  text: `SELECT number, name, applied_at_unix_ms FROM schema_migrations
    WHERE applied_at_unix_ms >= :from_unix_ms ORDER BY number`,
  params: { from_unix_ms: 'time' },
  row: pick(schemaMigrations, 'number', 'name', 'applied_at_unix_ms'),
})

/** The migrations of the schema since a time, as marks of a history. */
export async function migrationsSince(tx: Queries, from_unix_ms: number) {
  const rows = await tx.all(appliedSince, { from_unix_ms })
  return rows.map(({ number, name, applied_at_unix_ms }) => ({
    at_unix_ms: applied_at_unix_ms,
    kind: 'migration' as const,
    text: `migration ${number}, ${name}`,
  }))
}
