import type { Clock } from '../../kernel/clock.ts'
import type { Randomness } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { DatabaseConfig } from '../config.ts'
import { DatabaseUnavailable } from '../database.ts'
import { type OpenedDatabase, renderWords } from '../schema-access.ts'
import { type Columns, type Statement, statement } from '../statement.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { classified, isConnectionClass } from './errors.ts'
import { Health } from './health.ts'
import { MergedLookups } from './merged-lookups.ts'
import { Pool } from './pool.ts'
import { type Answer, type Prepared, PreparedStatements } from './prepared.ts'
import { createProbe } from './probe.ts'
import { ReadLanes } from './reads.ts'
import { connectAtStart } from './start.ts'
import { retrying, runTransaction } from './transactions.ts'
import type { WireValue } from './values.ts'

export type PostgresDeps = {
  url: string
  config: DatabaseConfig
  clock: Clock
  log: Log
  randomness: Randomness
}

/** Opens a database on a PostgreSQL server, once the server can be reached and is fit for use. */
export async function openPostgresDatabase(deps: PostgresDeps): Promise<OpenedDatabase> {
  const options: ConnectionOptions = {
    url: deps.url,
    clock: deps.clock,
    connectTimeoutMs: deps.config.connect_timeout_ms,
    statementTimeoutMs: deps.config.statement_timeout_ms,
  }
  await connectAtStart(options, { waitMs: deps.config.startup_wait_ms, log: deps.log })
  return serve(deps, options)
}

function serve({ config, clock, log, randomness }: PostgresDeps, options: ConnectionOptions) {
  const prepared = new PreparedStatements()
  const laneCount = laneCountOf(config.max_connections)
  const lanes = new ReadLanes(laneCount, () => Connection.open(options))
  const pool = new Pool({
    size: config.max_connections - laneCount,
    acquireTimeoutMs: config.acquire_timeout_ms,
    clock,
    open: (onLost) => Connection.open(options, onLost),
  })
  const health = new Health(() => {
    log.error('the database is down')
    pool.fail(new DatabaseUnavailable('the database is down'))
    lanes.fail()
  })
  const probe = createProbe({ options, clock })
  const retry = { clock, randomness, attempts: config.transaction_attempts, onGivenUp }
  let contentionTotal = 0
  let closed = false
  const watch = clock.every(1000, dropSilent)

  function onGivenUp(): void {
    contentionTotal += 1
  }

  /** A server that vanished without a word would otherwise hold its queries for minutes. */
  function dropSilent(): void {
    const limitMs = options.statementTimeoutMs + 1000
    for (const connection of [...pool.connections(), ...lanes.connections()]) {
      if (connection.silentMs() > limitMs) connection.destroy()
    }
  }

  function check(): void {
    if (closed) throw new DatabaseUnavailable('the database is closed')
    health.check()
  }

  function failed(error: unknown): unknown {
    if (!closed && isConnectionClass(error)) health.suspect()
    return classified(error)
  }

  async function lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await pool.acquire()
    try {
      return await work(connection)
    } finally {
      pool.release(connection)
    }
  }

  async function read(of: Prepared, values: WireValue[]): Promise<Answer> {
    check()
    try {
      if (laneCount === 0) return await lend((connection) => connection.query(of, values))
      const lane = lanes.pick()
      const connection = lane instanceof Connection ? lane : await lane
      return await connection.query(of, values)
    } catch (error) {
      throw failed(error)
    }
  }

  async function write(of: Prepared, values: WireValue[]): Promise<Answer> {
    check()
    try {
      return await retrying(retry, () => lend((connection) => connection.query(of, values)))
    } catch (error) {
      throw failed(error)
    }
  }

  function ask(of: Prepared, values: WireValue[]): Promise<Answer> {
    return of.onlyReads ? read(of, values) : write(of, values)
  }

  const merged = new MergedLookups(async (lookup, rows) => {
    const of = prepared.of(lookup)
    return of.rows(await read(of, of.encodeRows(rows)))
  })

  const database: OpenedDatabase = {
    backend: 'postgres',
    durable: true,
    state: () => health.state,
    stats: () => {
      return { in_use: pool.inUse, waiting: pool.waiting, contention_total: contentionTotal }
    },
    async all<P extends Columns, R extends Columns>(statement: Statement<P, R>, params: object) {
      const of = prepared.of<R>(statement)
      return of.rows(await ask(of, of.encode(params)))
    },
    async get<P extends Columns, R extends Columns>(statement: Statement<P, R>, params: object) {
      const of = prepared.of<R>(statement)
      return of.rows(await ask(of, of.encode(params)))[0]
    },
    async run(statement, params) {
      const of = prepared.of(statement)
      return (await ask(of, of.encode(params))).rowCount ?? 0
    },
    async each<P extends Columns, R extends Columns>(
      statement: Statement<P, R>,
      rows: readonly object[],
    ) {
      check()
      if (rows.length === 0) return []
      const of = prepared.of<R>(statement)
      return of.rows(await ask(of, of.encodeRows(rows)))
    },
    async find(lookup, params) {
      check()
      return merged.find(lookup, params) as never
    },
    async transaction(body, transactionOptions) {
      check()
      const run = { ...transactionOptions, prepared }
      try {
        return await retrying(retry, () => lend((on) => runTransaction(on, body, run)))
      } catch (error) {
        throw failed(error)
      }
    },
    async probe() {
      if (closed) return false
      const good = await probe.answers()
      if (closed) return false
      if (good && health.state !== 'up') log.info('the database answers again')
      health.probed(good)
      return good
    },
    async close() {
      if (closed) return
      closed = true
      watch.cancel()
      await Promise.all([probe.close(), lanes.close(), pool.close()])
    },
    schema: {
      render: (text) => renderWords(text, words),
      async hasTable(name) {
        return (await database.get(tableOfName, { name })) !== undefined
      },
      async transaction(body) {
        const connection = await Connection.open({ ...options, statementTimeoutMs: 0 })
        try {
          return await runTransaction(connection, body, { prepared })
        } catch (error) {
          throw classified(error)
        } finally {
          await connection.close()
        }
      },
      backup: undefined,
    },
  }
  return database
}

/** Reads share few connections; transactions, which occupy theirs, get the rest. */
function laneCountOf(connectionsMax: number): number {
  if (connectionsMax < 4) return 0
  return connectionsMax < 8 ? 1 : 2
}

const tableOfName = statement({
  name: 'schema.table-of-name',
  text: `SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = current_schema() AND table_name = :name`,
  params: { name: 'text' },
  row: { name: 'text' },
})

const words = {
  text: 'text COLLATE "C"',
  bigint: 'bigint',
  bytes: 'bytea',
  identity: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
  strict: '',
}
