import { z } from 'zod'
import {
  expectedVersion,
  readPermission,
  storageName,
  storageOwner,
  storageValueBytesMax,
  writePermission,
} from '../shapes/storage.ts'
import { count, freeObject, limit, optional, reference, text } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

const row = {
  user_id: z.string().nullable().meta({ description: 'Null is the system' }),
  key: z.string(),
  version: z.string().meta({ description: '16 hex digits; the same JSON has the same version' }),
  read_permission: readPermission,
  write_permission: writePermission,
}

export const StorageRow = once(() => z.strictObject(row))
export type StorageRow = z.output<ReturnType<typeof StorageRow>>

/**
 * An object with its value, a JSON object of at most 512 KiB.
 *
 * @example
 * { "collection": "saves", "user_id": null, "key": "slot", "value": { "level": 3 },
 *   "version": "c6c6e2d1b9b0f7a4", "read_permission": 1, "write_permission": 1 }
 */
export const StorageObject = once(() =>
  z.strictObject({
    collection: z.string(),
    ...row,
    value: freeObject,
  }),
)
export type StorageObject = z.output<ReturnType<typeof StorageObject>>

/** Most objects of one import, and the most bytes of its body. */
export const storageImportMax = { objects: 200, bytes: 1_048_576 } as const

/** What becomes of an object that is there already, with another value or other permissions. */
export const importModes = ['refuse', 'keep', 'replace'] as const
export type ImportMode = (typeof importModes)[number]

const objectPath = once(() => z.strictObject({ collection: storageName, key: storageName }))
const owner = storageOwner.optional().meta({ description: 'Absent is the system' })

/** Only a version that an object could have: the empty one would mean none at all. */
const presentVersion = text(
  (value) => value !== '' && reference().safeParse(value).success,
  'must be 1..1024 bytes without U+0000',
  { minLength: 1, maxLength: 1024 },
)

/** An object of an import, in the form in which an answer has one. */
export const ImportedObject = once(() =>
  z.strictObject({
    collection: storageName,
    user_id: optional(storageOwner),
    key: storageName,
    value: freeObject,
    version: optional(presentVersion),
    read_permission: optional(readPermission),
    write_permission: optional(writePermission),
  }),
)

const inCollection = {
  params: () => z.strictObject({ collection: storageName }),
  query: () =>
    z.strictObject({
      user_id: storageOwner.optional().meta({ description: 'Absent is every owner' }),
      limit: limit({ default: 50, cap: 200 }),
      cursor: z.string().optional().meta({ description: 'The `next` of the page before' }),
    }),
}

const next = z.string().optional().meta({ description: 'Present when more objects follow' })

export const storageApi = defineApi({
  collections: {
    method: 'GET',
    path: '/console/v1/storage',
    access: 'operator',
    scope: 'storage:read',
    summary: 'Collections by name with the number of their objects, over all owners',
    ok: () =>
      z.strictObject({
        collections: z.array(z.strictObject({ collection: z.string(), objects: z.int().min(1) })),
      }),
  },
  list: {
    method: 'GET',
    path: '/console/v1/storage/{collection}',
    access: 'operator',
    scope: 'storage:read',
    summary: "A collection's objects without values: the system's first, then by user and key",
    ...inCollection,
    ok: () => z.strictObject({ collection: z.string(), items: z.array(StorageRow()), next }),
  },
  values: {
    method: 'GET',
    path: '/console/v1/storage-values/{collection}',
    access: 'operator',
    scope: 'storage:read',
    summary: 'The same with values, of which a page has at most a mebibyte or one object',
    ...inCollection,
    ok: () => z.strictObject({ items: z.array(StorageObject()), next }),
  },
  get: {
    method: 'GET',
    path: '/console/v1/storage/{collection}/{key}',
    access: 'operator',
    scope: 'storage:read',
    summary: 'One object with its value',
    params: objectPath,
    query: () => z.strictObject({ user_id: owner }),
    ok: StorageObject,
    errors: ['not_found'],
  },
  put: {
    method: 'PUT',
    path: '/console/v1/storage/{collection}/{key}',
    access: 'admin',
    audit: 'storage.write',
    summary: 'Stores an object whole; with a version only in place of that one',
    params: objectPath,
    query: () => z.strictObject({ user_id: owner }),
    body: () =>
      z.strictObject({
        value: freeObject.meta({ description: 'At most 524,288 bytes as canonical JSON' }),
        read_permission: optional(readPermission).meta({ description: 'Default 1' }),
        write_permission: optional(writePermission).meta({ description: 'Default 1' }),
        version: expectedVersion,
      }),
    bodyBytesMax: storageValueBytesMax + 4096,
    ok: StorageObject,
    errors: ['conflict'],
  },
  import: {
    method: 'POST',
    path: '/console/v1/storage-import',
    access: 'admin',
    audit: 'storage.write',
    summary: 'Stores all of several objects or none; a dry run says what would become of each',
    body: () =>
      z.strictObject({
        objects: z
          .array(freeObject)
          .min(1)
          .max(storageImportMax.objects)
          .meta({
            description:
              'Each as an answer has one: collection, key, value, optionally user_id, version, ' +
              'read_permission and write_permission. A version must be that of the value',
          }),
        existing: optional(z.enum(importModes)).meta({
          description: 'What becomes of an object that is there and differs; default `refuse`',
        }),
        dry_run: optional(z.boolean()).meta({ description: 'Changes nothing; default false' }),
      }),
    bodyBytesMax: storageImportMax.bytes,
    ok: () =>
      z.strictObject({
        created: count,
        replaced: count,
        unchanged: count,
        kept: count,
        refused: z
          .array(z.strictObject({ index: count, code: z.string(), message: z.string() }))
          .meta({ description: 'Only of a dry run: without it the first of them is the answer' }),
      }),
    errors: ['conflict'],
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/storage/{collection}/{key}',
    access: 'admin',
    audit: 'storage.delete',
    summary: 'Removes an object; with a version only that one',
    params: objectPath,
    query: () => z.strictObject({ user_id: owner, version: presentVersion.optional() }),
    errors: ['conflict'],
  },
})
