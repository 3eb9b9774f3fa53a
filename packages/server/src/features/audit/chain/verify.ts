import type { Queries } from '../../../database/database.ts'
import { chainStore, type SealedRow } from './chain.store.ts'
import { type Link, linkHash, origin } from './chain.ts'

export type VerifyOptions = {
  /** `logs.audit_chain_key`; without it the hashes of keyed rows are not checked. */
  key: string | undefined
  /** A link that was noted elsewhere. */
  expect?: Link
}

export type ChainReport = {
  /** Rows from the anchor to the head that were looked at. */
  rows: number
  /** Rows whose hash could not be checked for want of the key. */
  unchecked: number
  /** Rows that were linked without a key: all that writes to the database can make such rows. */
  unkeyed: number
  anchor_seq: number
  head_seq: number
  /** Hex. */
  head_hash: string
  /** The first place where the chain does not hold. */
  broken?: Break
}

export type Break = { seq: number; problem: Problem }
export type Problem =
  | 'is missing'
  | 'is changed or out of place'
  | 'key missing'
  | 'is not the expected link'
  | 'was removed by retention and cannot be compared'

const pageItems = 1000

/**
 * Walks the chain from its anchor to its head and stops at the first row that is not what was
 * sealed there. `tx` should show one state: rows are read page by page.
 */
export async function verifyChain(tx: Queries, options: VerifyOptions): Promise<ChainReport> {
  const anchor = (await chainStore.end(tx, 'anchor')) ?? origin
  const head = (await chainStore.end(tx, 'head')) ?? origin
  const walk = createWalk(anchor, options)
  let broken = walk.begin()
  // Rows at or before the anchor are out of place, so the reading begins before every number.
  let after = Number.MIN_SAFE_INTEGER
  while (broken === undefined) {
    const page = await chainStore.sealedAfter(tx, { after, limit: pageItems })
    for (const row of page) broken ??= walk.step(row)
    const last = page.at(-1)
    if (last === undefined || page.length < pageItems) break
    after = last.seq
  }
  broken ??= walk.end(head)
  return {
    rows: walk.rows(),
    unchecked: walk.unchecked(),
    unkeyed: walk.unkeyed(),
    anchor_seq: anchor.seq,
    head_seq: head.seq,
    head_hash: hexOf(head.hash),
    ...(broken === undefined ? {} : { broken }),
  }
}

function createWalk(anchor: Link, { key, expect }: VerifyOptions) {
  let last: Link = anchor
  let rows = 0
  let unchecked = 0
  let unkeyed = 0
  /** The first row that was linked without the key behind one with it. */
  let keyless: number | undefined

  const expected = ({ seq, hash }: Link): Break | undefined =>
    expect?.seq === seq && !equal(expect.hash, hash)
      ? at(seq, 'is not the expected link')
      : undefined

  function isSealed(row: SealedRow, hash: Uint8Array, keyed: number): boolean {
    if (keyed === 1 && key === undefined) {
      unchecked += 1
      return true
    }
    const { hash: _, ...rest } = row
    return equal(hash, linkHash(last.hash, { ...rest, keyed }, keyed === 1 ? key : undefined))
  }

  /**
   * Once there is a key, nothing may be linked without it: that could have been anybody. So who has
   * no key cannot pass off a changed row as one whose hash nobody can check, between others. Where
   * only rows without it follow, a node did not have it.
   */
  function isOfAnybody(keyed: number): boolean {
    if (keyed === 0 && unkeyed < rows - 1) keyless ??= last.seq
    if (keyed === 0 && keyless === undefined) unkeyed += 1
    return keyed === 1 && keyless !== undefined
  }

  /** The first break: what comes behind a row without its key only says what that one is. */
  function first(broken: Break): Break {
    return keyless === undefined ? broken : at(keyless, changed)
  }

  return {
    rows: () => rows,
    unchecked: () => unchecked,
    unkeyed: () => unkeyed,
    begin(): Break | undefined {
      if (expect === undefined || expect.seq > anchor.seq) return undefined
      if (expect.seq === anchor.seq) return expected(anchor)
      return at(expect.seq, 'was removed by retention and cannot be compared')
    },
    step(row: SealedRow): Break | undefined {
      const { seq, hash, keyed } = row
      if (seq > last.seq + 1) return first(at(last.seq + 1, 'is missing'))
      rows += 1
      if (seq <= last.seq || (keyed !== 0 && keyed !== 1)) return first(at(seq, changed))
      const isGood = isSealed(row, hash, keyed)
      last = { seq, hash }
      const broken = isOfAnybody(keyed) || !isGood ? at(seq, changed) : expected(last)
      return broken && first(broken)
    },
    end(head: Link): Break | undefined {
      const broken = endAt(head)
      if (broken !== undefined) return first(broken)
      return keyless === undefined ? undefined : at(keyless, 'key missing')
    },
  }

  function endAt(head: Link): Break | undefined {
    if (last.seq < head.seq) return at(last.seq + 1, 'is missing')
    if (last.seq > head.seq) return at(head.seq + 1, changed)
    if (!equal(last.hash, head.hash)) return at(head.seq, changed)
    if (expect !== undefined && expect.seq > last.seq) return at(last.seq + 1, 'is missing')
    return undefined
  }
}

const changed = 'is changed or out of place'

function at(seq: number, problem: Problem): Break {
  return { seq, problem }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
