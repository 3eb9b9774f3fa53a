import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { registerDevice } from '../load/accounts.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { runHttpLoad } from '../load/http-load.ts'
import { createApiKeys } from '../load/operator.ts'
import { pacedLatencies } from '../load/paced-reads.ts'
import { type MeasuredBackend, onBackends } from '../processes/backends.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { median, percentile } from '../statistics.ts'

/** Whether slow queries of the explorer hold up players. */
export const explorer: Benchmark = { name: 'explorer', run }

const rounds = 5
const intervalMs = 2
const slowTable = 'slow'

async function run(bench: Bench): Promise<Row[]> {
  return onBackends(bench, 'explored.db', async (backend) => {
    // The explorer has no database in memory to look at.
    if (backend.name === 'in memory') return []
    await using server = await startGuildhall(bench, {
      keys: { 'database.url': backend.url },
      on: 'both',
    })
    await makeSlowTable(backend, bench.count(slowRows))
    return [await besideSlowQueries(bench, server, backend)]
  })
}

/** Reads of one account at a steady pace, without the explorer and while it always has a query. */
async function besideSlowQueries(
  bench: Bench,
  server: Child,
  backend: MeasuredBackend,
): Promise<Row> {
  const { port } = server
  const request = httpRequest('GET', '/v1/account', { token: await registerDevice(port) })
  // The paced reads alone are too few for the compiler of the node.
  const warmUp = { connections: 16, seconds: bench.seconds(2) }
  await runHttpLoad({ ...warmUp, server, request: () => request, status: 200 })
  const pace = { intervalMs, seconds: bench.seconds(4) }
  const keys = await createApiKeys(port, 'database:read', rounds + 1)
  const calm: number[] = []
  const busy: number[] = []
  const queries: number[] = []
  for (const token of keys) {
    calm.push(percentile(await pacedLatencies(port, request, pace), 0.99))
    const slow = queryWithoutEnd(port, slowRequest(backend, token))
    busy.push(percentile(await pacedLatencies(port, request, pace), 0.99))
    queries.push(...(await slow.end()))
  }
  const [without, beside] = [calm.slice(1), busy.slice(1)]
  return {
    what: `p99 of GET /v1/account beside slow queries of the explorer, ${backend.name}`,
    product: { value: median(beside), unit: 'ms' },
    baseline: { name: 'without', value: median(without), unit: 'ms' },
    // Of the rounds, because the machine changes between them.
    ratio: median(beside.map((value, round) => value / (without[round] ?? Number.NaN))),
    bound: { of: 'ratio', is: 'at most', limit: 2 },
    notes:
      `${list(without)} and ${list(beside)} ms, ${1000 / intervalMs}/s; ` +
      `${queries.length} queries, the median ${(median(queries) / 1000).toFixed(1)} s`,
  }
}

/** Sends a query again as soon as it is answered. */
function queryWithoutEnd(port: number, request: Buffer) {
  const times: number[] = []
  let isOver = false
  const asking = (async () => {
    const connection = await HttpConnection.open(port)
    while (!isOver) {
      const startMs = performance.now()
      const { status } = await connection.fetch(request)
      if (status !== 200 && status !== 504) throw new Error(`a query was answered ${status}`)
      times.push(performance.now() - startMs)
    }
    connection.close()
  })()
  return {
    async end(): Promise<number[]> {
      isOver = true
      await asking
      return times
    },
  }
}

/** So many rows that looking into each of them takes about the five seconds that a query may. */
const slowRows = 500_000
/** Found at the end of each note only, by comparing some letters at every place before. */
const needle = 'xxxxyxxxx'
const noteLetters = 400
/** Looks through every note eight times, and finds none that has all of it. */
function slowRequest({ name }: MeasuredBackend, token: string): Buffer {
  const schema = name === 'PostgreSQL' ? 'public' : 'main'
  const filters = [...Array.from({ length: 7 }, () => needle), 'z'].map((value) => {
    return { column: 'note', operator: 'contains', value }
  })
  const table = { schema, table: slowTable }
  const body = { table, sort: { column: 'id', direction: 'asc' }, filters, limit: 100 }
  return httpRequest('POST', '/console/v1/database/rows', { token, body })
}

/** A table that an operator made beside those of the game. */
async function makeSlowTable(backend: MeasuredBackend, rows: number): Promise<void> {
  const create = `CREATE TABLE ${slowTable} (id bigint NOT NULL PRIMARY KEY, note text NOT NULL)`
  if (backend.name === 'PostgreSQL') {
    const client = new pg.Client({ connectionString: backend.url })
    await client.connect()
    await client.query(create)
    await client.query(`INSERT INTO ${slowTable}
      SELECT i, repeat('x', ${noteLetters}) || '${needle}' FROM generate_series(1, ${rows}) AS i`)
    await client.query(`VACUUM ANALYZE ${slowTable}`)
    await client.end()
    return
  }
  const database = new DatabaseSync(backend.url.replace(/^sqlite:/, ''), { timeout: 10_000 })
  database.exec(create)
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO ${slowTable} SELECT i, printf('%.${noteLetters}c', 'x') || '${needle}' FROM n`)
  database.close()
}

function list(values: readonly number[]): string {
  return values.map((value) => value.toFixed(2)).join(', ')
}
