import type { StorageObject } from '@guildhall/contract'
import type { Transaction } from '../../../database/database.ts'
import { inTheirOrder } from '../../../database/writes/in-their-order.ts'
import type { CombinedResult } from '../../../kernel/batching/combiner.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { Done } from '../../../kernel/mutation.ts'
import { indexedObjects, type KnownIndexes, storeEntries } from '../indexes/entries.ts'
import { storageIndexStore } from '../indexes/index.store.ts'
import { type Place, type StoredRow, storageStore } from '../storage.store.ts'
import { openBook } from './book.ts'
import { nameOf, type Operation, type Outcome } from './operations.ts'

/** Operations that are done together or not at all. */
export type Batch = {
  operations: readonly Operation[]
  /** What a repeat of the operator's request gets. */
  shown?: StorageObject | undefined
}

/**
 * Does batches in their order, each as if it had been alone, with one statement of each kind for
 * all of them. The objects are locked first: what is read after that stays true until the commit.
 *
 * @throws UniqueViolation when another node has just added one of the objects
 */
export async function applyAll(
  tx: Transaction,
  batches: readonly Batch[],
  known: KnownIndexes,
): Promise<CombinedResult<Done<readonly Outcome[]>>[]> {
  const operations = batches.flatMap((batch) => batch.operations)
  const places = placesOf(operations)
  // Sent together, and done in this order: the guard, the locks, what the locks keep as it is.
  const [epoch, heads, likely] = await inTheirOrder([
    storageIndexStore.shareGuard(tx),
    storageStore.lock(tx, places),
    storageIndexStore.entriesOf(tx, indexedObjects(known.indexes(), places)),
  ])
  let entries = likely
  if (epoch !== known.epoch()) {
    await known.load(tx, epoch)
    entries = await storageIndexStore.entriesOf(tx, indexedObjects(known.indexes(), places))
  }
  const book = openBook(heads)
  const results = batches.map((batch) => resultOf(batch, book.apply(batch.operations)))
  const changes = book.changes()
  // As before: one after another, and so the objects before all that belongs to them.
  await inTheirOrder([
    storageStore.insert(tx, changes.added),
    storageStore.update(tx, changes.changed),
    storageStore.remove(tx, changes.removed),
    storeEntries(tx, { indexes: known.indexes(), entries, ...changes }),
    storageStore.count(tx, countsOf(changes.added, changes.removed)),
  ])
  return results
}

function resultOf(
  { operations, shown }: Batch,
  outcomes: Outcome[] | Failure,
): CombinedResult<Done<readonly Outcome[]>> {
  if (outcomes instanceof Failure) return { ok: false, error: outcomes }
  const [operation] = operations
  const [outcome] = outcomes
  const target = operation === undefined ? '' : targetOf(operation.place)
  const details = detailsOf(outcome)
  return { ok: true, value: { answer: outcomes, target, details, shown: () => shown } }
}

/** Each place once. */
function placesOf(operations: readonly Operation[]): Place[] {
  return [...new Map(operations.map(({ place }) => [nameOf(place), place])).values()]
}

function countsOf(added: readonly StoredRow[], removed: readonly Place[]) {
  const counts = new Map<string, number>()
  const count = ({ collection }: Place, by: number) =>
    counts.set(collection, (counts.get(collection) ?? 0) + by)
  for (const row of added) count(row, 1)
  for (const place of removed) count(place, -1)
  return Array.from(counts, ([collection, objects]) => ({ collection, objects })).filter(
    ({ objects }) => objects !== 0,
  )
}

/** As the audit trail names an object. */
export function targetOf({ collection, key, user_id }: Place): string {
  return `${collection}/${key} (${user_id === '' ? 'system' : `user ${user_id}`})`
}

function detailsOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return ''
  return 'version' in outcome ? `version=${outcome.version}` : `removed=${outcome.removed}`
}
