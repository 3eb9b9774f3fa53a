import { join } from 'node:path'
import type { Bench } from '../benchmark.ts'
import { startPostgres } from './postgres.ts'

export type MeasuredBackend = {
  name: 'in memory' | 'SQLite file' | 'PostgreSQL'
  url: string
  /** The process behind the database, if it has one of its own. */
  pid?: number
}

/** Runs `measure` on each backend in turn, with an empty database, and collects the rows. */
export async function onBackends<T>(
  bench: Bench,
  file: string,
  measure: (backend: MeasuredBackend) => Promise<T[]>,
): Promise<T[]> {
  const path = join(bench.folder, file)
  const memory = await measure({ name: 'in memory', url: 'memory:' })
  const sqlite = await measure({ name: 'SQLite file', url: `sqlite:${path}` })
  await using postgres = await startPostgres(bench)
  const { pid } = postgres
  const rest = await measure({ name: 'PostgreSQL', url: postgres.fact('url'), pid })
  return [...memory, ...sqlite, ...rest]
}
