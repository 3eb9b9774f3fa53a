import type { ConsoleClient } from '@guildhall/client/console'

/** A table of the store, and what is known of its columns and keys. */
export type Description = Awaited<ReturnType<ConsoleClient['database']['describe']>>

/** Columns whose values name a row, of this table or of another one. */
export function keyColumnsOf({ primary_key, relations }: Description): ReadonlySet<string> {
  return new Set([...primary_key, ...relations.flatMap(({ columns }) => columns)])
}
