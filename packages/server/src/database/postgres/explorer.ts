import { z } from 'zod'
import type { Clock, Timer } from '../../kernel/clock.ts'
import {
  type Explorer,
  ExplorerDeadline,
  ExplorerRefusal,
  explorerBytesMax,
  type GivenValue,
  type PageQuery,
  PageTooLarge,
  type Relation,
  type StoredValue,
  type ValueKind,
} from '../explorer/explorer.ts'
import { InTurn, type TurnRun } from '../explorer/in-turn.ts'
import {
  type ExplorerStatement,
  type PageDialect,
  pageClauses,
  pageParts,
  quoted,
} from '../explorer/page-query.ts'
import { Connection, type ConnectionOptions } from './connections/connection.ts'
import { ConnectionLost, classified, isConnectionClass, sqlState } from './errors.ts'

type TextRow = readonly (string | null)[]

type PostgresExplorer = Explorer & {
  /** Fails what is under way: the server is down. */
  fail(): void
}

/**
 * The explorer of a PostgreSQL database, over a connection of its own, opened when needed. `check`
 * throws while the server is down.
 */
export function createPostgresExplorer(
  options: ConnectionOptions,
  check: () => void,
): PostgresExplorer {
  const line = new ExplorerConnection(options, check)
  return {
    fail: () => line.fail(),
    schema: 'public',
    begin() {
      const read = line.begin()
      return {
        async relations() {
          const rows = await read({ name: 'explorer.relations', text: relationsText, values: [] })
          return rows.map(([name, kind]) => ({
            name: String(name),
            kind: kind === 'view' ? ('view' as const) : ('table' as const),
          }))
        },
        async describe(name) {
          const statement = { name: 'explorer.describe', text: describeText, values: [name] }
          const [[description] = []] = await read(statement)
          return description ? relationOf(name, JSON.parse(description)) : undefined
        },
        async isSmaller({ name }, rows) {
          const text = `SELECT count(*) FROM
            (SELECT 1 FROM public.${quoted(name)} LIMIT ${rows}) AS t`
          const [[found] = []] = await read({ text, values: [] })
          return Number(found) < rows
        },
        async page(relation, query) {
          const rows = await read(pageStatement(relation, query))
          const [bytes, place] = rows[0] ?? []
          if (Number(bytes) > explorerBytesMax) {
            throw new PageTooLarge('a page of the explorer is too large')
          }
          return place === null ? [] : rows.map(([, , ...values]): StoredValue[] => values)
        },
      }
    },
    close: () => line.close(),
  }
}

/**
 * The rows of a page behind what they weigh together; of a page that is too large, and of an empty
 * one, there is one row without a place.
 */
function pageStatement(relation: Relation, query: PageQuery): ExplorerStatement {
  const names = relation.columns.map(({ name }) => quoted(name))
  const columns = names.map((name, at) => `${name} AS c${at}`).join(', ')
  const given = names.map((_, at) => `p.c${at}`).join(', ')
  const values: GivenValue[] = []
  const parts = pageParts(relation, query).map((part, at) => {
    const { where, orderBy } = pageClauses(part, dialect, values)
    // Within, where no name of ours stands beside the columns, which may be called like it.
    return `SELECT ${at} AS part, ${columns} FROM (SELECT * FROM public.${quoted(relation.name)}
      WHERE ${['true', ...where].join(' AND ')} ${orderBy} LIMIT ${query.limit}) AS t`
  })
  const { direction } = query.order
  const order = query.order.columns.map((column) => {
    return `r.c${relation.columns.findIndex(({ name }) => name === column)} ${direction}`
  })
  const text = `WITH page AS MATERIALIZED (
      SELECT row_number() OVER (ORDER BY ${['r.part', ...order].join(', ')}) AS place, r.*
      FROM (${parts.join(' UNION ALL ')}) AS r ORDER BY place LIMIT ${query.limit}),
    weighed AS (SELECT COALESCE(sum(octet_length(CAST(w.* AS text))), 0) AS bytes FROM page w)
    SELECT weighed.bytes, p.place, ${given} FROM weighed
    LEFT JOIN page p ON weighed.bytes <= ${explorerBytesMax} ORDER BY p.place`
  return { text, values }
}

const dialect: PageDialect = {
  parameter: (number, dataType) => `$${number}::${dataType}`,
  contains: (column, parameter) => `strpos(${column}, ${parameter}) > 0`,
}

class ExplorerConnection {
  readonly #options: ConnectionOptions
  readonly #check: () => void
  readonly #clock: Clock
  readonly #inTurn: InTurn
  #connection: Connection | undefined
  #closed = false

  constructor(options: ConnectionOptions, check: () => void) {
    this.#options = options
    this.#check = check
    this.#clock = options.clock
    this.#inTurn = new InTurn(this.#clock)
  }

  begin(): (statement: ExplorerStatement) => Promise<readonly TextRow[]> {
    this.#check()
    const run = this.#inTurn.begin()
    return (statement) => this.#read(run, statement)
  }

