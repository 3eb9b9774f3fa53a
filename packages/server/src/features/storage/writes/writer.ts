import type { StorageObject } from '@guildhall/contract'
import { type Database, type Transaction, UniqueViolation } from '../../../database/database.ts'
import { mergedTransactions } from '../../../database/writes/merged-writes.ts'
import type { CombinedResult } from '../../../kernel/batching/combiner.ts'
import { bySystem, type MutateMany, type Mutation } from '../../../kernel/mutation.ts'
import type { KnownIndexes } from '../indexes/entries.ts'
import { applyAll, type Batch } from './batch.ts'
import { type Operation, type Outcome, weightOf } from './operations.ts'

export type WriterDeps = {
  db: Database
  mutateMany: MutateMany<Transaction>
  indexes: KnownIndexes
}

type Item = Batch & { mutation: Mutation }

/** Does operations together or not at all; `operator` when one asks for them. */
export type StorageWriter = (
  operations: readonly Operation[],
  operator?: { mutation: Mutation; shown?: StorageObject },
) => Promise<readonly Outcome[]>

/** The most batches of one transaction, and about how many bytes of values. */
const itemsMax = 256
const bytesMax = 4_194_304
/** Each time somebody else has got further, so nobody is refused for meeting others. */
const attemptsMax = 16

/**
 * The one way in which objects change. What is asked for at the same time shares a transaction: one
 * statement of each kind and one commit for all, and for each batch its own verdict.
 */
export function createWriter({ db, mutateMany, indexes }: WriterDeps): StorageWriter {
  function commit(items: readonly Item[]) {
    const apply = (tx: Transaction, left: readonly Item[]) => applyAll(tx, left, indexes)
    return againWhenAdded(() => mutateMany(items, apply, { isolation: 'read committed' }))
  }

  const write = mergedTransactions<Item, readonly Outcome[]>(db, {
    itemsMax,
    async run(items) {
      const results: CombinedResult<readonly Outcome[]>[] = []
      for (const part of partsOf(items)) {
        // What the parts before this one have committed stays reported, whatever becomes of it.
        try {
          results.push(...(await commit(part)))
        } catch (error) {
          results.push(...part.map(() => ({ ok: false as const, error })))
        }
      }
      return results
    },
  })
  return async (operations, operator) => {
    if (operations.length === 0) return []
    const { mutation = bySystem, shown } = operator ?? {}
    return write({ operations, shown, mutation })
  }
}

/** Does work again when another node has just added one of its objects: now it can be locked. */
export async function againWhenAdded<T>(work: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof UniqueViolation) || made >= attemptsMax) throw error
    }
  }
}

/** Large values get transactions of their own: others need not wait for the whole of them. */
function* partsOf(items: readonly Item[]): Iterable<Item[]> {
  let part: Item[] = []
  let bytes = 0
  for (const item of items) {
    const weight = item.operations.reduce((sum, operation) => sum + weightOf(operation), 0)
    if (part.length > 0 && bytes + weight > bytesMax) {
      yield part
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += weight
  }
  if (part.length > 0) yield part
}
