import { z } from 'zod'
import { key, optional, presentReference, reference } from '../values/fields.ts'

/** Largest value of an object, in bytes of its canonical JSON. */
export const storageValueBytesMax = 524_288

/** Name of a collection, and key of an object in it: 1..128 bytes without control characters. */
export const storageName = key(128)

/** A user as owner of objects: not blank, at most 1,024 bytes. It need not be an account. */
export const storageOwner = presentReference()

/** Who may read: 0 nobody but the server and its operators, 1 the owner too, 2 everybody. */
export const readPermission = z.int().min(0).max(2)
/** Who may write: 0 nobody but the server and its operators, 1 the owner too. */
export const writePermission = z.int().min(0).max(1)

export const expectedVersion = optional(reference()).meta({
  description: 'What must be stored now; empty means that there must be no object',
})
