import {
  type JsonObject,
  storageApi,
  storageName,
  storageOwner,
  storageValueBytesMax,
} from '@guildhall/contract'
import { z } from 'zod'
import type { Database } from '../../database/database.ts'
import { refuse } from '../../kernel/failure.ts'
import { validate } from '../../kernel/json/validate.ts'
import type { StorageFilters } from './storage.filters.ts'
import {
  type ActingUser,
  type Operation,
  type Outcome,
  storedValue,
  weightOf,
  writeOf,
} from './storage.operations.ts'
import { defaultPermission } from './storage.service.ts'
import { type Place, storageStore } from './storage.store.ts'
import type { StorageWriter } from './storage.writer.ts'

export type RuntimeDeps = { db: Database; write: StorageWriter; filters: StorageFilters }

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

/** An object with its value as canonical JSON, which whoever reads it parses where it needs it. */
export type ReadObject = {
  user_id: string | null
  collection: string
  key: string
  version: string
  read_permission: number
  write_permission: number
  value_json: string
}

/** The most operations of one batch, and bytes of all its values. */
export const batchOperationsMax = 100
export const batchBytesMax = 8 * storageValueBytesMax

const address = { owner: storageOwner.nullable(), collection: storageName, key: storageName }
const Address = z.object(address)
/** As a console route takes it, but for null. */
const version = z
  .string()
  .refine((given) => storageApi.put.body.shape.version.safeParse(given).success, {
    error: 'must be at most 1024 bytes without U+0000',
  })
  .optional()
const Conditions = z.object({
  ...address,
  version,
  read_permission: z.int().min(0).max(2).default(defaultPermission),
  write_permission: z.int().min(0).max(1).default(defaultPermission),
})
const Asker = storageOwner.optional()
const Removed = z.object({ ...address, version: version.refine((given) => given !== '') })

/**
 * Stored objects for the game's scripts. Every argument is checked by the rules of the console's
 * routes.
 *
 * @throws Failure `invalid_request` for an argument, `conflict` when a version does not hold or a
 * filter fails, `forbidden` when a user may not write
 */
export function createStorageRuntime({ db, write, filters }: RuntimeDeps) {
  async function read(wish: ObjectAddress, { as }: Asking = {}): Promise<ReadObject | undefined> {
    const reader = validate(Asker, as, 'as')
    const row = await storageStore.find(db, placeOf(validate(Address, wish)))
    if (row === undefined || !mayRead(row, reader)) return undefined
    const { bytes: _, value, ...rest } = row
    return { ...rest, user_id: row.user_id || null, value_json: value }
  }

  async function writeAll(
    wishes: readonly (ObjectWrite | ObjectRemoval)[],
    { as }: Asking = {},
  ): Promise<readonly Outcome[]> {
    if (wishes.length === 0) return []
    validate(Asker, as, 'as')
    if (wishes.length > batchOperationsMax) {
      throw refuse.invalid(`a batch has at most ${batchOperationsMax} operations`)
    }
    const operations: Operation[] = []
    let bytes = 0
    for (const wish of wishes) {
      const operation = 'remove' in wish ? removal(wish, as) : writing(wish, as)
      operations.push(operation)
      bytes += weightOf(operation)
      if (bytes > batchBytesMax) {
        throw refuse.invalid(`a batch has at most ${batchBytesMax} bytes of values`)
      }
    }
    // Without a filter nothing is waited for, so what is asked first is done first.
    return write(filters.serve() ? await filters.judgeAll(operations, 'runtime') : operations)
  }

  return {
    /** The object, or undefined when there is none or the user may not read it. */
    read,
    /** Objects of one turn; those of one call share a round trip. */
    readAll: (wishes: readonly ObjectAddress[], asking: Asking = {}) =>
      Promise.all(wishes.map((wish) => read(wish, asking))),
    /** Answers the version of what is stored now. */
    async write(wish: ObjectWrite, asking: Asking = {}): Promise<{ version: string }> {
      const [outcome] = await writeAll([wish], asking)
      if (outcome === undefined || !('version' in outcome)) throw new Error('a write has a version')
      return { version: outcome.version }
    },
    /** Answers whether something was removed. */
    async remove(wish: Omit<ObjectRemoval, 'remove'>, asking: Asking = {}): Promise<boolean> {
      const [outcome] = await writeAll([{ ...wish, remove: true }], asking)
      return outcome !== undefined && 'removed' in outcome && outcome.removed
    },
    /** All of them or none, in their order; answers the outcome of each. */
    writeAll,
  }
}

function writing({ value: object, ...wish }: ObjectWrite, as: ActingUser): Operation {
  const { version: expected, read_permission, write_permission, ...at } = validate(Conditions, wish)
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw refuse.invalid('value must be an object')
  }
  const permissions = { read_permission, write_permission }
  return writeOf({ place: placeOf(at), value: storedValue(object), ...permissions, expected }, as)
}

function removal(wish: ObjectRemoval, as: ActingUser): Operation {
  const { version: expected, ...at } = validate(Removed, wish)
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
