import { z } from 'zod'
import { key, optional, reference } from '../values/fields.ts'
import type { Json } from '../values/json.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** A relation of the store: `main` on a file, `public` on PostgreSQL. */
const TableReference = once(() => z.strictObject({ schema: key(128), table: key(128) }))

/** What a cell can hold. `null` and `redacted` have no value. */
export const cellKinds = [
  'null',
  'boolean',
  'integer',
  'decimal',
  'text',
  'binary_base64',
  'json',
  'timestamp',
  'redacted',
] as const

export const filterOperators = [
  'eq',
  'neq',
  'lt',
  'lte',
  'gt',
  'gte',
  'contains',
  'is_null',
] as const
export type FilterOperator = (typeof filterOperators)[number]

/** Integers keep all their digits, decimals and bytes are texts. */
const cellValue = z
  .custom<Json>((value) => value !== undefined, { error: 'must be a value' })
  .meta({ jsonSchema: { description: 'Any JSON value' }, free: true })

export const DatabaseCell = once(() =>
  z.strictObject({
    kind: z.enum(cellKinds),
    value: cellValue.optional(),
  }),
)
export type DatabaseCell = z.output<ReturnType<typeof DatabaseCell>>

/** A handle of the server, which means something for five minutes, to its caller. */
const handle = z.string()

export const DatabaseRow = once(() =>
  z.strictObject({
    values: z
      .record(z.string(), DatabaseCell())
      .meta({ description: 'By column, the columns in text order' }),
    row_ref: handle,
  }),
)
export type DatabaseRow = z.output<ReturnType<typeof DatabaseRow>>

const column = reference(1024)

const scalar = z
  .custom<string | number | bigint | boolean | null>(isScalar, {
    error: 'must be a string, a number, true, false or null of at most 1024 bytes',
  })
  .meta({ jsonSchema: { type: ['string', 'number', 'boolean', 'null'] }, free: true })

const Filter = once(() =>
  z.strictObject({
    column,
    operator: z.enum(filterOperators),
    value: scalar.optional(),
  }),
)
export type DatabaseFilter = z.output<ReturnType<typeof Filter>>

const Sort = once(() => z.strictObject({ column, direction: z.enum(['asc', 'desc']) }))
export type DatabaseSort = z.output<ReturnType<typeof Sort>>

const rowLimit = z
  .custom<number | bigint>(
    (value) => typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value)),
    { error: 'must be an integer' },
  )
  .transform((value) => Math.min(Math.max(Number(value), 1), 100))
  .meta({ jsonSchema: { type: 'integer', minimum: 1, maximum: 100, default: 50 } })

const reads = {
  access: 'operator',
  scope: 'database:read',
} as const

const refusals = ['forbidden', 'rate_limited', 'not_found', 'deadline_exceeded'] as const

export const databaseApi = defineApi({
  tables: {
    ...reads,
    method: 'GET',
    path: '/console/v1/database',
    audit: 'database.tables',
    summary: 'Tables and views by schema and name',
    ok: () =>
      z.strictObject({
        tables: z.array(
          z.strictObject({ table: TableReference(), kind: z.enum(['table', 'view']) }),
        ),
      }),
    errors: ['rate_limited', 'deadline_exceeded'],
  },
  describe: {
    ...reads,
    method: 'GET',
    path: '/console/v1/database/{schema}/{table}',
    audit: 'database.describe',
    summary: 'Columns, primary key, indexes and relations of one table or view',
    params: TableReference,
    ok: () =>
      z.strictObject({
        table: TableReference(),
        capabilities: z.strictObject({
          views: z.boolean(),
          indexes: z.boolean(),
          foreign_keys: z.boolean(),
          stable_keyset_pagination: z
            .boolean()
            .meta({ description: 'Without it the rows cannot be read' }),
        }),
        columns: z.array(
          z.strictObject({
            name: z.string(),
            data_type: z.string().meta({ description: 'As the database calls it' }),
            nullable: z.boolean(),
            sensitive: z.boolean().meta({ description: 'Its cells are redacted for everybody' }),
            sortable: z.boolean(),
          }),
        ),
        primary_key: z.array(z.string()),
        indexes: z.array(
          z.strictObject({ name: z.string(), columns: z.array(z.string()), unique: z.boolean() }),
        ),
        relations: z.array(
          z.strictObject({
            name: z.string(),
            columns: z.array(z.string()),
            referenced_table: z.strictObject({ schema: z.string(), table: z.string() }),
            referenced_columns: z.array(z.string()),
          }),
        ),
      }),
    errors: refusals,
  },
  rows: {
    ...reads,
    method: 'POST',
    path: '/console/v1/database/rows',
    audit: 'database.rows',
    summary: 'A page of rows; the order is completed with the primary key',
    body: () =>
      z.strictObject({
        table: TableReference(),
        filters: optional(z.array(Filter()).max(8)),
        sort: Sort(),
        limit: optional(rowLimit),
        cursor: optional(handle),
      }),
    ok: () =>
      z.strictObject({
        table: TableReference(),
        rows: z.array(DatabaseRow()),
        next: handle.optional().meta({ description: 'Present when there are more rows' }),
      }),
    errors: refusals,
  },
  row: {
    ...reads,
    method: 'POST',
    path: '/console/v1/database/row',
    audit: 'database.row',
    summary: 'One row again, as long as it is unchanged',
    body: () => z.strictObject({ table: TableReference(), row_ref: handle }),
    ok: DatabaseRow,
    errors: refusals,
  },
})

/** Bounded as it is sent. */
function isScalar(value: unknown): boolean {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return true
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value === 'string' && value.isWellFormed() && encodedBytes(value) <= 1024
}

function encodedBytes(value: string): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}
