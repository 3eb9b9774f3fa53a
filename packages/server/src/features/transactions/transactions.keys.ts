import { type JsonObject, once, transactScript } from '@guildhall/contract'
import { z } from 'zod'
import { sha256 } from '../../kernel/auth/sha256.ts'
import { canonicalJson } from '../../kernel/json/canonical-json.ts'
import type { Operation, Result } from './operations.ts'

/** Results as they are stored with their key. */
const Stored = once(() => {
  return z.strictObject({ results: transactScript.transact.ok.shape.results })
})

/** Distinguishes the operations of one call from those of another. */
export function digestOf(operations: readonly Operation[], as: string | undefined): Buffer {
  // Each by itself, so that a value may have as many levels as one that is stored alone.
  const texts = operations.map((operation) => canonicalJson(given(operation)))
  return sha256(JSON.stringify([as ?? null, ...texts]))
}

/** The results that a key was stored with. */
export function resultsIn(stored: JsonObject): Result[] {
  return Stored().parse(stored).results
}

/** What was not given is not there. */
function given(operation: Operation): JsonObject {
  const members = Object.entries(operation).filter(([, value]) => value !== undefined)
  return Object.fromEntries(members)
}