  #read(run: TurnRun, { name = '', text, values }: ExplorerStatement): Promise<readonly TextRow[]> {
    return run(async ({ leftMs, onOver }) => {
      this.#check()
      const connection = await this.#connected()
      // The server ends the statement itself; this is for one that does not answer any more.
      let grace: Timer | undefined
      onOver(() => {
        grace = this.#clock.after(graceMs, () => connection.destroy())
      })
      try {
        const begun = connection.command(
          `BEGIN READ ONLY; SET LOCAL statement_timeout = ${leftMs};
          SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'`,
        )
        // Sent together; an error of the first is one of the second as well.
        begun.catch(() => {})
        const prepared = { name, text }
        const answer = await connection.query({ prepared, values: values.map(asText) })
        await begun
        return answer.rows
      } catch (error) {
        throw refused(error)
      } finally {
        grace?.cancel()
        connection.command('ROLLBACK').catch(() => {})
      }
    })
  }

  fail(): void {
    this.#connection?.destroy()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#connection?.destroy()
    await this.#inTurn.idle()
  }

  async #connected(): Promise<Connection> {
    if (this.#closed) throw new ConnectionLost('the database is closed')
    if (this.#connection?.alive) return this.#connection
    this.#connection = await Connection.open(this.#options)
    return this.#connection
  }
}

const graceMs = 1000

function refused(error: unknown): unknown {
  const state = sqlState(error)
  if (state === '57014') return new ExplorerDeadline('a read of the explorer took too long')
  if (error instanceof ConnectionLost || isConnectionClass(error)) return classified(error)
  if (state === undefined) return error
  return new ExplorerRefusal('the server refuses a read of the explorer', { cause: error })
}

/** As PostgreSQL reads it; what comes out of a row is text already. */
function asText(value: GivenValue): string | null {
  if (value === null || typeof value === 'string') return value
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value)
}

/** Relations of the schema, without those that belong to an extension. */
const relationsOfSchema = `pg_class t
  WHERE t.relnamespace = to_regnamespace('public') AND t.relkind IN ('r', 'p', 'f', 'v', 'm')
    AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = CAST('pg_class' AS regclass)
      AND d.objid = t.oid AND d.deptype = 'e')`

const relationsText = `SELECT CAST(t.relname AS text) COLLATE "C" AS name,
    CASE WHEN t.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END
  FROM ${relationsOfSchema} ORDER BY name`

const describeText = `SELECT json_build_object(
    'kind', CASE WHEN t.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
    'columns', (SELECT COALESCE(json_agg(json_build_object('name', a.attname,
        'data_type', format_type(a.atttypid, a.atttypmod),
        'compared_as', format_type(a.atttypid, -1), 'nullable', NOT a.attnotnull,
        'type', COALESCE(b.typname, y.typname)) ORDER BY a.attnum), '[]')
      FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
      LEFT JOIN pg_type b ON b.oid = y.typbasetype
      WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped),
    'primary_key', (SELECT COALESCE(json_agg(a.attname ORDER BY k.place), '[]')
      FROM pg_constraint c CROSS JOIN unnest(c.conkey) WITH ORDINALITY AS k (attnum, place)
      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum
      WHERE c.conrelid = t.oid AND c.contype = 'p'),
    'indexes', (SELECT COALESCE(json_agg(json_build_object('name', i.relname,
        'unique', x.indisunique, 'columns', (SELECT json_agg(a.attname ORDER BY k.place)
          FROM unnest(x.indkey::smallint[]) WITH ORDINALITY AS k (attnum, place)
          LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum AND k.attnum > 0
          WHERE k.place <= x.indnkeyatts)) ORDER BY CAST(i.relname AS text) COLLATE "C"), '[]')
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
      WHERE x.indrelid = t.oid AND x.indisvalid AND NOT x.indisprimary),
    'relations', (SELECT COALESCE(json_agg(json_build_object('name', c.conname,
        'schema', n.nspname, 'table', o.relname,
        'columns', (SELECT json_agg(a.attname ORDER BY k.place)
          FROM unnest(c.conkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.attnum),
        'referenced_columns', (SELECT json_agg(a.attname ORDER BY k.place)
          FROM unnest(c.confkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.attnum))
        ORDER BY CAST(c.conname AS text) COLLATE "C"), '[]')
      FROM pg_constraint c JOIN pg_class o ON o.oid = c.confrelid
      JOIN pg_namespace n ON n.oid = o.relnamespace
      WHERE c.conrelid = t.oid AND c.contype = 'f'))
  FROM ${relationsOfSchema} AND t.relname = $1`

const Description = z.object({
  kind: z.enum(['table', 'view']),
  columns: z.array(
    z.object({
      name: z.string(),
      data_type: z.string(),
      compared_as: z.string(),
      nullable: z.boolean(),
      type: z.string(),
    }),
  ),
  primary_key: z.array(z.string()),
  indexes: z.array(
    z.object({
      name: z.string(),
      unique: z.boolean(),
      columns: z.array(z.string().nullable()),
    }),
  ),
  relations: z.array(
    z.object({
      name: z.string(),
      schema: z.string(),
      table: z.string(),
      columns: z.array(z.string()),
      referenced_columns: z.array(z.string()),
    }),
  ),
})

function relationOf(name: string, description: unknown): Relation {
  const { columns, indexes, relations, ...rest } = Description.parse(description)
  return {
    name,
    ...rest,
    columns: columns.map(({ type, ...column }) => ({ ...column, values: kinds[type] ?? 'other' })),
    indexes: indexes.map(({ columns: indexed, ...index }) => ({
      ...index,
      columns: indexed.filter((column) => column !== null),
      leading: indexed[0] ?? null,
    })),
    relations: relations.map(({ schema, table, ...relation }) => ({
      ...relation,
      referenced_table: { schema, table },
    })),
  }
}

const kinds: Readonly<Record<string, ValueKind>> = {
  bool: 'boolean',
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'decimal',
  float4: 'decimal',
  float8: 'decimal',
  text: 'text',
  varchar: 'text',
  bpchar: 'text',
  bytea: 'bytes',
  json: 'json',
  jsonb: 'json',
  timestamptz: 'timestamp',
  timestamp: 'timestamp',
}
