import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'

/**
 * What a server does that stores each object by itself: bare prepared upserts and selects of one
 * row of 1 KiB, without versions, permissions or checks. A file is written with a commit and a
 * flush each; PostgreSQL is reached through a pool. Arguments: the database's URL, the objects, the
 * connections, the calls in flight, and the seconds of the warm-up and of each measurement. Prints
 * writes and reads per second.
 */
const [url = '', ...numbers] = process.argv.slice(2)
const [objects = 10_000, connections = 10, inFlight = 64, warmUpSeconds = 1, seconds = 5] =
  numbers.map(Number)

type Engine = {
  write(key: string, value: string): unknown
  read(key: string): unknown
  close(): unknown
}

const filler = 'x'.repeat(1000)
const engine = url.startsWith('postgres') ? await openPostgres() : openSqlite()
let written = 0
const writes = await measure((key) => {
  written += 1
  return engine.write(key, `{"revision":${written},"f":"${filler}"}`)
})
const reads = await measure((key) => engine.read(key))
await engine.close()
process.stdout.write(`ready writes=${writes} reads=${reads}\n`)

async function measure(call: (key: string) => unknown): Promise<number> {
  let done = 0
  let isOver = false
  const callers = Array.from({ length: inFlight }, async (_, at) => {
    for (let next = at; !isOver; next += inFlight) {
      await call(`slot-${(next * 7919) % objects}`)
      done += 1
      await turn()
    }
  })
  await pause(warmUpSeconds * 1000)
  const start = { done, ms: performance.now() }
  await pause(seconds * 1000)
  const perSecond = ((done - start.done) * 1000) / (performance.now() - start.ms)
  isOver = true
  await Promise.all(callers)
  return perSecond
}

function openSqlite(): Engine {
  const db = new DatabaseSync(url.replace(/^sqlite:/, '').replace(/^memory:$/, ':memory:'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE bench_objects (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT')
  const upsert = db.prepare(
    `INSERT INTO bench_objects (key, value) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  )
  const select = db.prepare('SELECT value FROM bench_objects WHERE key = ?')
  return {
    write: (key, value) => upsert.run(key, value),
    read: (key) => select.get(key),
    close: () => db.close(),
  }
}

async function openPostgres(): Promise<Engine> {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  await pool.query(`DROP TABLE IF EXISTS bench_objects;
    CREATE TABLE bench_objects (key text COLLATE "C" NOT NULL PRIMARY KEY, value text NOT NULL)`)
  const upsert = {
    name: 'upsert',
    text: `INSERT INTO bench_objects (key, value) VALUES ($1, $2)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  }
  const select = { name: 'select', text: 'SELECT value FROM bench_objects WHERE key = $1' }
  return {
    write: (key, value) => pool.query({ ...upsert, values: [key, value] }),
    read: (key) => pool.query({ ...select, values: [key] }),
    async close() {
      await pool.query('DROP TABLE bench_objects')
      await pool.end()
    },
  }
}
