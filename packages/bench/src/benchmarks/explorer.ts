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
import { startFilled } from '../processes/filled.ts'
import { median, percentile } from '../statistics.ts'

/** Pages of a large table by the explorer, and whether its slow queries hold up players. */
export const explorer: Benchmark = { name: 'explorer', run }

const many = 1_000_000
const rounds = 5
/** The explorer admits 60 requests of a key in a minute. */
const pagesOfKey = 55
const keysOfRound = 4
const intervalMs = 2
const slowTable = 'slow'

async function run(bench: Bench): Promise<Row[]> {
  const accounts = bench.count(many)
  return onBackends(bench, 'explored.db', async (backend) => {
    // The explorer has no database in memory to look at.
    if (backend.name === 'in memory') return []
    await using server = await startFilled(bench, backend, { seeds: { accounts } })
    const pages = await pagesOf(server, backend)
    await makeSlowTable(backend, bench.count(slowRows))
    return [
      {
        what: `p99 of a keyset page of 100 of ${accounts} accounts, ${backend.name}`,
        product: { value: median(pages), unit: 'ms' },
        bound: { of: 'value', is: 'at most', limit: 10 },
        notes: `median of the p99 of ${rounds} rounds: ${list(pages)} ms`,
      },
      await besideSlowQueries(bench, server, backend),
    ]
  })
}

type Question = { table: string; column: string; filters?: object[]; cursor?: string | undefined }

/** The p99 of each round, of pages that follow one another from the middle of the table. */
async function pagesOf({ port }: Child, backend: MeasuredBackend): Promise<number[]> {
  const keys = await createApiKeys(port, 'database:read', keysOfRound * (rounds + 1))
  const connection = await HttpConnection.open(port)
  const perRound: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const times: number[] = []
    for (const token of keys.slice(round * keysOfRound, (round + 1) * keysOfRound)) {
      let cursor: string | undefined
      for (let page = 0; page < pagesOfKey; page += 1) {
        const filters = [{ column: 'id', operator: 'gte', value: 'account-5' }]
        const question = { table: 'accounts', column: 'id', filters, cursor }
        const request = rowsRequest(backend, token, question)
        const startMs = performance.now()
        const { status, body } = await connection.fetch(request)
        times.push(performance.now() - startMs)
        const { rows, next } = body as { rows?: unknown[]; next?: string }
        if (status !== 200 || rows?.length !== 100) throw new Error(`a page was answered ${status}`)
        cursor = next
      }
    }
    // The first round warms up.
    if (round > 0) perRound.push(percentile(times, 0.99))
  }
  connection.close()
  return perRound
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
    const slow = queryWithoutEnd(port, rowsRequest(backend, token, slowQuestion))
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

function rowsRequest({ name }: MeasuredBackend, token: string, question: Question): Buffer {
  const { table, column, filters = [], cursor } = question
  const schema = name === 'PostgreSQL' ? 'public' : 'main'
  const sort = { column, direction: 'asc' }
  const body = { table: { schema, table }, sort, filters, limit: 100, cursor }
  return httpRequest('POST', '/console/v1/database/rows', { token, body })
}

/** So many rows that looking into each of them takes about the five seconds that a query may. */
const slowRows = 500_000
/** Found at the end of each note only, by comparing some letters at every place before. */
const needle = 'xxxxyxxxx'
const noteLetters = 400
/** Looks through every note eight times, and finds none that has all of it. */
const slowQuestion: Question = {
  table: slowTable,
  column: 'id',
  filters: [...Array.from({ length: 7 }, () => needle), 'z'].map((value) => {
    return { column: 'note', operator: 'contains', value }
  }),
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
