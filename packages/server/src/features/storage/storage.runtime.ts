import { type JsonObject, storageValueBytesMax } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import type { CombinedResult } from '../../kernel/batching/combiner.ts'
import { atIndex, Failure, refuse } from '../../kernel/failure.ts'
import type { Done } from '../../kernel/mutation.ts'
import type { KnownIndexes } from './indexes/entries.ts'
import type { StorageFilters } from './indexes/filters.ts'
import { listWithValues } from './listing.store.ts'
import { cursorOf, positionOf } from './storage.cursor.ts'
import { defaultPermission } from './storage.service.ts'
import { type Place, storageStore } from './storage.store.ts'
import { applyAll, type Batch } from './writes/batch.ts'
import {
  type ActingUser,
  type Operation,
  type Outcome,
  storedValue,
  weightOf,
  writeOf,
} from './writes/operations.ts'
import type { StorageWriter } from './writes/writer.ts'

export type RuntimeDeps = {
  db: Database
  write: StorageWriter
  filters: StorageFilters
  indexes: KnownIndexes
}

/** Where an object is. Owner null is the system. */
export type ObjectAddress = { owner: string | null; collection: string; key: string }

/**
 * Who asks: a user, with the rights of one, or the runtime, whom no permission blocks. Nobody may
 * write for another user or for the system but the runtime.
 */
export type Asking = { as?: ActingUser }

export type ObjectWrite = ObjectAddress & {
  value: JsonObject
  /** Absent writes whatever is there, `''` only creates, any other must be the version stored. */
  version?: string | undefined
  read_permission?: number | undefined
  write_permission?: number | undefined
}

/** Without a version it removes whatever is there. */
export type ObjectRemoval = ObjectAddress & { remove: true; version?: string | undefined }

/** An object with its value as canonical JSON, which is parsed where it is needed. */
export type ReadObject = {
  user_id: string | null
  collection: string
  key: string
  version: string
  read_permission: number
  write_permission: number
  value_json: string
}

/** The objects of one owner in a collection whose keys begin with `prefix`. */
export type Listing = Omit<ObjectAddress, 'key'> & {
  prefix?: string | undefined
  after?: string | undefined
  limit: number
}

export type ObjectPage = { items: ReadObject[]; next: string | null }

/** The most bytes of all values of one batch. */
const batchBytesMax = 8 * storageValueBytesMax

/**
 * Stored objects for the game's scripts, whose arguments the script table has checked.
 *
 * @throws Failure `invalid_request` for a value that is no JSON, too deep or too large and for an
 * empty version of a removal, `conflict` when a version does not hold or a filter fails,
 * `forbidden` when a user may not write
 */
export function createStorageRuntime({ db, write, filters, indexes }: RuntimeDeps) {
  async function read(
    request: ObjectAddress,
    { as }: Asking = {},
  ): Promise<ReadObject | undefined> {
    const row = await storageStore.find(db, placeOf(request))
    if (row === undefined || !mayRead(row, as)) return undefined
    const { bytes: _, value, ...rest } = row
    return { ...rest, user_id: row.user_id || null, value_json: value }
  }

  /** Without a filter nothing is waited for, so what is asked first is done first. */
  const judged = (operations: readonly Operation[]) =>
    filters.serve() ? filters.judgeAll(operations, 'runtime') : operations

  /**
   * Checks changes and asks the filters of indexes about them.
   *
   * @throws Failure with the position of the first that is refused
   */
  async function prepare(
    requests: readonly (ObjectWrite | ObjectRemoval)[],
    { as }: Asking = {},
  ): Promise<readonly Operation[]> {
    const operations: Operation[] = []
    let bytes = 0
    for (const [index, request] of requests.entries()) {
      const operation = withIndex(index, () => operationOf(request, as))
      operations.push(operation)
      bytes += weightOf(operation)
      if (bytes > batchBytesMax) {
        throw refuse.invalid(`a batch has at most ${batchBytesMax} bytes of values`)
      }
    }
    return judged(operations)
  }

  async function writeAll(
    requests: readonly (ObjectWrite | ObjectRemoval)[],
    asking: Asking = {},
  ): Promise<readonly Outcome[]> {
    try {
      return await write(await prepare(requests, asking))
    } catch (error) {
      throw error instanceof Failure ? atIndex(error, error.index ?? 0) : error
    }
  }

  /** One change by itself: a refusal has no position. */
  async function change(request: ObjectWrite | ObjectRemoval, { as }: Asking): Promise<Outcome> {
    const operations = await judged([operationOf(request, as)])
    const [outcome] = await write(operations)
    if (outcome === undefined) throw new Error('an operation has an outcome')
    return outcome
  }

  return {
    /** The object, or undefined when there is none or the user may not read it. */
    read,
    /** Objects of one turn; those of one call share a round trip. */
    readAll: (requests: readonly ObjectAddress[], asking: Asking = {}) =>
      Promise.all(requests.map((request) => read(request, asking))),
    /** A page by key; of what the user may not read it leaves out rows. */
    list: (listing: Listing, { as }: Asking = {}) => list(db, listing, as),
    /** Answers the version of what is stored now. */
    async write(request: ObjectWrite, asking: Asking = {}): Promise<{ version: string }> {
      const outcome = await change(request, asking)
      if (!('version' in outcome)) throw new Error('a write has a version')
      return { version: outcome.version }
    },
    /** Answers whether something was removed. */
    async remove(request: Omit<ObjectRemoval, 'remove'>, asking: Asking = {}): Promise<boolean> {
      const outcome = await change({ ...request, remove: true }, asking)
      return 'removed' in outcome && outcome.removed
    },
    /** All of them or none, in their order; answers the outcome of each. */
    writeAll,
    prepare,
    /** Makes prepared changes in a transaction of another feature, each with its own verdict. */
    apply: async (tx: Transaction, operations: readonly Operation[]) =>
      onlyOutcomes(await applyAll(tx, operations.map(alone), indexes)),
  }
}

