import { hash } from 'node:crypto'
import type { Queries } from '../database/database.ts'
import { migrations } from '../database/migrations/index.ts'
import { type Columns, type ColumnType, type Row, statement } from '../database/statement.ts'

/** Every table that the migrations make, with its columns: also those that are yet to come. */
export const tables: ReadonlyMap<string, Columns> = new Map(
  migrations
    .flatMap(({ steps }) => steps)
    .flatMap((step) => {
      const [, name, body] = /^CREATE TABLE (\w+) \(([\s\S]*)\)/.exec(step) ?? []
      return name === undefined || body === undefined ? [] : [[name, columnsOf(body)] as const]
    }),
)

/** All rows of a table, or those of a condition. */
export function rowsOf(db: Queries, table: string, where = '1 = 1'): Promise<Row<Columns>[]> {
  const row = tables.get(table)
  if (row === undefined) throw new Error(`there is no table ${table}`)
  const text = `SELECT ${Object.keys(row).join(', ')} FROM ${table} WHERE ${where}`
  const name = `tests.rows-of-${hash('sha256', text).slice(0, 32)}`
  return db.all(statement({ name, text, row }), {})
}

/** Everything that the database holds, bytes as text as well as in hex and both base64 forms. */
export async function dump(db: Queries): Promise<string> {
  const texts: string[] = []
  for (const table of tables.keys()) {
    for (const row of await rowsOf(db, table)) texts.push(...Object.values(row).map(textOf))
  }
  return texts.join('\n')
}

function columnsOf(body: string): Columns {
  const columns = [...body.matchAll(/^\s*(\w+) \{\{(\w+)\}\}/gm)].map(([, name, word]) => {
    return [String(name), typeOf(String(word))] as const
  })
  return Object.fromEntries(columns)
}

function typeOf(word: string): ColumnType {
  if (word === 'text') return 'text?'
  return word === 'bytes' ? 'bytes?' : 'bigint?'
}

function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value)
  const bytes = Buffer.from(value)
  const spellings = ['latin1', 'hex', 'base64', 'base64url'] as const
  return spellings.map((spelling) => bytes.toString(spelling)).join('\n')
}
