import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'

/**
 * What a server does that writes each login's session by itself: prepared single-row inserts,
 * through a pool. Arguments: the database's URL, the connections, the inserts in flight, and the
 * seconds of the warm-up and of the measurement. Prints inserts per second and per CPU second.
 */
const [url = '', ...numbers] = process.argv.slice(2)
const [connections = 10, inFlight = 64, warmUpSeconds = 1, seconds = 5] = numbers.map(Number)

/** The columns and indexes of the product's sessions. */
const table = `
  DROP TABLE IF EXISTS bench_sessions;
  CREATE TABLE bench_sessions (
    id text COLLATE "C" NOT NULL PRIMARY KEY, account_id text COLLATE "C" NOT NULL,
    access_digest bytea NOT NULL UNIQUE, refresh_digest bytea NOT NULL,
    created_at_unix_ms bigint NOT NULL, access_expires_at_unix_ms bigint NOT NULL,
    refresh_expires_at_unix_ms bigint NOT NULL, revoked_at_unix_ms bigint
  );
  CREATE INDEX ON bench_sessions (refresh_expires_at_unix_ms);
  CREATE INDEX ON bench_sessions (revoked_at_unix_ms) WHERE revoked_at_unix_ms IS NOT NULL;
  CREATE INDEX ON bench_sessions (account_id) WHERE revoked_at_unix_ms IS NULL;
`
const insert = `INSERT INTO bench_sessions (id, account_id, access_digest, refresh_digest,
  created_at_unix_ms, access_expires_at_unix_ms, refresh_expires_at_unix_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`

const pool = new pg.Pool({ connectionString: url, max: connections })
await pool.query(table)
const account = randomUUID()
let inserted = 0
let isOver = false
const writers = Array.from({ length: inFlight }, write)
await pause(warmUpSeconds)
const start = { inserted, ms: performance.now(), cpu: process.cpuUsage() }
await pause(seconds)
const { user, system } = process.cpuUsage(start.cpu)
const count = inserted - start.inserted
const perSecond = (count * 1000) / (performance.now() - start.ms)
isOver = true
await Promise.all(writers)
await pool.query('DROP TABLE bench_sessions')
await pool.end()
const perCpuSecond = (count * 1e6) / (user + system)
process.stdout.write(`ready per_second=${perSecond} per_cpu_second=${perCpuSecond}\n`)

async function write(): Promise<void> {
  while (!isOver) {
    const id = randomUUID()
    const now = Date.now()
    const values = [id, account, digest(`a${id}`), digest(`r${id}`), now, now + 3.6e6, now + 2.6e9]
    await pool.query({ name: 'insert', text: insert, values })
    inserted += 1
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function pause(length: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, length * 1000))
}
