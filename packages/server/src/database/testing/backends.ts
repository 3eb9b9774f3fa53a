import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { type Clock, createSystemClock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { migrate } from '../migrations/migrate.ts'
import type { OpenedDatabase } from '../migrations/schema-access.ts'
import { openDatabase } from '../open.ts'
import type { DatabaseConfig } from '../postgres/config.ts'
import { fastFolder } from './fast-folder.ts'
import { silentLog } from './silent-log.ts'
import { migratedTemplate, testVersion } from './template.ts'

export type OpenOptions = {
  /**
   * What `{{now}}` reads on SQLite; on PostgreSQL it is the server's own clock. Retries and
   * timeouts of PostgreSQL always run on the system's clock.
   */
  clock?: Clock
  config?: Partial<DatabaseConfig>
  log?: Log
  /** False leaves the database empty; otherwise it has the whole schema. */
  migrated?: boolean
}

export type TestDatabase = {
  db: OpenedDatabase
  url: string
  /** Closes the database and opens it again; in memory it comes back empty, with its schema. */
  reopen(): Promise<OpenedDatabase>
  /** Closes the database and removes what it left. */
  dispose(): Promise<void>
}

export type TestBackend = {
  readonly name: 'in-memory' | 'sqlite' | 'postgres'
  open(options?: OpenOptions): Promise<TestDatabase>
}

/**
 * The three backends, for `describe.each(testBackends)('wallets on $name', ({ open }) => ...)`.
 * Every `open` gives a fresh database of its own.
 */
export const testBackends: readonly TestBackend[] = [
  {
    name: 'in-memory',
    open: (options) => opened('memory:', options ?? {}, async () => {}),
  },
  {
    name: 'sqlite',
    async open(options) {
      const folder = mkdtempSync(join(fastFolder(), 'guildhall-sqlite-'))
      const file = join(folder, 'guildhall.db')
      if (options?.migrated !== false) cpSync(inject('sqliteTemplate'), file)
      return opened(`sqlite:${file}`, options ?? {}, async () => {
        rmSync(folder, { recursive: true, force: true })
      })
    },
  },
  {
    name: 'postgres',
    async open(options) {
      const name = `test_${randomBytes(8).toString('hex')}`
      const { clock: _, ...rest } = options ?? {}
      const template = rest.migrated === false ? 'template0' : migratedTemplate
      // Ten times as fast as the default strategy where nothing is synced.
      await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
      return opened(serverUrl(name), rest, () => administer(`DROP DATABASE ${name} WITH (FORCE)`))
    },
  },
]

/**
 * Those that outlive their process, on which the scenarios of features run. In memory it is the
 * SQL of the file: all that is different there is held by the contract of the database, and by
 * tests of what a node without a durable backend answers.
 */
export const durableBackends = testBackends.filter(({ name }) => name !== 'in-memory')

let admin: Promise<pg.Client> | undefined
/** Whose connection it is, so that a test can end it. */
export const adminName = `tests of ${process.pid}`

/** Over one connection for all databases of this process: one for each costs a fifth more. */
async function administer(command: string): Promise<void> {
  admin ??= connectAdmin()
  await (await admin).query(command)
}

function connectAdmin(): Promise<pg.Client> {
  const connectionString = serverUrl('postgres')
  const client = new pg.Client({ connectionString, application_name: adminName })
  const connected = client.connect().then(() => client)
  // Of one that is lost, or was never there, the databases of later tests do not depend.
  const forget = () => {
    if (admin === connected) admin = undefined
  }
  client.on('error', forget)
  connected.catch(forget)
  return connected
}

async function opened(
  url: string,
  { clock = createSystemClock(), config = {}, log = silentLog, migrated = true }: OpenOptions,
  remove: () => Promise<void>,
): Promise<TestDatabase> {
  async function open(): Promise<OpenedDatabase> {
    const db = await openDatabase({ url, config, clock, log, randomness: randomBytes })
    if (migrated) await migrate(db, { version: testVersion, clock, log, holder: 'tests' })
    return db
  }

  const test: TestDatabase = {
    db: await open(),
    url,
    async reopen() {
      await test.db.close()
      test.db = await open()
      return test.db
    },
    async dispose() {
      await test.db.close()
      await remove()
    },
  }
  return test
}

function serverUrl(database: string): string {
  return `postgres://guildhall@127.0.0.1:${inject('postgresPort')}/${database}`
}
