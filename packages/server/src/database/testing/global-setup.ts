import type { TestProject } from 'vitest/node'
import { startPostgresServer } from './postgres-server.ts'

/** Runs once around all test files: one PostgreSQL server serves them all. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgresServer()
  project.provide('postgresPort', server.port)
  return server.dispose
}

declare module 'vitest' {
  interface ProvidedContext {
    postgresPort: number
  }
}
