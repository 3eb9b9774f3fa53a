import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/**
 * What a server does that writes each login's session by itself: prepared single-row inserts,
 * through a pool. Arguments: the database's URL, the connections, the inserts in flight, and the
 * seconds of a round's warm-up and of its measurement. Every HTTP request plays one round, in this
 * process and on this table, and is answered with its inserts per second.
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
const server = createServer((_, response) => {
  void round().then((perSecond) => response.end(JSON.stringify({ perSecond })))
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`ready http=http://127.0.0.1:${port}\n`)
})

async function round(): Promise<number> {
  let inserted = 0
  let isOver = false
  const writers = Array.from({ length: inFlight }, async () => {
    while (!isOver) {
      await insertOne()
      inserted += 1
    }
  })
  await pause(warmUpSeconds * 1000)
  const start = { inserted, ms: performance.now() }
  await pause(seconds * 1000)
  const perSecond = ((inserted - start.inserted) * 1000) / (performance.now() - start.ms)
  isOver = true
  await Promise.all(writers)
  return perSecond
}

async function insertOne(): Promise<void> {
  const id = randomUUID()
  const now = Date.now()
  const values = [id, account, digest(`a${id}`), digest(`r${id}`), now, now + 3.6e6, now + 2.6e9]
  await pool.query({ name: 'insert', text: insert, values })
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
