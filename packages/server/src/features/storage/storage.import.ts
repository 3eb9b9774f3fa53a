import {
  ImportedObject,
  type ImportMode,
  type JsonObject,
  type storageApi,
} from '@guildhall/contract'
import type { z } from 'zod'
import { type Database, type Transaction, UniqueViolation } from '../../database/database.ts'
import { inTheirOrder } from '../../database/writes/in-their-order.ts'
import { atIndex, Failure, refuse } from '../../kernel/failure.ts'
import { validate } from '../../kernel/json/validate.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import type { KnownIndexes } from './indexes/entries.ts'
import type { StorageFilters } from './indexes/filters.ts'
import { storageIndexStore } from './indexes/index.store.ts'
import { defaultPermission } from './storage.service.ts'
import { type HeadRow, storageStore } from './storage.store.ts'
import { applyAll, targetOf } from './writes/batch.ts'
import { isSame } from './writes/book.ts'
import { nameOf, storedValue, type Write, writeOf } from './writes/operations.ts'
import { againWhenAdded } from './writes/writer.ts'

export type ImportDeps = {
  db: Database
  mutate: Mutate<Transaction>
  filters: StorageFilters
  indexes: KnownIndexes
}

type ImportBody = z.output<(typeof storageApi)['import']['body']>
type Imported = z.input<(typeof storageApi)['import']['ok']>
/** What becomes of an object. */
type Fate = Exclude<keyof Imported, 'refused'>
type Judged = { write: Write; fate: Fate }

/**
 * Stores all objects of a request or none.
 *
 * @throws Failure of the first object that is refused; a dry run answers them instead
 */
export type StorageImport = (mutation: Mutation, body: ImportBody) => Promise<Imported>

export function createStorageImport({ db, mutate, filters, indexes }: ImportDeps): StorageImport {
  /** @throws UniqueViolation when somebody has added one of them since they were looked at */
  async function applyOrAgain(tx: Transaction, operations: readonly Write[]): Promise<void> {
    if (operations.length === 0) return
    const [result] = await applyAll(tx, [{ operations }], indexes)
    if (result?.ok !== true) throw new UniqueViolation('an object was added meanwhile')
  }

  return async (mutation, { objects, existing = 'refuse', dry_run: isDry = false }) => {
    const read = readAll(objects)
    if (isDry) {
      const heads = await storageStore.heads(db, placesOf(read.filter(isWrite)))
      return summaryOf(judge(read, heads, existing))
    }
    const writes = allOf(read)
    const judged = filters.serve() ? await filters.judgeAll(writes, 'operator') : writes
    const store = async (tx: Transaction) => {
      const places = placesOf(writes)
      // In the order of every other change: the guard of the indexes, then the objects.
      const [, heads] = await inTheirOrder([
        storageIndexStore.shareGuard(tx),
        storageStore.lock(tx, places),
      ])
      const fates = allOf(judge(judged.filter(isWrite), heads, existing))
      const changes = fates.filter(({ fate }) => fate === 'created' || fate === 'replaced')
      const operations = changes.map(({ write, fate }) =>
        fate === 'created' ? { ...write, expected: '' } : write,
      )
      await applyOrAgain(tx, operations)
      const audited = operations.map(({ place, value }) => {
        return { target: targetOf(place), details: `version=${value.version}` }
      })
      return { answer: summaryOf(fates), audited }
    }
    return againWhenAdded(() => mutate(mutation, store, { isolation: 'read committed' }))
  }
}

/** The writes that the objects ask for; a place stands in an import once. */
function readAll(objects: readonly JsonObject[]): (Write | Failure)[] {
  const seen = new Set<string>()
  return objects.map((object) => {
    try {
      const write = read(object)
      const name = nameOf(write.place)
      if (seen.has(name)) throw refuse.invalid('the object stands in the import twice')
      seen.add(name)
      return write
    } catch (error) {
      if (error instanceof Failure) return error
      throw error
    }
  })
}

function read(object: JsonObject): Write {
  const row = validate(ImportedObject(), object, 'the object')
  const { collection, user_id = '', key, version } = row
  const { read_permission = defaultPermission, write_permission = defaultPermission } = row
  const value = storedValue(row.value)
  if (version !== undefined && version !== value.version) {
    throw refuse.invalid('version must be that of the value, or absent')
  }
  const place = { collection, user_id, key }
  return writeOf({ place, value, read_permission, write_permission, expected: undefined })
}

function judge(
  read: readonly (Write | Failure)[],
  heads: readonly HeadRow[],
  existing: ImportMode,
): (Judged | Failure)[] {
  const byPlace = new Map(heads.map((head) => [nameOf(head), head]))
  return read.map((write) => {
    if (write instanceof Failure) return write
    const fate = fateOf(write, byPlace.get(nameOf(write.place)), existing)
    return fate instanceof Failure ? fate : { write, fate }
  })
}

function fateOf(write: Write, head: HeadRow | undefined, existing: ImportMode): Fate | Failure {
  if (head === undefined) return 'created'
  if (isSame(head, write)) return 'unchanged'
  if (existing === 'replace') return 'replaced'
  return existing === 'keep' ? 'kept' : refuse.conflict('the object exists')
}

function summaryOf(judged: readonly (Judged | Failure)[]): Imported {
  const answer: Imported = { created: 0, replaced: 0, unchanged: 0, kept: 0, refused: [] }
  for (const [index, each] of judged.entries()) {
    if (each instanceof Failure) {
      answer.refused.push({ index, code: each.code, message: each.text ?? each.message })
    } else {
      answer[each.fate] += 1
    }
  }
  return answer
}

/** @throws Failure of the first that is refused, which says where it stands */
function allOf<T>(items: readonly (T | Failure)[]): T[] {
  return items.map((item, index) => {
    if (!(item instanceof Failure)) return item
    throw atIndex(refusalAt(item, index), index)
  })
}

function refusalAt({ code, text = 'is refused' }: Failure, index: number): Failure {
  const words = `objects[${index}]: ${text}`
  return code === 'conflict' ? refuse.conflict(words) : refuse.invalid(words)
}

function placesOf(writes: readonly Write[]) {
  return writes.map(({ place }) => place)
}

function isWrite(operation: object): operation is Write {
  return 'is' in operation && operation.is === 'write'
}
