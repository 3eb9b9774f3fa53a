import type { Clock } from '../kernel/clock.ts'
import type { Randomness } from '../kernel/ids.ts'
import type { Log } from '../kernel/log/log.ts'
import type { OpenedDatabase } from './migrations/schema-access.ts'
import { type DatabaseConfig, databaseDefaults } from './postgres/config.ts'
import { openFileDatabase, openFileToRead, openMemoryDatabase } from './sqlite/sqlite-database.ts'

export type OpenDatabaseOptions = {
  /** `database.url`; undefined is the in-memory backend. */
  url: string | undefined
  config?: Partial<DatabaseConfig>
  clock: Clock
  log: Log
  /**
   * `read` looks into an embedded file beside the process that serves it, and neither creates nor
   * changes one; on PostgreSQL its statements have no time limit. Default: `own`.
   */
  access?: 'own' | 'read'
  /** Spreads the retries of transactions that got in each other's way. */
  randomness: Randomness
}

/** Thrown for a `database.url` of none of the known forms; the message does not repeat it. */
export class UnknownDatabaseUrl extends Error {
  override readonly name = 'UnknownDatabaseUrl'
}

/**
 * Opens the backend that the URL selects. One that cannot be used is an error: there is no other
 * backend to fall back to.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { url, clock, log } = options
  if (url === undefined || url === 'memory:') return openMemoryDatabase({ clock })
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) {
    const path = url.slice('sqlite:'.length)
    if (options.access === 'read') return openFileToRead(path, { clock })
    return openFileDatabase(path, { clock, log })
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const config = { ...databaseDefaults, ...options.config }
    const onlyReads = options.access === 'read'
    const { randomness } = options
    // Loaded by those alone who have it.
    const { openPostgresDatabase } = await import('./postgres/postgres-database.ts')
    return openPostgresDatabase({ url, config, clock, log, randomness, onlyReads })
  }
  throw new UnknownDatabaseUrl(
    'database.url must be `memory:`, `sqlite:PATH` or `postgres://USER@HOST/NAME`',
  )
}
