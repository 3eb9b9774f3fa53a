import type { Database, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Transact } from '../../kernel/tasks/lease.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import { walletStore } from './wallet.store.ts'

type WalletJobsDeps = {
  db: Database
  clock: Clock
  config: { ledger_retention: number; idempotency_retention_days: number }
}

/** What keeps the ledger and the idempotency keys within their bounds. */
export function createWalletPruners({ db, clock, config }: WalletJobsDeps) {
  let newestSurplus: number | undefined

  /** Looking for it reads as many rows as are kept; but what is one too many stays so. */
  async function surplus(): Promise<number | undefined> {
    newestSurplus ??= await walletStore.newestSurplus(db, config.ledger_retention)
    return newestSurplus
  }

  return {
    /**
     * Removes up to `batchItems` of the oldest entries beyond those that are kept. What they added
     * to their balances is carried over in the same transaction, so a balance is always the sum of
     * what is carried and what is kept.
     */
    async ledger(
      batchItems: number,
      transact: Transact<Transaction> = db.transaction,
    ): Promise<number> {
      let removed = 0
      for (let seq = await surplus(); seq !== undefined; seq = await surplus()) {
        const bounds = { seq, batch_items: batchItems - removed }
        removed += await transact(
          async (tx) => {
            const rows = await walletStore.removeOldest(tx, bounds)
            await walletStore.carry(tx, sumsOf(rows))
            return rows.length
          },
          { isolation: 'read committed' },
        )
        if (removed >= batchItems) break
        newestSurplus = undefined
      }
      return removed
    },
    keys: (batchItems: number, transact: Transact<Transaction> = db.transaction) => {
      const lifeMs = config.idempotency_retention_days * 86_400_000
      const expired_unix_ms = clock.nowUnixMs() - lifeMs
      return transact(
        (tx) => walletStore.pruneKeys(tx, { expired_unix_ms, batch_items: batchItems }),
        { isolation: 'read committed' },
      )
    },
  } satisfies Record<string, PruneBatch<Transaction>>
}

type Booked = { user_id: string; currency: string; delta: bigint }

/** The sum of the deltas of each balance. */
function sumsOf(rows: readonly Booked[]) {
  const sums = new Map<string, { user_id: string; currency: string; carried: bigint }>()
  for (const { user_id, currency, delta } of rows) {
    const name = JSON.stringify([user_id, currency])
    const carried = (sums.get(name)?.carried ?? 0n) + delta
    sums.set(name, { user_id, currency, carried })
  }
  return [...sums.values()]
}
