import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { onServer } from '../../database/testing/postgres-server.ts'
import type { Clock } from '../../kernel/clock.ts'

/** Where one deployment keeps its data; empty at first. */
export type CrashStore = {
  url: string
  /** A folder of its own, for the node's files. */
  folder: string
  /** A node that was killed may leave the end of its last transactions to the database's server. */
  settled(): Promise<void>
  /** The id of the next node on this store. */
  nextNodeId(): string
  dispose(): Promise<void>
}

export type CrashBackend = {
  name: 'sqlite' | 'postgres'
  /** A store lives through so many kills; the next one begins empty. */
  killsPerStore: number
  open(): Promise<CrashStore>
}

export const sqliteCrashes: CrashBackend = {
  name: 'sqlite',
  killsPerStore: 10,
  async open() {
    const folder = newFolder()
    return {
      url: `sqlite:${join(folder, 'guildhall.db')}`,
      folder,
      settled: async () => {},
      nextNodeId: () => 'crash',
      dispose: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}

const settlePauseMs = 5

type PostgresServer = {
  url(database: string): string
  clock: Clock
  /** One in so many nodes comes back under the id of the one that was killed. */
  sameIdEvery: number
}

/** Databases of one server. */
export function postgresCrashes({ url: serverUrl, clock, sameIdEvery }: PostgresServer) {
  let stores = 0
  let nodes = 0
  const backend: CrashBackend = {
    name: 'postgres',
    // Leases that outlive their holders make the end of a store take some seconds.
    killsPerStore: 20,
    async open() {
      const folder = newFolder()
      stores += 1
      const name = `crash_${stores}`
      await onServer(serverUrl('postgres'), `CREATE DATABASE ${name} TEMPLATE template0`)
      return {
        url: serverUrl(name),
        folder,
        async settled() {
          while ((await busySessions(serverUrl('postgres'), name)) > 0) {
            await clock.sleep(settlePauseMs)
          }
        },
        // The claim on an id outlives its holder by some seconds, so most nodes take another one.
        nextNodeId() {
          nodes += 1
          return `crash-${nodes - (nodes % sameIdEvery === 0 ? 1 : 0)}`
        },
        async dispose() {
          await onServer(serverUrl('postgres'), `DROP DATABASE ${name} WITH (FORCE)`)
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
  return backend
}

/** Sessions of a database that are within a transaction or a statement. */
async function busySessions(url: string, database: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ busy: string }>(
      `SELECT count(*) AS busy FROM pg_stat_activity WHERE datname = $1 AND state <> 'idle'`,
      [database],
    )
    return Number(rows[0]?.busy ?? 0)
  } finally {
    await client.end()
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'guildhall-crash-'))
}
