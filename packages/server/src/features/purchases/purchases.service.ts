import {
  type Purchase,
  purchaseSumsMax,
  type purchasesApi,
  type Subscription,
} from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Transaction } from '../../database/database.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import { purchaseSearchStore } from './purchases.search.store.ts'
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

type Search = z.output<(typeof purchasesApi)['search']['query']>
type Filter = z.output<(typeof purchasesApi)['sums']['query']>

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

    async search({ after, limit, ...filter }: Search) {
      const last = after === undefined ? undefined : await purchasesStore.byId(db, after)
      if (after !== undefined && last === undefined) throw refuse.invalid('after is no transaction')
      const bounds = { ...boundsOf(filter, last), limit: limit + 1 }
      const rows = await purchaseSearchStore.page(db, filter, bounds)
      const items = rows.slice(0, limit).map(purchaseOf)
      const next_after = rows.length > limit ? items.at(-1)?.transaction_id : undefined
      return next_after === undefined ? { items } : { items, next_after }
    },

    async sums(filter: Filter) {
      const { purchases: limit, products } = purchaseSumsMax
      const bounds = { ...boundsOf(filter), limit, products: products + 1 }
      const { total, named } = await db.longRead((tx) =>
        purchaseSearchStore.sums(tx, filter, bounds),
      )
      return {
        ...total,
        complete: total.purchases < limit,
        products: named.slice(0, products),
        products_complete: named.length <= products,
      }
    },

    async subscriptions(query: PurchaseQuery) {
      const rows = await purchasesStore.subscriptions(db, query)
      const nowUnixMs = clock.nowUnixMs()
      return { items: rows.map((row) => subscriptionOf(row, nowUnixMs)) }
    },
  }
}

/** The times of a filter, inclusive, as places of the list; `last` is what was shown last. */
function boundsOf({ from = 0, to = Number.MAX_SAFE_INTEGER - 1 }: Filter, last?: PurchaseRow) {
  const end = { from, at: Math.min(to, Number.MAX_SAFE_INTEGER - 1) + 1, id: '' }
  if (last === undefined || last.validated_at_unix_ms >= end.at) return end
  return { from, at: last.validated_at_unix_ms, id: last.transaction_id }
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
