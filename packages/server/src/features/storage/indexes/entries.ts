import type { JsonObject } from '@guildhall/contract'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { Place } from '../storage.store.ts'
import type { Changes } from '../writes/book.ts'
import type { Verdicts } from '../writes/operations.ts'
import { type EntryRow, type IndexedObject, storageIndexStore } from './index.store.ts'
import { covers, entriesOf, indexOf, type StorageIndex } from './indexes.ts'

export type KnownIndexes = ReturnType<typeof createKnownIndexes>

/** The indexes that are in force, as this node last read them. */
export function createKnownIndexes() {
  let epoch = 0
  let indexes: readonly StorageIndex[] = []
  return {
    epoch: () => epoch,
    indexes: () => indexes,
    /** Reads them again; the guard is held, so they stay as they are until the commit. */
    async load(tx: Queries, now: number): Promise<void> {
      indexes = (await storageIndexStore.live(tx)).map(indexOf)
      epoch = now
    },
  }
}

/** What the indexes may have entries of. */
export function indexedObjects(
  indexes: readonly StorageIndex[],
  places: readonly Place[],
): IndexedObject[] {
  if (indexes.length === 0) return []
  return places.flatMap((place) =>
    coveringOf(indexes, place).map((index) => objectOf(index, place)),
  )
}

type Entering = Pick<Changes, 'removed' | 'writes' | 'reindexings'> & {
  indexes: readonly StorageIndex[]
  /** What the indexes have of the objects now. */
  entries: readonly EntryRow[]
}

/** What becomes of an object in an index: its entries, or that it waits for the filter. */
type Wanted = { object: IndexedObject; entries: readonly EntryRow[]; pending: boolean }

/** Brings the entries of the changed objects in line with them. */
export async function storeEntries(tx: Transaction, entering: Entering): Promise<void> {
  if (entering.indexes.length === 0) return
  const had = new Map<string, EntryRow[]>()
  for (const entry of entering.entries) {
    const name = objectName(entry)
    had.set(name, [...(had.get(name) ?? []), entry])
  }
  const wanted = wantedOf(entering, (object) => had.has(objectName(object)))
  const taken: EntryRow[] = []
  const added: EntryRow[] = []
  for (const { object, entries } of wanted) {
    const old = had.get(objectName(object)) ?? []
    taken.push(...old.filter((entry) => !entries.some((other) => isSame(entry, other))))
    added.push(...entries.filter((entry) => !old.some((other) => isSame(entry, other))))
  }
  const asks = wanted.filter(({ object }) => isFiltered(entering.indexes, object.index_id))
  await Promise.all([
    storageIndexStore.takeEntries(tx, taken),
    storageIndexStore.addEntries(tx, added),
    storageIndexStore.takePending(tx, objectsOf(asks, false)),
    storageIndexStore.addPending(tx, objectsOf(asks, true)),
  ])
}

function wantedOf(
  { indexes, removed, writes, reindexings }: Entering,
  isIn: (object: IndexedObject) => boolean,
): Wanted[] {
  const byName = new Map<string, Wanted>()
  const want = (wanted: Wanted) => byName.set(objectName(wanted.object), wanted)
  for (const { place, index: id, object, verdicts } of reindexings) {
    const index = indexes.find((each) => each.id === id)
    if (index === undefined) continue
    const wanted = wantedIn(index, place, { object, verdicts })
    // Nothing has changed about the object, so what a filter once said of it stays.
    if (!(wanted.pending && isIn(wanted.object))) want(wanted)
  }
  for (const { place, value, verdicts } of writes) {
    for (const index of coveringOf(indexes, place)) {
      // What follows a write in the same batch looked at the same value: it may know of a filter.
      const judged = byName.get(objectName(objectOf(index, place)))
      if (judged === undefined || judged.pending) {
        want(wantedIn(index, place, { object: value.object, verdicts }))
      }
    }
  }
  for (const place of removed) {
    for (const index of coveringOf(indexes, place)) {
      want({ object: objectOf(index, place), entries: [], pending: false })
    }
  }
  return [...byName.values()]
}

function wantedIn(
  index: StorageIndex,
  place: Place,
  { object, verdicts }: { object: JsonObject; verdicts: Verdicts },
): Wanted {
  const indexed = objectOf(index, place)
  const verdict = verdicts.get(index.name) ?? (index.filtered ? undefined : true)
  const entries =
    verdict === true ? entriesOf(index, object).map((entry) => ({ ...indexed, ...entry })) : []
  return { object: indexed, entries, pending: verdict === undefined }
}

function coveringOf(indexes: readonly StorageIndex[], place: Place): StorageIndex[] {
  return indexes.filter((index) => covers(index, place))
}

function objectOf({ id }: StorageIndex, { user_id, key }: Place): IndexedObject {
  return { index_id: id, user_id, key }
}

function objectsOf(wanted: readonly Wanted[], pending: boolean): IndexedObject[] {
  return wanted.filter((each) => each.pending === pending).map(({ object }) => object)
}

function isFiltered(indexes: readonly StorageIndex[], id: number): boolean {
  return indexes.some((index) => index.id === id && index.filtered)
}

function isSame(a: EntryRow, b: EntryRow): boolean {
  return a.field === b.field && a.value === b.value
}

/** Within an index an object is known by owner and key. */
function objectName({ index_id, user_id, key }: IndexedObject): string {
  return `${index_id}\0${user_id}\0${key}`
}
