import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Bench } from '../benchmark.ts'
import { type Child, startChild } from './child.ts'

/**
 * The PostgreSQL server of the product's tests, one of its own; `fact('url')` reaches it. Unlike
 * in tests a commit is durable, as everywhere where it counts, and a database of a million rows
 * finds room in memory, as its manual advises.
 */
export function startPostgres(bench: Bench): Promise<Child> {
  return startChild({
    args: [program, ...settings],
    cwd: bench.folder,
    cores: bench.cores,
    on: 'both',
  })
}

const settings = ['fsync=on', 'full_page_writes=on', 'shared_buffers=1GB']
/** A program of its own, because the benchmarks use the product from outside only. */
const program = fileURLToPath(new URL('../../../../scripts/testing/postgres.ts', import.meta.url))

/** Makes another database of the server, empty or a copy of one; answers its URL. */
export async function createDatabase(
  server: Child,
  name: string,
  template = 'template1',
): Promise<string> {
  const url = new URL(server.fact('url'))
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  } finally {
    await client.end()
  }
  url.pathname = `/${name}`
  return url.href
}
