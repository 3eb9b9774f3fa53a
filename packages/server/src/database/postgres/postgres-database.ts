import type { Database } from '../database.ts'
import {
  type OpenedDatabase,
  renderWords,
  type SchemaAccess,
  type SchemaTransaction,
} from '../migrations/schema-access.ts'
import { MergedLookups } from '../reads/merged-lookups.ts'
import {
  type BatchStatement,
  type Columns,
  type Row,
  type Statement,
  statement,
} from '../statement.ts'
import { Connection, type ConnectionOptions } from './connections/connection.ts'
import { connectAtStart } from './connections/start.ts'
import { classified, sqlState } from './errors.ts'
import { Executor, type ExecutorDeps } from './executor.ts'
import { createPostgresExplorer } from './explorer.ts'
import { PreparedStatements } from './prepared.ts'
import { type RunOptions, runTransaction } from './transactions.ts'

type PostgresDeps = ExecutorDeps & {
  url: string
  /** For a command that looks into the store: its statements may take their time. */
  onlyReads?: boolean
}

/** Opens a database on a PostgreSQL server, once the server can be reached and is fit for use. */
export async function openPostgresDatabase(deps: PostgresDeps): Promise<OpenedDatabase> {
  const options: ConnectionOptions = {
    url: deps.url,
    clock: deps.clock,
    connectTimeoutMs: deps.config.connect_timeout_ms,
    statementTimeoutMs: deps.onlyReads ? 0 : deps.config.statement_timeout_ms,
  }
  await connectAtStart(options, { waitMs: deps.config.startup_wait_ms, log: deps.log })
  const prepared = new PreparedStatements()
  const executor = new Executor(deps, options)
  const queries = queriesOn(executor, prepared)
  const explorer = createPostgresExplorer(options, () => executor.check())
  executor.whenDown(() => explorer.fail())
  return {
    ...queries,
    backend: 'postgres',
    durable: true,
    explorer,
    state: () => executor.state,
    stats: () => executor.stats,
    probe: () => executor.probe(),
    async close() {
      await explorer.close()
      await executor.close()
    },
    schema: schemaAccess({ options, prepared, queries }),
    isEngineError: (error) => sqlState(error) !== undefined,
  }
}

type QueryMethods = Pick<
  Database,
  'all' | 'get' | 'run' | 'each' | 'find' | 'findAll' | 'transaction' | 'longRead'
>

function queriesOn(executor: Executor, prepared: PreparedStatements): QueryMethods {
  const merged = new MergedLookups(async (lookup, rows) => {
    const call = prepared.callWith(lookup, rows)
    return call.prepared.rows(await executor.run(call))
  })

  const longRead: Database['longRead'] = (body) => {
    const how = { snapshot: true, idempotent: true, inParts: true, prepared }
    return executor.lendForLong((on) => runTransaction(on, body, how))
  }

  async function all<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R>[]> {
    if (statement.long) return longRead((state) => state.all(statement, params))
    const call = prepared.call<R>(statement, params)
    return call.prepared.rows(await executor.run(call))
  }

  return {
    all,
    async get(statement, params) {
      if (statement.long) return longRead((state) => state.get(statement, params))
      return (await all(statement, params))[0]
    },
    async run(statement, params) {
      return (await executor.run(prepared.call(statement, params))).rowCount ?? 0
    },
    async each<P extends Columns, R extends Columns>(
      statement: BatchStatement<P, R>,
      rows: readonly Row<P>[],
    ) {
      executor.check()
      if (rows.length === 0) return []
      const call = prepared.callWith<R>(statement, rows)
      return call.prepared.rows(await executor.run(call))
    },
    // Other nodes may write at any moment, so nothing is at hand.
    async find(lookup, params) {
      executor.check()
      return (await merged.find(lookup, params))[0] as never
    },
    async findAll(lookup, params) {
      executor.check()
      return merged.find(lookup, params) as never
    },
    transaction(body, options) {
      return executor.lend((on) => runTransaction(on, body, { ...options, prepared }))
    },
    longRead,
  }
}

type SchemaDeps = {
  options: ConnectionOptions
  prepared: PreparedStatements
  queries: QueryMethods
}

function schemaAccess({ options, prepared, queries }: SchemaDeps): SchemaAccess {
  return {
    render: (text) => renderWords(text, words),
    async hasTable(name) {
      return (await queries.get(tableOfName, { name })) !== undefined
    },
    transaction: (body) => onOwnConnection(options, body, { prepared }),
    backup: undefined,
  }
}

/** Runs a transaction whose statements may take their time. */
async function onOwnConnection<T>(
  options: ConnectionOptions,
  body: (tx: SchemaTransaction) => Promise<T>,
  run: RunOptions,
): Promise<T> {
  const connection = await Connection.open({ ...options, statementTimeoutMs: 0 })
  try {
    return await runTransaction(connection, body, run)
  } catch (error) {
    throw classified(error)
  } finally {
    await connection.close()
  }
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
  counter: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
  strict: '',
  clustered: '',
}
