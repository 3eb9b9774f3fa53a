import { createHash } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { StatementTimeout, UniqueViolation } from '../database.ts'
import { leaseRows } from '../jobs/lease-rows.ts'
import { statement } from '../statement.ts'
import { migrations as released } from './index.ts'
import type { Migration } from './migration.ts'
import type { OpenedDatabase, SchemaTransaction } from './schema-access.ts'

/** Thrown when the store and this binary do not fit; the process ends with exit code 3. */
export class SchemaNotUsable extends Error {
  override readonly name = 'SchemaNotUsable'
}

export type MigrateOptions = {
  /** The version of this binary, e.g. `0.1.0`. */
  version: string
  clock: Clock
  log: Log
  /** Names this migrator in the lease row: the boot id, or 16 random bytes in hex. */
  holder: string
  /** Copy an embedded file of an older schema before it is changed. */
  backup?: boolean
  /** For tests. */
  migrations?: readonly Migration[]
}

export type SchemaVersion = {
  /** The newest migration that the store has; 0 for an empty one. */
  applied: number
  /** Those of this binary that the store lacks, in order. */
  pending: readonly Migration[]
}

/**
 * Looks at the store and changes nothing. Throws `SchemaNotUsable` when a recorded checksum is not
 * ours, or when the store is newer and no longer allows this binary.
 */
export async function pendingMigrations(
  db: OpenedDatabase,
  { version, migrations = released }: { version: string; migrations?: readonly Migration[] },
): Promise<SchemaVersion> {
  const records = await recorded(db)
  for (const record of records) checkRecord(record, migrations, version)
  return {
    applied: Math.max(0, ...records.map((record) => record.number)),
    pending: migrations.filter(({ number }) => !records.some((it) => it.number === number)),
  }
}

/** Applies what is pending, one migration per transaction, while no other node does. */
export async function migrate(db: OpenedDatabase, options: MigrateOptions): Promise<SchemaVersion> {
  const before = await pendingMigrations(db, options)
  if (before.pending.length === 0) return before
  await createBookkeeping(db)
  const lease = await acquireLease(db, options)
  try {
    const { applied, pending } = await pendingMigrations(db, options)
    if (applied > 0 && pending.length > 0 && options.backup !== false) {
      await db.schema.backup?.(applied)
    }
    for (const migration of pending) {
      await db.schema.transaction((tx) => apply(tx, migration, { db, options, lease }))
      options.log.info('migrated the schema', { number: migration.number, step: migration.name })
    }
  } finally {
    // It runs out by itself; that it could not be released must not hide why a migration failed.
    await db.run(schemaLease.release, lease).catch((error: unknown) => {
      options.log.warn('the lease on the schema could not be released', { error })
    })
  }
  return pendingMigrations(db, options)
}

/** The lease as its statements name it. */
type HeldLease = { name: string; holder: string; token: number }

type Applying = { db: OpenedDatabase; options: MigrateOptions; lease: HeldLease }

async function apply(tx: SchemaTransaction, migration: Migration, with_: Applying): Promise<void> {
  const { db, options, lease } = with_
  // The row lock that this takes keeps every other migrator out until the commit.
  await renew(tx, lease)
  for (const step of migration.steps) await tx.ddl(db.schema.render(step))
  await tx.run(record, {
    number: migration.number,
    name: migration.name,
    checksum: checksumOf(migration),
    binary_version: options.version,
    oldest_binary: migration.oldestBinary,
    applied_at_unix_ms: options.clock.nowUnixMs(),
  })
  await renew(tx, lease)
}

async function renew(tx: SchemaTransaction, lease: HeldLease): Promise<void> {
  const renewed = await tx.run(schemaLease.renew, { ...lease, life_ms: leaseLifeMs })
  if (renewed === 0) throw new Error('lost the lease on the schema')
}

