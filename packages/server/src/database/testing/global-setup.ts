import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { createSystemClock } from '../../kernel/clock.ts'
import { migrate } from '../migrations/migrate.ts'
import { openDatabase } from '../open.ts'
import { onServer, type PostgresServer, startPostgresServer } from './postgres-server.ts'
import { silentLog } from './silent-log.ts'
import { migratedTemplate, testVersion } from './template.ts'

/** Runs once around all test files: one PostgreSQL server serves them all. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgresServer()
  try {
    await createTemplate(server)
  } catch (error) {
    await server.dispose()
    throw error
  }
  project.provide('postgresPort', server.port)
  return server.dispose
}

async function createTemplate(server: PostgresServer): Promise<void> {
  await onServer(server.url('postgres'), `CREATE DATABASE ${migratedTemplate} TEMPLATE template0`)
  const clock = createSystemClock()
  const url = server.url(migratedTemplate)
  const db = await openDatabase({ url, clock, log: silentLog, randomness: randomBytes })
  await migrate(db, { version: testVersion, clock, log: silentLog, holder: 'tests' })
  await db.close()
}

declare module 'vitest' {
  interface ProvidedContext {
    postgresPort: number
  }
}
