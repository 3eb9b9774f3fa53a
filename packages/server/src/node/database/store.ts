import type { Config } from '../../config/schema.ts'
import { deploymentSecret } from '../../database/jobs/deployment-secrets.ts'
import { migrate, pendingMigrations, SchemaNotUsable } from '../../database/migrations/migrate.ts'
import type { OpenedDatabase } from '../../database/migrations/schema-access.ts'
import { openDatabase } from '../../database/open.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import { countErrors } from './error-count.ts'

export type StoreDeps = {
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  version: string
  bootId: string
}

/** The database as the node uses it: of the right schema, with the deployment's secrets. */
export type Store = {
  db: OpenedDatabase
  /** How often it has failed since the start. */
  databaseErrors(): number
  secrets: Secrets
}

/** The deployment's secrets, 32 bytes each and the same on every node. */
export type Secrets = {
  /** Hides what admission counts by. */
  admission: Uint8Array
  /** Makes access tokens of refresh tokens. */
  sessions: Uint8Array
  /** Seals what the database explorer hands out. */
  explorer: Uint8Array
}

/** Opens the configured backend. One that cannot be used fails the start; there is no other. */
export async function openStore(deps: StoreDeps): Promise<Store> {
  const { config, clock, log, ids } = deps
  const { database } = config
  const opened = await openDatabase({
    url: database.url,
    config: database,
    clock,
    log: log.component('database'),
    randomness: ids.bytes,
  })
  const { db, errors: databaseErrors } = countErrors(opened)
  try {
    await bringUpToDate(db, deps)
    const admission = await deploymentSecret(db, 'admission', ids.bytes)
    const sessions = await deploymentSecret(db, 'sessions', ids.bytes)
    const explorer = await deploymentSecret(db, 'explorer', ids.bytes)
    return { db, databaseErrors, secrets: { admission, sessions, explorer } }
  } catch (error) {
    await db.close()
    throw error
  }
}

async function bringUpToDate(db: OpenedDatabase, deps: StoreDeps): Promise<void> {
  const { config, clock, log, version, bootId } = deps
  const { auto_migrate, backup_before_migrate } = config.database
  if (auto_migrate || !db.durable) {
    await migrate(db, { version, clock, log, holder: bootId, backup: backup_before_migrate })
    return
  }
  const { pending } = await pendingMigrations(db, { version })
  if (pending.length > 0) {
    throw new SchemaNotUsable('migrations are pending: run `guildhall migrate`')
  }
}
