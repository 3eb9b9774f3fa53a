import type { Database } from '../../../database/database.ts'
import { Failure, refuse } from '../../../kernel/failure.ts'
import { cursorOf, positionOf } from '../storage.cursor.ts'
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
import { type FoundRow, queryEntries, queryFieldsMax } from './query.store.ts'

export type QueriesDeps = {
  db: Database
  /** Whether the declared indexes are in force: before that nothing is known of any. */
  inForce(): boolean
}

/** What the fields must be equal to. */
export type IndexFilters = Readonly<Record<string, string | number | bigint | boolean>>

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
     * A page of the objects whose fields are equal to all of the filters; without one, of all that
     * the index has. The system's come first, then by user and key.
     *
     * @throws Failure `not_found` for an index that is not declared, `runtime_unavailable` while it
     * is being built, `invalid_request` for any other wrong argument
     */
    async query(
      name: string,
      filters: IndexFilters,
      { limit: items, after }: { limit: number; after?: string | undefined },
    ): Promise<ObjectPage> {
      for (let asked = 1; ; asked += 1) {
        const index = await indexNamed(name)
        const entries = wantedOf(index, filters)
        const list = listOf(index, entries)
        const position = positionOf(list, after)
        const { id, collection } = index
        const rows = await queryEntries(db, {
          id,
          collection,
          entries: entries.length === 0 ? [coveredEntry] : entries,
          after_user_id: position.user_id,
          after_key: position.key,
          limit: items + 1,
        })
        const state = rows[0]?.state
        if (state === 'ready') return pageOf(index, list, { rows, items })
        if (state === 'building') throw notBuilt()
        // Another node has changed the index since this one last looked.
        known.delete(name)
        if (asked > 1) throw notBuilt()
      }
    },
  }
}

function wantedOf({ fields }: StorageIndex, filters: IndexFilters): IndexEntry[] {
  const wanted = Object.entries(filters).map(([field, value]) => {
    if (!fields.includes(field)) throw refuse.invalid('a filter is for a field of the index')
    const text = indexedText(value)
    if (text === undefined) {
      throw refuse.invalid('a filter is a string of at most 256 bytes, a number or a boolean')
    }
    return { field, value: text }
  })
  if (wanted.length > queryFieldsMax) throw refuse.invalid('a query has at most 8 filters')
  return wanted.sort((a, b) => (a.field < b.field ? -1 : 1))
}

/** A cursor goes on in the list that it was given for, and in no other. */
function listOf(index: StorageIndex, entries: readonly IndexEntry[]): string[] {
  const { name, collection, key, fields } = index
  const asked = entries.flatMap(({ field, value }) => [field, value])
  return ['query', name, collection, key ?? '', fieldsText(fields), ...asked]
}

function pageOf(
  { collection }: StorageIndex,
  list: readonly string[],
  { rows, items }: { rows: readonly FoundRow[]; items: number },
): ObjectPage {
  const cut = rows.findIndex(({ key, value }) => key !== null && value === null)
  const end = cut < 0 ? items : Math.min(cut, items)
  const shown = rows.slice(0, end).flatMap((row) => objectOf(row, collection))
  const last = rows.length > end ? shown.at(-1) : undefined
  const next = last && cursorOf(list, { user_id: last.user_id ?? '', key: last.key })
  return { items: shown, next: next ?? null }
}

/** The one row of an empty page has no object. */
function objectOf({ state: _, ...row }: FoundRow, collection: string): ReadObject[] {
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
