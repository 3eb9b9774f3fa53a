import type { Database, Transaction } from '../../database/database.ts'
import type { Mutate, MutateMany } from '../../kernel/mutation.ts'

/** What mutations cost without their audit entries, to be compared; no node is built like this. */
export function unaudited(db: Database) {
  const mutate: Mutate<Transaction> = (_mutation, change, options) =>
    db.transaction(async (tx) => (await change(tx)).answer, options)

  const mutateMany: MutateMany<Transaction> = async (items, change, options) => {
    const results = await db.transaction((tx) => change(tx, items), options)
    return results.map((result) => {
      return result.ok ? { ok: true, value: result.value.answer } : result
    })
  }
  return { mutate, mutateMany }
}
