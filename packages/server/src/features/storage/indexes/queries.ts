import type { Database } from '../../../database/database.ts'
import { Failure, refuse } from '../../../kernel/failure.ts'
import { cursorOf, type Position, positionOf } from '../storage.cursor.ts'
import type { ObjectPage, ReadObject } from '../storage.runtime.ts'
import { storageIndexStore } from './index.store.ts'
import {
  coveredEntry,
  fieldsText,
  type IndexEntry,
  indexedText,
  indexOf,
  type StorageIndex,
} from './indexes.ts'
import { byBytes } from './ordered-text.ts'
import { type FoundRow, queryEntries, queryFieldsMax } from './query.store.ts'
import { type IndexFilters, type IndexRange, type Walk, walkOf } from './walks.ts'

export type QueriesDeps = {
  db: Database
  /** Whether the declared indexes are in force: before that nothing is known of any. */
  inForce(): boolean
}

type QueryOptions = {
  limit: number
  after?: string | undefined
  /** An ordered field, with - before it descending. */
  order?: string | undefined
}

/** Queries by declared indexes; their rows are read from the objects. */
export function createQueries({ db, inForce }: QueriesDeps) {
  let known = new Map<string, StorageIndex>()

  async function indexNamed(name: string): Promise<StorageIndex> {
    if (!inForce()) throw notBuilt()
    const index = known.get(name)
    if (index !== undefined) return index
    const rows = await storageIndexStore.live(db)
    known = new Map(rows.map((row) => [row.name, indexOf(row)]))
    return known.get(name) ?? refuseUnknown()
  }

  return {
    /**
     * A page of the objects whose fields fit all of the filters; without one, of all that the
     * index has. By the ordered field, if there is one; then the system's come first, then by user
     * and key.
     *
     * @throws Failure `not_found` for an index that is not declared, `runtime_unavailable` while it
     * is being built, `invalid_request` for any other wrong argument
     */
    async query(
      name: string,
      filters: IndexFilters,
      { limit: items, after, order }: QueryOptions,
    ): Promise<ObjectPage> {
      for (let asked = 1; ; asked += 1) {
        const index = await indexNamed(name)
        const { equal, ranges } = readFilters(index, filters)
        const walk = walkOf(index, ranges, order)
        const list = listOf(index, equal, walk)
        const position = positionOf(list, after, walk !== undefined)
        const { id, collection } = index
        const rows = await queryEntries(db, {
          id,
          collection,
          ...entriesFrom(equal, walk, position),
          after_user_id: position.user_id,
          after_key: position.key,
          limit: items + 1,
        })
        const state = rows[0]?.state
        if (state === 'ready') {
          return pageOf(index, list, { rows, items, isOrdered: walk !== undefined })
        }
        if (state === 'building') throw notBuilt()
        // Another node has changed the index since this one last looked.
        known.delete(name)
        if (asked > 1) throw notBuilt()
      }
    },
  }
}

/** What a field is to be equal to, apart from what one is to lie in. */
function readFilters({ fields }: StorageIndex, filters: IndexFilters) {
  const equal: IndexEntry[] = []
  const ranges: [field: string, range: IndexRange][] = []
  for (const [field, value] of Object.entries(filters)) {
    if (!fields.includes(field)) throw refuse.invalid('a filter is for a field of the index')
    if (typeof value === 'object') ranges.push([field, value])
    else equal.push({ field, value: expectText(value) })
  }
  if (equal.length + ranges.length > queryFieldsMax) {
    throw refuse.invalid('a query has at most 8 filters')
  }
  return { equal: equal.sort((a, b) => (a.field < b.field ? -1 : 1)), ranges }
}

function expectText(value: unknown): string {
  const text = indexedText(value)
  if (text === undefined) {
    throw refuse.invalid('a filter is a string of at most 256 bytes, a number or a boolean')
  }
  return text
}

/** The first entries without a walk are all those of the index. */
function entriesFrom(equal: readonly IndexEntry[], walk: Walk | undefined, { value }: Position) {
  if (walk === undefined) return { entries: equal.length === 0 ? [coveredEntry] : equal }
  const { field, from, below } = walk
  const first = { field, value: value !== undefined && byBytes(value, from) > 0 ? value : from }
  return { entries: [first, ...equal], below }
}

/** A cursor goes on in the list that it was given for, and in no other. */
function listOf(index: StorageIndex, equal: readonly IndexEntry[], walk: Walk | undefined) {
  const { name, collection, key } = index
  const asked = equal.flatMap(({ field, value }) => [field, value])
  const ordered = walk === undefined ? [] : ['by', walk.field, walk.from, walk.below]
  return ['query', name, collection, key ?? '', fieldsText(index), ...asked, ...ordered]
}

function pageOf(
  { collection }: StorageIndex,
  list: readonly string[],
  { rows, items, isOrdered }: { rows: readonly FoundRow[]; items: number; isOrdered: boolean },
): ObjectPage {
  const cut = rows.findIndex(({ key, value }) => key !== null && value === null)
  const end = cut < 0 ? items : Math.min(cut, items)
  const shown = rows.slice(0, end).flatMap((row) => objectOf(row, collection))
  const last = rows.length > end ? shown.at(-1) : undefined
  const value = isOrdered ? (rows[shown.length - 1]?.position ?? '') : undefined
  const next = last && cursorOf(list, { user_id: last.user_id ?? '', key: last.key, value })
  return { items: shown, next: next ?? null }
}

/** The one row of an empty page has no object. */
function objectOf(row: FoundRow, collection: string): ReadObject[] {
  const { user_id, key, version, read_permission, write_permission, value } = row
  if (user_id === null || key === null || version === null || value === null) return []
  return [
    {
      user_id: user_id || null,
      collection,
      key,
      version,
      read_permission: read_permission ?? 0,
      write_permission: write_permission ?? 0,
      value_json: value,
    },
  ]
}

function refuseUnknown(): never {
  const text = 'no index of this name is declared in storage.indexes'
  throw new Failure('not_found', { reason: text, text })
}

function notBuilt() {
  return refuse.runtimeUnavailable('the index is being built')
}
