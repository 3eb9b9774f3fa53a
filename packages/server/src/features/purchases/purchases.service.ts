import type { Purchase, Subscription } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import { type PurchaseRow, purchasesStore, type SubscriptionRow } from './purchases.store.ts'
import type { PresentedReceipt, ReceiptValidator } from './purchases.validator.ts'

export type PurchasesDeps = {
  db: Database
  clock: Clock
  mutate: Mutate<Transaction>
  validate: ReceiptValidator
}

/** The newest purchases: everybody's, or those of exactly one user. */
type PurchaseQuery = { user_id?: string | undefined; limit: number }

export type Purchases = ReturnType<typeof createPurchases>

/**
 * Purchases whose receipts were validated. A transaction is recorded once, whoever presents it and
 * on whichever node: the table's key decides. Of the receipt only its digest is kept.
 */
export function createPurchases({ db, clock, mutate, validate }: PurchasesDeps) {
  return {
    async list(query: PurchaseQuery) {
      return { items: (await purchasesStore.list(db, query)).map(purchaseOf) }
    },

    async get(transactionId: string): Promise<Purchase> {
      const row = await purchasesStore.byId(db, transactionId)
      if (row === undefined) throw refuse.notFound('no such purchase')
      return purchaseOf(row)
    },

    async validate(
      mutation: Mutation,
      { user_id, ...presented }: PresentedReceipt & { user_id: string },
    ): Promise<Purchase> {
      const { store, receipt } = presented
      const { transaction_id, product_id, ...said } = await validate(presented)
      const record = async (tx: Transaction) => {
        const row: PurchaseRow = {
          transaction_id,
          user_id,
          product_id,
          store,
          receipt_digest: sha256(receipt),
          validated_at_unix_ms: clock.nowUnixMs(),
          subscription_expiry_unix_ms: said.subscription_expiry_unix_ms ?? null,
        }
        if (!(await purchasesStore.insert(tx, row))) {
          throw refuse.conflict('the transaction is already recorded')
        }
        return {
          answer: purchaseOf(row),
          target: `transaction ${transaction_id}`,
          details: `store=${store} product=${product_id} user=${user_id}`,
        }
      }
      return mutate(mutation, record, { isolation: 'read committed' })
    },

    async subscriptions(query: PurchaseQuery) {
      const rows = await purchasesStore.subscriptions(db, query)
      const nowUnixMs = clock.nowUnixMs()
      return { items: rows.map((row) => subscriptionOf(row, nowUnixMs)) }
    },
  }
}

function purchaseOf(row: PurchaseRow): Purchase {
  const { receipt_digest, subscription_expiry_unix_ms, ...rest } = row
  return {
    ...rest,
    receipt_sha256: Buffer.from(receipt_digest).toString('hex'),
    ...(subscription_expiry_unix_ms === null ? {} : { subscription_expiry_unix_ms }),
  }
}

function subscriptionOf(row: SubscriptionRow, nowUnixMs: number): Subscription {
  const { transaction_id, user_id, product_id, subscription_expiry_unix_ms: expiry_unix_ms } = row
  return {
    transaction_id,
    user_id,
    product_id,
    store: row.store,
    expiry_unix_ms,
    status: expiry_unix_ms > nowUnixMs ? 'active' : 'expired',
  }
}
