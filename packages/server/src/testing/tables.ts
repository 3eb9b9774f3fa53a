import { hash } from 'node:crypto'
import type { Queries } from '../database/database.ts'
import { type Columns, type Row, statement } from '../database/statement.ts'
import { tables } from '../database/tables/index.ts'
import { storedAs, type Table } from '../database/tables/table.ts'

/** All rows of a table, or those of a condition, as they are stored. */
export function rowsOf(db: Queries, name: string, where = '1 = 1'): Promise<Row<Columns>[]> {
  const table = tables.find((each) => each.name === name)
  if (table === undefined) throw new Error(`there is no table ${name}`)
  return storedRows(db, table, where)
}

/** Everything that the database holds, bytes as text as well as in hex and both base64 forms. */
export async function dump(db: Queries): Promise<string> {
  const texts: string[] = []
  for (const table of tables) {
    for (const row of await storedRows(db, table)) texts.push(...Object.values(row).map(textOf))
  }
  return texts.join('\n')
}

function storedRows(db: Queries, table: Table, where = '1 = 1'): Promise<Row<Columns>[]> {
  const row = Object.fromEntries(
    Object.entries(table.columns).map(([column, type]) => [column, `${storedAs(type)}?` as const]),
  )
  const text = `SELECT ${Object.keys(row).join(', ')} FROM ${table.name} WHERE ${where}`
  const name = `tests.rows-of-${hash('sha256', text).slice(0, 32)}`
  return db.all(statement({ name, text, row }), {})
}

function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value)
  const bytes = Buffer.from(value)
  const spellings = ['latin1', 'hex', 'base64', 'base64url'] as const
  return spellings.map((spelling) => bytes.toString(spelling)).join('\n')
}
