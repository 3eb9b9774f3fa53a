import type { ConsoleClient } from '@guildhall/client/console'

/** A table of the store, and what is known of its columns and keys. */
export type Description = Awaited<ReturnType<ConsoleClient['database']['describe']>>
