import { createHmac } from 'node:crypto'
import { sha256 } from '../../../kernel/auth/sha256.ts'
import { type AuditRow, entryColumns } from '../audit.store.ts'

/** A place in the chain: rows after it are linked to this hash. */
export type Link = { seq: number; hash: Uint8Array }

/** A row of the chain without its hash; `keyed` is 1 when the hash is made with the key. */
export type Unhashed = AuditRow & { seq: number; keyed: number }

/** What the first row follows. */
export const origin: Link = { seq: 0, hash: new Uint8Array(32) }

/**
 * The hash that links a row to the one before: SHA-256 over that one's hash and the canonical JSON
 * of all the row's other fields; a keyed row's is HMAC-SHA-256 over the same.
 */
export function linkHash(before: Uint8Array, row: Unhashed, key: string | undefined): Uint8Array {
  const linked = Buffer.concat([before, Buffer.from(canonicalJson(row, linkedNames))])
  if (key === undefined) return sha256(linked)
  return createHmac('sha256', key).update(linked).digest()
}

const linkedNames = [...Object.keys(entryColumns), 'seq', 'keyed'].sort()

/** One spelling for one row: keys sorted, nulls kept, no blanks. `names` are the keys, sorted. */
export function canonicalJson(
  row: Readonly<Record<string, string | number | null>>,
  names: string[] = Object.keys(row).sort(),
): string {
  return JSON.stringify(row, names)
}
