import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { createSystemClock } from '../../kernel/clock.ts'
import { migrate } from '../migrations/migrate.ts'
import { openDatabase } from '../open.ts'
import { fastFolder } from './fast-folder.ts'
import { onServer, type PostgresServer, startPostgresServer } from './postgres-server.ts'
import { silentLog } from './silent-log.ts'
import { migratedTemplate, testVersion } from './template.ts'

/** Runs once around all test files: one PostgreSQL server serves them all. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgresServer([], fastFolder())
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-template-'))
  async function dispose(): Promise<void> {
    rmSync(folder, { recursive: true, force: true })
    await server.dispose()
  }
  try {
    const file = join(folder, 'guildhall.db')
    await migrateOnce(`sqlite:${file}`)
    await createTemplate(server)
    project.provide('sqliteTemplate', file)
    project.provide('postgresPort', server.port)
    return dispose
  } catch (error) {
    await dispose()
    throw error
  }
}

async function createTemplate(server: PostgresServer): Promise<void> {
  await onServer(server.url('postgres'), `CREATE DATABASE ${migratedTemplate} TEMPLATE template0`)
  await migrateOnce(server.url(migratedTemplate))
}

async function migrateOnce(url: string): Promise<void> {
  const clock = createSystemClock()
  const db = await openDatabase({ url, clock, log: silentLog, randomness: randomBytes })
  await migrate(db, { version: testVersion, clock, log: silentLog, holder: 'tests' })
  await db.close()
}

declare module 'vitest' {
  interface ProvidedContext {
    postgresPort: number
    /** A file with the whole schema: copying it is faster than migrating an empty one. */
    sqliteTemplate: string
  }
}