async function list(db: Database, listing: Listing, as: ActingUser): Promise<ObjectPage> {
  const { owner, collection, prefix = '', after, limit } = listing
  const name = ['objects', collection, owner === null ? 'system' : `of ${owner}`, prefix]
  const user_id = owner ?? ''
  const rows = await listWithValues(db, {
    collection,
    user_id,
    from_key: after === undefined ? prefix : behind(prefix, positionOf(name, after).key),
    below_key: prefix + aboveAllKeys,
    limit: limit + 1,
  })
  const cut = rows.findIndex(({ value }) => value === null)
  const end = cut < 0 ? limit : Math.min(cut, limit)
  const last = rows.length > end ? rows[end - 1] : undefined
  const shown = rows.slice(0, end).map((row): ReadObject => {
    const { value, ...head } = row
    return { ...head, user_id: owner, collection, value_json: value ?? '{}' }
  })
  return {
    items: shown.filter((row) => mayRead({ ...row, user_id }, as)),
    next: last === undefined ? null : cursorOf(name, { user_id, key: last.key }),
  }
}

/** No key has more than 128 bytes, so none is as large. */
const aboveAllKeys = '\u{10ffff}'.repeat(33)

/** Keys have no control characters, so no key lies between the one given and this one. */
function behind(prefix: string, key: string): string {
  const from = `${key}\u0001`
  return Buffer.compare(Buffer.from(from), Buffer.from(prefix)) < 0 ? prefix : from
}

function alone(operation: Operation): Batch {
  return { operations: [operation] }
}

function onlyOutcomes(results: CombinedResult<Done<readonly Outcome[]>>[]) {
  return results.map((result): CombinedResult<Outcome> => {
    if (!result.ok) return result
    const [value] = result.value.answer
    if (value === undefined) throw new Error('an operation has an outcome')
    return { ok: true, value }
  })
}

/** A refusal gets the position of its operation. */
function withIndex<T>(index: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof Failure ? atIndex(error, index) : error
  }
}

function operationOf(request: ObjectWrite | ObjectRemoval, as: ActingUser): Operation {
  return 'remove' in request ? removal(request, as) : writing(request, as)
}

function writing(request: ObjectWrite, as: ActingUser): Operation {
  const { value, version: expected, ...given } = request
  const { read_permission = defaultPermission, write_permission = defaultPermission } = given
  const permissions = { read_permission, write_permission }
  return writeOf({ place: placeOf(given), value: storedValue(value), ...permissions, expected }, as)
}

function removal({ version: expected, ...at }: ObjectRemoval, as: ActingUser): Operation {
  if (expected === '') throw refuse.invalid('version must not be empty')
  return { is: 'removal', place: placeOf(at), as, expected }
}

function mayRead(
  { user_id, read_permission }: { user_id: string; read_permission: number },
  as: ActingUser,
): boolean {
  if (as === undefined || read_permission === 2) return true
  return read_permission === 1 && user_id === as
}

function placeOf({ owner, collection, key }: ObjectAddress): Place {
  return { collection, user_id: owner ?? '', key }
}