/** What makes a migration what it is; a released one never changes. */
export function checksumOf(migration: Migration): string {
  const content = [migration.number, migration.name, migration.oldestBinary, ...migration.steps]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

type Record = { number: number; name: string; checksum: string; oldest_binary: string }

function checkRecord(record: Record, migrations: readonly Migration[], version: string): void {
  const ours = migrations.find(({ number }) => number === record.number)
  if (ours && checksumOf(ours) !== record.checksum) {
    throw new SchemaNotUsable(
      `migration ${record.number} (${record.name}) of the store is not the one of this binary`,
    )
  }
  if (!ours && compareVersions(version, record.oldest_binary) < 0) {
    throw new SchemaNotUsable(
      `the store has migration ${record.number} and needs version ${record.oldest_binary} or newer`,
    )
  }
}

/** Compares `major.minor.patch`; what follows a hyphen does not count. */
export function compareVersions(a: string, b: string): number {
  const numbers = (version: string) => (version.split('-')[0] ?? '').split('.').map(Number)
  const [left, right] = [numbers(a), numbers(b)]
  for (let at = 0; at < 3; at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

async function recorded(db: OpenedDatabase): Promise<Record[]> {
  if (!(await db.schema.hasTable('schema_migrations'))) return []
  return db.all(readRecords, {})
}

async function createBookkeeping(db: OpenedDatabase): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await db.schema.transaction(async (tx) => {
        for (const step of bookkeeping) await tx.ddl(db.schema.render(step))
      })
      return
    } catch (error) {
      // Two nodes may create the same table at once; the second finds it in its next attempt.
      if (attempt === 5) throw error
    }
  }
}

async function acquireLease(
  db: OpenedDatabase,
  { clock, holder, log }: MigrateOptions,
): Promise<HeldLease> {
  const giveUpAtMs = clock.monotonicMs() + waitMs
  for (let first = true; ; first = false) {
    const lease = await tryLease(db, holder)
    if (lease) return lease
    if (clock.monotonicMs() > giveUpAtMs) {
      throw new Error('another node has been migrating the schema for 10 minutes')
    }
    if (first) log.info('waiting for another node that migrates the schema')
    await clock.sleep(pollMs)
  }
}

async function tryLease(db: OpenedDatabase, holder: string): Promise<HeldLease | undefined> {
  const lease = { name: 'schema', holder }
  try {
    const { take } = db.backend === 'postgres' ? schemaLease : embeddedLease
    const taken = await db.get(take, { ...lease, life_ms: leaseLifeMs })
    return taken && { ...lease, token: taken.token }
  } catch (error) {
    if (error instanceof UniqueViolation) return undefined
    // A migration that is being applied keeps the row locked, for as long as it takes.
    if (error instanceof StatementTimeout) return undefined
    throw error
  }
}

/**
 * The start after a kill waits for this long. A step may take longer: while it runs, it is its lock
 * on the row that keeps the others out.
 */
const leaseLifeMs = 10_000
const schemaLease = leaseRows('schema_lease')
/** An embedded file is locked by its process: the holder before is gone. */
const embeddedLease = leaseRows('schema_lease', '1 = 1')
const waitMs = 600_000
const pollMs = 500

const bookkeeping = [
  `CREATE TABLE IF NOT EXISTS schema_migrations (
    number {{bigint}} NOT NULL PRIMARY KEY,
    name {{text}} NOT NULL,
    checksum {{text}} NOT NULL,
    binary_version {{text}} NOT NULL,
    oldest_binary {{text}} NOT NULL,
    applied_at_unix_ms {{bigint}} NOT NULL
  ) {{strict}}`,
  `CREATE TABLE IF NOT EXISTS schema_lease (
    name {{text}} NOT NULL PRIMARY KEY,
    holder {{text}} NOT NULL,
    token {{bigint}} NOT NULL,
    expires_at_unix_ms {{bigint}} NOT NULL
  ) {{strict}}`,
]

const readRecords = statement({
  name: 'schema.records',
  text: 'SELECT number, name, checksum, oldest_binary FROM schema_migrations ORDER BY number',
  row: { number: 'integer', name: 'text', checksum: 'text', oldest_binary: 'text' },
})

const record = statement({
  name: 'schema.record',
  text: `INSERT INTO schema_migrations
      (number, name, checksum, binary_version, oldest_binary, applied_at_unix_ms)
    VALUES (:number, :name, :checksum, :binary_version, :oldest_binary, :applied_at_unix_ms)`,
  params: {
    number: 'integer',
    name: 'text',
    checksum: 'text',
    binary_version: 'text',
    oldest_binary: 'text',
    applied_at_unix_ms: 'integer',
  },
})
