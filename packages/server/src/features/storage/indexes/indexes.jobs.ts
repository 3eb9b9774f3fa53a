import type { Database } from '../../../database/database.ts'
import type { Log } from '../../../kernel/log/log.ts'
import type { TaskRun } from '../../../kernel/tasks/supervisor-task.ts'
import { type Position, start } from '../storage.cursor.ts'
import { parsedValue } from '../storage.service.ts'
import { type StoredRow, storageStore } from '../storage.store.ts'
import { noVerdicts, type Operation, type Verdicts } from '../writes/operations.ts'
import type { StorageWriter } from '../writes/writer.ts'
import type { IndexFilter, StorageFilters } from './filters.ts'
import { type IndexRow, storageIndexStore } from './index.store.ts'
import {
  covers,
  fieldsText,
  type IndexDeclaration,
  indexOf,
  isSame,
  type StorageIndex,
} from './indexes.ts'

export type IndexJobsDeps = {
  db: Database
  log: Log
  /** The indexes of the configuration. */
  declared: readonly IndexDeclaration[]
  filters: StorageFilters
  write: StorageWriter
}

export const indexIntervalMs = 5000
/** Objects that are looked at in one go, and about how many bytes of their values. */
const objectsMax = 500
const bytesMax = 4_194_304

type Run = Pick<TaskRun, 'signal' | 'progress'>
type Weighed = Position & { bytes: number }

/**
 * Brings the indexes of the database in line with those that are declared: builds new ones, removes
 * others, and shows what was stored without a filter to the filter that serves now. Several nodes
 * may do it at once: every step leaves alone what has changed meanwhile, and may be done twice.
 */
export function createIndexJobs({ db, log, declared, filters, write }: IndexJobsDeps) {
  let isInForce = false
  let onWork = () => {}

  /** From its commit on, every write of every node keeps the new indexes too. */
  async function putInForce(): Promise<void> {
    await db.transaction(
      async (tx) => {
        await storageIndexStore.lockGuard(tx)
        const rows = await storageIndexStore.live(tx)
        const gone = rows.filter((row) => !declared.some((each) => isSame(row, each)))
        const added = declared.filter((each) => !rows.some((row) => isSame(row, each)))
        if (gone.length + added.length === 0) return
        await storageIndexStore.drop(
          tx,
          gone.map(({ id }) => id),
        )
        await storageIndexStore.declare(
          tx,
          added.map((each) => declarationOf(each, rows)),
        )
        await storageIndexStore.moveGuard(tx)
      },
      { isolation: 'read committed' },
    )
    isInForce = true
  }

  /** A filter is recorded: also of an index that changes, as its script asks for it by name. */
  function declarationOf(index: IndexDeclaration, rows: readonly IndexRow[]) {
    const { name, collection, key = null } = index
    const hadOne = rows.some((row) => row.name === name && row.filtered)
    const filtered = hadOne || filters.has(name)
    return { name, collection, key, fields: fieldsText(index), filtered }
  }

  /** Enters all that was stored before the index was declared. */
  async function build(row: IndexRow, { signal, progress }: Run): Promise<void> {
    const index = indexOf(row)
    const { id, collection } = index
    let after: Position = { user_id: row.cursor_user_id, key: row.cursor_key }
    while (!signal.aborted) {
      const page = await storageIndexStore.unbuilt(db, { collection, ...pageAfter(after) })
      const part = lightPart(page)
      const last = part.at(-1)
      if (last === undefined) {
        await storageIndexStore.complete(db, id)
        log.info('an index is built', { index: index.name })
        return
      }
      const covered = part.filter(({ key, user_id }) => covers(index, { collection, user_id, key }))
      const objects = await objectsAt(collection, covered)
      await write(objects.map((object) => reindexing(id, object, noVerdicts)))
      await storageIndexStore.moveCursor(db, id, last)
      after = last
      progress()
    }
  }

  /** Asks the filter about what was stored while none served. */
  async function judgePending(index: StorageIndex, { signal, progress }: Run): Promise<void> {
    const { id, name, collection } = index
    let after: Position = start
    let failed = 0
    while (!signal.aborted && filters.has(name)) {
      const page = { index_id: id, collection, ...pageAfter(after) }
      const part = lightPart(await storageIndexStore.pending(db, page))
      const last = part.at(-1)
      if (last === undefined) break
      const operations: Operation[] = []
      for (const object of await objectsAt(collection, part)) {
        try {
          const verdicts = await filters.judge(name, object, parsedValue(object))
          operations.push(reindexing(id, object, verdicts))
        } catch {
          failed += 1
        }
      }
      await write(operations)
      after = last
      progress()
    }
    if (failed > 0) log.warn('the filter of an index failed on stored objects', { name, failed })
  }

  async function objectsAt(collection: string, places: readonly Position[]): Promise<StoredRow[]> {
    return storageStore.all(
      db,
      places.map(({ user_id, key }) => ({ collection, user_id, key })),
    )
  }

  /** Removes what indexes left that are not declared any more. */
  async function purge({ signal, progress }: Run): Promise<void> {
    while (!signal.aborted) {
      const id = await storageIndexStore.dropped(db)
      if (id === undefined) return
      await db.transaction((tx) => storageIndexStore.purge(tx, id, objectsMax), {
        isolation: 'read committed',
      })
      progress()
    }
  }

  return {
    /** Whether the declared indexes are those of the database. */
    inForce: () => isInForce,
    /** Does all that there is to do. */
    async keep(run: Run): Promise<void> {
      if (!isInForce) await putInForce()
      // One that could not be recorded when its script was loaded is recorded now.
      for (const { name, filtered } of await storageIndexStore.live(db)) {
        if (!filtered && filters.has(name)) await record(name)
      }
      for (const row of await storageIndexStore.live(db)) {
        if (row.state === 'building') await build(row, run)
        if (row.filtered && filters.has(row.name)) await judgePending(indexOf(row), run)
      }
      await purge(run)
    },
    /** Calls `wake` when there may be something to do before the next interval. */
    wakeBy(wake: () => void): void {
      onWork = wake
    },
    /**
     * Lets `filter` decide from now on what the index takes, or none. That it has one is
     * recorded: where none serves, objects wait.
     *
     * @returns false when no index of this name is declared
     */
    async setFilter(name: string, filter: IndexFilter | undefined): Promise<boolean> {
      if (!declared.some((index) => index.name === name)) return false
      // Here first: what the script writes from now on is judged, whenever the database has it.
      filters.set(name, filter)
      if (filter !== undefined) await record(name)
      onWork()
      return true
    },
  }

  async function record(name: string): Promise<void> {
    if (!isInForce) await putInForce()
    await db.transaction(
      async (tx) => {
        await storageIndexStore.lockGuard(tx)
        const isNews = await storageIndexStore.recordFilter(tx, name)
        if (isNews) await storageIndexStore.moveGuard(tx)
      },
      { isolation: 'read committed' },
    )
  }
}

function pageAfter({ user_id, key }: Position) {
  return { after_user_id: user_id, after_key: key, limit: objectsMax }
}

/** As many of the first rows as may be read at once; one at least. */
function lightPart(rows: readonly Weighed[]): Weighed[] {
  let bytes = 0
  const end = rows.findIndex((row, at) => {
    bytes += row.bytes
    return at > 0 && bytes > bytesMax
  })
  return end < 0 ? [...rows] : rows.slice(0, end)
}

function reindexing(index: number, row: StoredRow, verdicts: Verdicts): Operation {
  const { collection, user_id, key, version } = row
  const place = { collection, user_id, key }
  return { is: 'reindexing', place, index, object: parsedValue(row), version, verdicts }
}
