import { z } from 'zod'
import {
  readPermission,
  storageName,
  storageOwner,
  expectedVersion as version,
  writePermission,
} from '../shapes/storage.ts'
import { freeObject, optional, presentReference, reference } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { options, pageLimit, raw, strictLimit } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const address = {
  owner: storageOwner.nullable().meta({ description: 'Null is the system' }),
  collection: storageName,
  key: storageName,
}
const as = optional(storageOwner).meta({ description: 'In whose right; absent is the runtime' })
const permissions = {
  read_permission: optional(readPermission).meta({ description: 'Default 1' }),
  write_permission: optional(writePermission).meta({ description: 'Default 1' }),
}

/** Conditions and permissions of one write. */
export const writeConditions = { version, ...permissions }

/** An object as a script reads it. */
export const ScriptObject = once(() =>
  z.strictObject({
    value: freeObject,
    version: z.string(),
    read_permission: readPermission,
    write_permission: writePermission,
  }),
)

export const ScriptObjectRow = once(() =>
  z.strictObject({
    user_id: z.string().nullable().meta({ description: 'Null is the system' }),
    collection: z.string(),
    key: z.string(),
    ...ScriptObject().shape,
  }),
)

const ordered = once(() => z.union([z.string(), z.number(), z.bigint()]))
const bound = once(() => ordered().optional())

/** Where the value of an ordered field lies; all bounds hold. */
export const IndexRange = once(() =>
  z.strictObject({ gte: bound(), gt: bound(), lte: bound(), lt: bound() }),
)

const ScriptObjectPage = once(() =>
  z.strictObject({
    items: z.array(ScriptObjectRow()),
    next: z.string().nullable().meta({ description: 'For `after`; null behind the last row' }),
  }),
)
const after = optional(z.string()).meta({ description: 'The `next` of the page before' })

/** Most operations of one storage_write_many. */
export const writeManyMax = 100

const trusted = { tier: 'trusted', runs: 'node' } as const
/** For answers that are handed on. */
const handedOn = { raw: true, ...trusted } as const

export const storageWrite = once(() =>
  z.strictObject({
    op: z.literal('write'),
    ...address,
    value: freeObject,
    ...writeConditions,
  }),
)
export const storageDelete = once(() =>
  z.strictObject({ op: z.literal('delete'), ...address, version }),
)

export const storageScript = defineScriptApi({
  storage_read: {
    doc: 'One stored object, or null.',
    example: ["const save = await guildhall.storage_read(ctx.user_id, 'saves', 'slot')"],
    args: () => ({ ...address, options: options({ as, raw }) }),
    ok: () => ScriptObject().nullable(),
    ...handedOn,
  },
  storage_write: {
    doc: 'Stores an object whole; with a version only in place of that one, "" only creates.',
    example: ["await guildhall.storage_write(ctx.user_id, 'saves', 'slot', { level: 3 })"],
    args: () => ({ ...address, value: freeObject, options: options({ ...writeConditions, as }) }),
    ok: () => z.strictObject({ version: z.string() }),
    errors: ['conflict', 'forbidden'],
    ...trusted,
  },
  storage_delete: {
    doc: 'Removes an object; false if there was none.',
    args: () => ({ ...address, options: options({ version, as }) }),
    ok: () => z.boolean(),
    errors: ['conflict', 'forbidden'],
    ...trusted,
  },
  storage_list: {
    doc: 'A page of the objects of one owner in a collection, by key.',
    example: [
      "const { items, next } = await guildhall.storage_list(ctx.user_id, 'saves', { prefix: 'a' })",
    ],
    args: () => ({
      owner: address.owner,
      collection: address.collection,
      options: options({
        prefix: optional(reference(128)).meta({ description: 'What the keys begin with' }),
        after,
        limit: pageLimit({ default: 50, cap: 200 }),
        as,
        raw,
      }),
    }),
    ok: ScriptObjectPage,
    ...handedOn,
  },
  storage_index_query: {
    doc: 'A page of the objects of an index whose fields fit all the filters.',
    example: [
      "await guildhall.storage_index_query('by_level', { hero: 'owl', level: { gte: 10 } },",
      "  { order: '-level' })",
    ],
    args: () => ({
      index: presentReference(),
      filters: z.record(z.string(), z.union([ordered(), z.boolean(), IndexRange()])).meta({
        ts: '{ [field: string]: string | number | bigint | boolean | GuildhallRange }',
      }),
      options: options({
        limit: strictLimit({ default: 50, cap: 100 }),
        after,
        order: optional(z.string()).meta({
          description: 'An ordered field, ascending; with - before it descending',
        }),
        as,
        raw,
      }),
    }),
    ok: ScriptObjectPage,
    errors: ['not_found', 'unavailable'],
    ...handedOn,
  },
  storage_write_many: {
    doc: 'Up to 100 writes and deletes, values of at most 4 MiB in all: all of them or none.',
    args: () => ({
      ops: z
        .array(z.discriminatedUnion('op', [storageWrite(), storageDelete()]))
        .min(1)
        .max(writeManyMax),
      options: options({ as }),
    }),
    operations: 'ops',
    ok: () =>
      z.array(
        z.union([
          z.strictObject({ version: z.string() }),
          z.strictObject({ removed: z.boolean() }),
        ]),
      ),
    errors: ['conflict', 'forbidden'],
    ...trusted,
  },
})
