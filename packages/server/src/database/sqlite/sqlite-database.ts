import { atEndOfTurn, type Clock } from '../../kernel/clock.ts'
import { type Database, DatabaseUnavailable } from '../database.ts'
import { type OpenedDatabase, renderWords } from '../migrations/schema-access.ts'
import { MergedLookups } from '../reads/merged-lookups.ts'
import { statement } from '../statement.ts'
import { createPlainCommits } from './commits/commits.ts'
import { SqliteConnection } from './connection.ts'
import { classified, resultCode } from './errors.ts'
import { createFileExplorer } from './explorer.ts'
import { backUpBeforeMigration } from './file/backup.ts'
import { lockFile } from './file/file-lock.ts'
import { resolvedPath } from './file/file-store.ts'
import { ServedFile, type ServedFileDeps } from './file/served-file.ts'
import { LookupCache } from './lookup-cache.ts'
import { LongReads } from './reads/long-reads.ts'
import { Writer } from './writer.ts'

/** What the queries run on; undefined while the file cannot be used. */
type Live = {
  readonly reader: SqliteConnection
  readonly writer: Writer
  /** Absent where another process may write. */
  readonly cache?: LookupCache
  readonly longReads: LongReads
}

/** A private database inside the process, gone at its end. */
export function openMemoryDatabase({ clock }: { clock: Clock }): OpenedDatabase {
  const connection = new SqliteConnection(':memory:', { nowUnixMs: clock.nowUnixMs })
  connection.exec(memoryPragmas)
  const live = oneConnection(connection)
  const cache = new LookupCache(connection, live.writer)
  return { ...onOneConnection({ ...live, cache }), backend: 'in-memory', durable: false }
}

/**
 * Pages twice as large as a file's: after a commit that balanced a tree SQLite walks over all pages
 * in memory, which took a fifth of the time of submissions to a board of a million records.
 */
const memoryPragmas = 'PRAGMA page_size = 8192; PRAGMA foreign_keys = ON'

/** Looks into a file that another process may be serving; every transaction sees one state. */
export function openFileToRead(path: string, { clock }: { clock: Clock }): OpenedDatabase {
  try {
    const options = { readOnly: true, nowUnixMs: clock.nowUnixMs }
    const connection = new SqliteConnection(path, options)
    return { ...onOneConnection(oneConnection(connection)), backend: 'sqlite', durable: true }
  } catch (error) {
    throw classified(error)
  }
}

function oneConnection(connection: SqliteConnection): Live {
  const writer = new Writer(connection, createPlainCommits(connection))
  return { reader: connection, writer, longReads: LongReads.onConnectionOf(writer) }
}

function onOneConnection(opened: Live): Omit<OpenedDatabase, 'backend' | 'durable'> {
  let live: Live | undefined = opened
  return {
    ...queriesOn(() => live, { sharesConnection: true, mayRecall: () => true }),
    explorer: undefined,
    schema: schemaAccess(() => live, undefined),
    isEngineError,
    state: () => (live ? 'up' : 'down'),
    stats: noStats,
    probe: async () => live !== undefined,
    async close() {
      if (!live) return
      live = undefined
      await opened.longReads.close()
      await opened.writer.drained()
      opened.reader.close()
    },
  }
}

/** A durable database in one file, owned by this process until it is closed. */
export async function openFileDatabase(
  path: string,
  deps: Omit<ServedFileDeps, 'path' | 'configuredPath'>,
): Promise<OpenedDatabase> {
  try {
    const resolved = resolvedPath(path)
    using opening = new DisposableStack()
    const lock = opening.adopt(lockFile(resolved), (each) => each.release())
    const file = await ServedFile.open({ ...deps, path: resolved, configuredPath: path })
    opening.move()
    const explorer = createFileExplorer(resolved, deps.clock)
    return {
      ...queriesOn(() => file.live, {
        sharesConnection: false,
        // While it is down nothing is accepted that was not read.
        mayRecall: () => file.state === 'up',
      }),
      backend: 'sqlite',
      durable: true,
      explorer,
      schema: schemaAccess(
        () => file.live,
        (version) => backUpBeforeMigration(resolved, version),
      ),
      isEngineError,
      state: () => file.state,
      stats: noStats,
      probe: () => file.probe(),
      async close() {
        await explorer.close()
        // What was looked up before is answered.
        await new Promise<void>((resolve) => atEndOfTurn(resolve))
        await file.close()
        lock.release()
      },
    }
  } catch (error) {
    throw classified(error)
  }
}

