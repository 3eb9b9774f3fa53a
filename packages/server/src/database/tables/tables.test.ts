import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ColumnType, isNullable, statement } from '../statement.ts'
import { type TestDatabase, testBackends } from '../testing/backends.ts'
import { tables } from './index.ts'
import { storedAs } from './table.ts'

/** What the engine says of a table; `checks` is the text of its constraints. */
type Found = {
  columns: Record<string, { stored: string; nullable: boolean }>
  key: string[]
  sequence: string | undefined
  checks: string
}

describe.each(testBackends)('the catalogue of tables on $name', ({ name, open }) => {
  let test: TestDatabase
  let found: Map<string, Found>
  beforeAll(async () => {
    test = await open()
    found = await (name === 'postgres' ? describePostgres(test) : describeSqlite(test))
  })
  afterAll(() => test.dispose())

  it('[O-DB-4] has every table of the schema, and no other', () => {
    expect(tables.map((table) => table.name).sort()).toEqual([...found.keys()].sort())
  })

  it.each(tables)('[O-DB-4] has $name as the migrations make it', (table) => {
    const columns = Object.entries(table.columns).map(([column, type]) => {
      return [column, { stored: storedAs(type), nullable: isNullable(type) }]
    })
    const { checks: _, ...schema } = found.get(table.name) ?? { checks: '' }
    expect(schema).toEqual({
      columns: Object.fromEntries(columns),
      key: table.key,
      sequence: table.sequence,
    })
  })

  it.each(tables)('[O-DB-4] has the values that $name lets into its columns', (table) => {
    const checks = found.get(table.name)?.checks ?? ''
    for (const [column, type] of Object.entries(table.columns)) {
      expect([column, allowed(checks, column)]).toEqual([column, valuesOf(type)])
    }
  })

  it('[H-DBX-2] hides and protects what nobody, or only an admin, may look at', () => {
    const marked = (visibility: string) =>
      tables.filter((table) => table.visibility === visibility).map((table) => table.name)
    expect(marked('protected')).toEqual(['api_keys'])
    const hidden = 'schema_migrations schema_lease deployment_secrets leases totals account_totals'
    const rest = [
      'notification_totals',
      'storage_index_guard',
      'leaderboard_blocks',
      'console_tokens',
    ]
    expect(marked('hidden')).toEqual([...hidden.split(' '), ...rest])
  })
})

function valuesOf(type: ColumnType): string[] | undefined {
  if (typeof type !== 'object') return undefined
  return type.oneOf.filter((value) => value !== null).sort()
}

/** The texts that a CHECK of the column lists, in either engine's spelling. */
function allowed(checks: string, column: string): string[] | undefined {
  const sqlite = new RegExp(`CHECK \\(${column} IN\\s*\\(([^)]*)\\)`).exec(checks)?.[1]
  const postgres = new RegExp(`\\(\\(${column} = ANY \\(ARRAY\\[([^\\]]*)\\]`).exec(checks)?.[1]
  const texts = [...(sqlite ?? postgres ?? '').matchAll(/'([^']*)'/g)].map(([, text]) => `${text}`)
  return texts.length === 0 ? undefined : texts.sort()
}

async function describeSqlite({ db }: TestDatabase): Promise<Map<string, Found>> {
  const rows = await db.all(sqliteColumns, {})
  const found = new Map<string, Found>()
  for (const row of rows) {
    const keys = rows.filter((each) => each.name === row.name && each.pk > 0)
    const entry = found.get(row.name) ?? {
      columns: {},
      key: keys.sort((a, b) => a.pk - b.pk).map((each) => each.column_name),
      sequence: /(\w+) INTEGER PRIMARY KEY AUTOINCREMENT/.exec(row.sql)?.[1],
      checks: row.sql,
    }
    found.set(row.name, entry)
    // SQLite takes null for "the next number" in a primary key of one integer.
    const nullable = row.required === 0 && row.pk === 0
    entry.columns[row.column_name] = { stored: `${stored[row.type]}`, nullable }
  }
  return found
}

async function describePostgres({ db }: TestDatabase): Promise<Map<string, Found>> {
  const rows = await db.all(postgresColumns, {})
  const found = new Map<string, Found>()
  for (const row of rows) {
    const entry = found.get(row.name) ?? {
      columns: {},
      key: row.key.split(','),
      sequence: undefined,
      checks: row.checks,
    }
    found.set(row.name, entry)
    entry.columns[row.column_name] = { stored: `${stored[row.type]}`, nullable: row.required === 0 }
    // Here a counter that may repeat is an identity as well.
    const declared = tables.find((table) => table.name === row.name)?.sequence
    if (row.identity === 1 && declared === row.column_name) entry.sequence = row.column_name
  }
  return found
}

const stored: Readonly<Record<string, string>> = {
  TEXT: 'text',
  INTEGER: 'bigint',
  BLOB: 'bytes',
  text: 'text',
  bigint: 'bigint',
  bytea: 'bytes',
}

const sqliteColumns = statement({
  name: 'tables-test.sqlite',
  text: `SELECT m.name, m.sql, c.name AS column_name, c.type, c."notnull" AS required, c.pk
    FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid`,
  row: {
    name: 'text',
    sql: 'text',
    column_name: 'text',
    type: 'text',
    required: 'integer',
    pk: 'integer',
  },
})

const postgresColumns = statement({
  name: 'tables-test.postgres',
  text: `SELECT CAST(t.relname AS text) AS name, CAST(c.attname AS text) AS column_name,
      format_type(c.atttypid, NULL) AS type,
      CASE WHEN c.attnotnull THEN 1 ELSE 0 END AS required,
      CASE WHEN c.attidentity = '' THEN 0 ELSE 1 END AS identity,
      (SELECT string_agg(CAST(k.attname AS text), ',' ORDER BY array_position(p.conkey, k.attnum))
        FROM pg_constraint p JOIN pg_attribute k
          ON k.attrelid = p.conrelid AND k.attnum = ANY (p.conkey)
        WHERE p.conrelid = t.oid AND p.contype = 'p') AS key,
      COALESCE((SELECT string_agg(pg_get_constraintdef(p.oid), ' ') FROM pg_constraint p
        WHERE p.conrelid = t.oid AND p.contype = 'c'), '') AS checks
    FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r'
      AND c.attnum > 0 AND NOT c.attisdropped
    ORDER BY t.relname, c.attnum`,
  row: {
    name: 'text',
    column_name: 'text',
    type: 'text',
    required: 'integer',
    identity: 'integer',
    key: 'text',
    checks: 'text',
  },
})
