import type { OneOf } from '../statement.ts'

/** The text of a column of a closed list; any other is an error of who wrote it. */
export function readOneOf({ oneOf }: OneOf, stored: unknown, column: string): string | null {
  const known = oneOf.find((value) => value === stored)
  if (known === undefined) throw new Error(`${column} holds none of its values`)
  return known
}

/** Whether a value may be written to a `json` column. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
