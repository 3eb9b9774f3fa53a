import { hash } from 'node:crypto'
import { type JsonObject, storageValueBytesMax } from '@guildhall/contract'
import { refuse } from '../../../kernel/failure.ts'
import { canonicalJson, NotCanonical } from '../../../kernel/json/canonical-json.ts'
import type { Place } from '../storage.store.ts'

/** What the filters said of a value, by the name of the index; false keeps it out of the index. */
export type Verdicts = ReadonlyMap<string, boolean>

/** Whose rights count: a user's, or undefined for the runtime, whom no permission blocks. */
export type ActingUser = string | undefined

/** A value as it is stored. */
export type StoredValue = { object: JsonObject; text: string; bytes: number; version: string }

/** What must be there for a change to be made: anything, nothing (`''`), or this version. */
export type Precondition = string | undefined

export type Write = {
  is: 'write'
  place: Place
  as: ActingUser
  value: StoredValue
  read_permission: number
  write_permission: number
  expected: Precondition
  verdicts: Verdicts
}

export type Removal = { is: 'removal'; place: Place; as: ActingUser; expected: Precondition }

/** Looks at a stored object anew for one index; one that has changed meanwhile is left alone. */
export type Reindexing = {
  is: 'reindexing'
  place: Place
  index: number
  object: JsonObject
  version: string
  verdicts: Verdicts
}

export type Operation = Write | Removal | Reindexing

/** The version after a write; for a removal whether anything was there. */
export type Outcome = { version: string } | { removed: boolean }

/** @throws Failure `invalid_request` for what is no JSON, too deep or too large */
export function storedValue(object: JsonObject): StoredValue {
  const text = canonicalOrRefuse(object)
  const bytes = Buffer.byteLength(text)
  if (bytes > storageValueBytesMax) {
    throw refuse.invalid(`value must be at most ${storageValueBytesMax} bytes as JSON`)
  }
  return { object, text, bytes, version: versionOf(text) }
}

/** The version of a value: the first 16 hex digits of the SHA-256 of its canonical JSON. */
export function versionOf(canonical: string): string {
  return hash('sha256', canonical, 'hex').slice(0, 16)
}

/** No part of a place holds U+0000. */
export function nameOf({ collection, user_id, key }: Place): string {
  return `${collection}\0${user_id}\0${key}`
}

export function weightOf(operation: Operation): number {
  return operation.is === 'write' ? operation.value.bytes : 0
}

export const noVerdicts: Verdicts = new Map()

/** A write that no filter has judged yet. */
export function writeOf(write: Omit<Write, 'is' | 'as' | 'verdicts'>, as?: ActingUser): Write {
  return { is: 'write', as, verdicts: noVerdicts, ...write }
}

function canonicalOrRefuse(object: JsonObject): string {
  try {
    return canonicalJson(object)
  } catch (error) {
    if (error instanceof NotCanonical) throw refuse.invalid(`value ${error.message}`)
    throw error
  }
}