function isEngineError(error: unknown): boolean {
  return resultCode(error) !== undefined
}

const noStats = () => ({ in_use: 0, waiting: 0, contention_total: 0 })

type QueryMethods = Pick<
  Database,
  'all' | 'get' | 'run' | 'each' | 'find' | 'findAll' | 'transaction' | 'longRead'
>

/**
 * Reads run at once on the reader, which sees committed states only; lookups when the turn ends,
 * because a file is locked for each read, and for all those of a turn only once. When the reader is
 * the writer's own connection (in memory), nothing is locked, and a read that comes while a
 * transaction is open waits for its end.
 */
function queriesOn(
  current: () => Live | undefined,
  { sharesConnection, mayRecall }: { sharesConnection: boolean; mayRecall: () => boolean },
): QueryMethods {
  function use(): Live {
    return current() ?? unavailable()
  }

  async function onReader<T>(work: (connection: SqliteConnection) => T): Promise<T> {
    const live = use()
    if (sharesConnection && live.writer.busy) return live.writer.do('statement', false, work)
    try {
      return work(live.reader)
    } catch (error) {
      throw classified(error)
    }
  }

  const merged = new MergedLookups((lookup, rows) =>
    onReader((reader) => {
      const found = reader.each(lookup, rows)
      for (const row of found) use().cache?.keep(lookup, row)
      return found
    }),
  )

  return {
    async all(statement, params) {
      const live = use()
      if (statement.long) return live.longReads.read((state) => state.all(statement, params))
      if (live.reader.onlyReads(statement)) return onReader((on) => on.all(statement, params))
      return live.writer.do('statement', true, (on) => on.all(statement, params))
    },
    async get(statement, params) {
      const live = use()
      if (statement.long) return live.longReads.read((state) => state.get(statement, params))
      if (live.reader.onlyReads(statement)) return onReader((on) => on.get(statement, params))
      return live.writer.do('statement', true, (on) => on.get(statement, params))
    },
    async run(statement, params) {
      return use().writer.do('statement', true, (on) => on.run(statement, params))
    },
    async each(statement, rows) {
      const live = use()
      if (rows.length === 0) return []
      if (live.reader.onlyReads(statement)) return onReader((on) => on.each(statement, rows))
      const unit = rows.length === 1 ? 'statement' : 'statements'
      const work = (on: SqliteConnection) => on.each(statement, rows)
      return live.writer.do(unit, true, work)
    },
    // The hottest read of all, a token's, makes no promise.
    find(lookup, params) {
      const live = current()
      const known = mayRecall() ? live?.cache?.recall(lookup, params) : undefined
      if (known !== undefined) return known
      if (live === undefined || (sharesConnection && live.writer.busy)) {
        return onReader((on) => on.get(lookup, params))
      }
      if (!sharesConnection) return merged.find(lookup, params).then(([row]) => row) as never
      try {
        const row = live.reader.get(lookup, params)
        if (row !== undefined) live.cache?.keep(lookup, row)
        return Promise.resolve(row)
      } catch (error) {
        return Promise.reject(classified(error))
      }
    },
    async findAll(lookup, params) {
      use()
      if (!sharesConnection) return merged.find(lookup, params) as never
      return onReader((on) => on.all(lookup, params))
    },
    async transaction(body, options) {
      return use().writer.transaction(body, options?.durable)
    },
    async longRead(body) {
      return use().longReads.read(body)
    },
  }
}

function unavailable(): never {
  throw new DatabaseUnavailable('the database is closed')
}

function schemaAccess(
  current: () => Live | undefined,
  backup: OpenedDatabase['schema']['backup'],
): OpenedDatabase['schema'] {
  return {
    render: (text) => renderWords(text, words),
    transaction: async (body) => (current() ?? unavailable()).writer.transaction(body),
    async hasTable(name) {
      return (current() ?? unavailable()).reader.get(tableOfName, { name }) !== undefined
    },
    backup,
  }
}

const tableOfName = statement({
  name: 'schema.table-of-name',
  text: `SELECT name FROM sqlite_schema WHERE type = 'table' AND name = :name`,
  params: { name: 'text' },
  row: { name: 'text' },
})

const words = {
  text: 'TEXT',
  bigint: 'INTEGER',
  bytes: 'BLOB',
  identity: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  counter: 'INTEGER PRIMARY KEY',
  strict: 'STRICT',
  clustered: 'STRICT, WITHOUT ROWID',
}
