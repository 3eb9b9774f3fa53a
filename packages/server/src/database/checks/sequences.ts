import type { Backend, Queries } from '../database.ts'
import { statement } from '../statement.ts'
import { tables } from '../tables/index.ts'

/** A column that counts up, and where it has got. */
export type Sequence = {
  table: string
  /** The largest number that a row has; null when there is no row. */
  largest: bigint | null
  /** The newest number that was given out; null when there was none yet. */
  issued: bigint | null
}

/** The columns of the schema whose numbers come from a sequence. */
const identities = tables.flatMap(({ name: table, sequence: column }) => {
  return column === undefined ? [] : [{ table, column }]
})

/** Looks at every sequence of the schema. */
export async function sequencesOf(state: Queries, backend: Backend): Promise<Sequence[]> {
  const statements = backend === 'postgres' ? onPostgres : onSqlite
  const sequences: Sequence[] = []
  for (const { table, positions } of statements) {
    const row = await state.get(positions, {})
    sequences.push({ table, largest: row?.largest ?? null, issued: row?.issued ?? null })
  }
  return sequences
}

const onSqlite = identities.map((identity) => positionsOf(identity, 'sqlite'))
const onPostgres = identities.map((identity) => positionsOf(identity, 'postgres'))

function positionsOf({ table, column }: (typeof identities)[number], engine: string) {
  const issued =
    engine === 'postgres'
      ? `pg_sequence_last_value(pg_get_serial_sequence('${table}', '${column}')::regclass)`
      : `(SELECT seq FROM sqlite_sequence WHERE name = '${table}')`
  const positions = statement({
    name: `sequences.${engine}.${table}`,
    text: `SELECT (SELECT MAX(${column}) FROM ${table}) AS largest, ${issued} AS issued`,
    row: { largest: 'bigint?', issued: 'bigint?' },
  })
  return { table, positions }
}
