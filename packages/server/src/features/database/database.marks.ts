import type { Relation, RelationColumn } from '../../database/explorer/explorer.ts'
import type { ColumnType } from '../../database/statement.ts'
import { tables } from '../../database/tables/index.ts'

/** The table of API keys, under every schema: only a human admin may look at it. */
export const protectedTable = 'api_keys'

const hidden = new Set(
  tables.flatMap(({ name, visibility }) => (visibility === 'hidden' ? [name] : [])),
)

/** Whether nobody may see that there is such a relation. */
export function isHidden(name: string): boolean {
  return hidden.has(name)
}

/** Whether the cells of a column are redacted for everybody. */
export function isSensitive(table: string, column: string): boolean {
  const marks = tables.find(({ name }) => name === table)?.sensitive ?? []
  return marks.includes(column) || credentialLike.test(column)
}

const credentialLike =
  /password|secret|token|verifier|credential|hmac|salt|api_key|private_key|_digest$|_hash$/i

/** What the schema says of a column beyond what the database knows. */
export function declaredType(table: string, column: string): ColumnType | undefined {
  return tables.find(({ name }) => name === table)?.columns[column]
}

/** Whether pages of it are complete and repeat nothing: it has a key that may be looked at. */
export function isPageable({ name, primary_key }: Relation): boolean {
  return primary_key.length > 0 && !primary_key.some((column) => isSensitive(name, column))
}

/** Whether an order by the column needs no sort, so that it may be long. */
export function isOrdered({ primary_key, indexes }: Relation, column: string): boolean {
  return primary_key.includes(column) || indexes.some(({ leading }) => leading === column)
}

/** Whether rows can be ordered by it at all. */
export function isComparable({ values }: RelationColumn): boolean {
  return values !== 'json'
}
