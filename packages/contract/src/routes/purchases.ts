import { z } from 'zod'
import { count, limit, optional, presentReference, reference, unixMs } from '../values/fields.ts'
import { queryTime } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** Where a purchase was made; recorded as the operator says, never verified with a store. */
export const purchaseStores = ['store_a', 'store_b', 'store_c', 'custom'] as const
export type PurchaseStore = (typeof purchaseStores)[number]

/** Largest receipt in bytes of UTF-8; `purchases.max_receipt_bytes` can only lower it. */
export const receiptBytesMax = 65_536

/**
 * What a receipt says: a JSON object with these members only, sent as a string. Members that are
 * unknown or repeated are refused with `invalid_request`.
 *
 * - `transaction_id`, `product_id`: 1..1024 bytes, not blank, without U+0000
 * - `subscription_expiry_unix_ms`: Unix milliseconds, 0..2^53 - 1; only for subscriptions
 *
 * @example
 * const receipt = JSON.stringify({ transaction_id: 'T-1', product_id: 'gems-100' })
 */
export const Receipt = once(() =>
  z.strictObject({
    transaction_id: presentReference(),
    product_id: presentReference(),
    subscription_expiry_unix_ms: optional(unixMs),
  }),
)
export type Receipt = z.output<ReturnType<typeof Receipt>>

/** A purchase as it was recorded. The receipt itself is not kept, only its SHA-256. */
export const Purchase = once(() =>
  z.strictObject({
    transaction_id: z.string(),
    user_id: z.string(),
    product_id: z.string(),
    store: z.enum(purchaseStores),
    receipt_sha256: z.string().meta({
      description: '64 lower-case hex digits, over the UTF-8 bytes of the receipt',
    }),
    validated_at_unix_ms: unixMs,
    subscription_expiry_unix_ms: unixMs.optional(),
  }),
)
export type Purchase = z.output<ReturnType<typeof Purchase>>

/** The newest purchases or subscriptions, of everybody or of exactly one user. */
export const purchaseQuery = once(() =>
  z.strictObject({
    user_id: reference().optional(),
    limit: limit({ default: 50, cap: 200 }),
  }),
)

/** What narrows purchases: exactly one user, exactly one product, and when they were recorded. */
const purchaseFilter = {
  user_id: reference().optional(),
  product_id: presentReference().optional(),
  from: queryTime.meta({ description: 'Unix milliseconds, inclusive' }),
  to: queryTime.meta({ description: 'Unix milliseconds, inclusive' }),
}

/** So many of the newest purchases are counted at most, and so many products are named. */
export const purchaseSumsMax = { purchases: 100_000, products: 100 } as const

export const purchasesApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/purchases',
    access: 'operator',
    scope: 'purchases:read',
    summary: 'Purchases, newest first, then by transaction id, largest first',
    query: purchaseQuery,
    ok: () => z.strictObject({ items: z.array(Purchase()) }),
  },
  validate: {
    method: 'POST',
    path: '/console/v1/purchases',
    access: 'admin',
    audit: 'purchases.validate',
    summary: 'Validates a receipt and records its transaction, once for all users',
    body: () =>
      z.strictObject({
        user_id: reference(),
        store: z.enum(purchaseStores),
        receipt: reference(receiptBytesMax),
      }),
    ok: Purchase,
    status: 201,
    errors: ['conflict'],
  },
  get: {
    method: 'GET',
    path: '/console/v1/purchases/{transaction_id}',
    access: 'operator',
    scope: 'purchases:read',
    summary: 'One purchase by its transaction id',
    params: () => z.strictObject({ transaction_id: presentReference() }),
    ok: Purchase,
    errors: ['not_found'],
  },
  search: {
    method: 'GET',
    path: '/console/v1/purchase-search',
    access: 'operator',
    scope: 'purchases:read',
    summary: 'Purchases by user, product and time, in the order of the list, page by page',
    query: () =>
      z.strictObject({
        ...purchaseFilter,
        after: presentReference()
          .optional()
          .meta({ description: '`next_after` of the page before' }),
        limit: limit({ default: 50, cap: 200 }),
      }),
    ok: () => z.strictObject({ items: z.array(Purchase()), next_after: z.string().optional() }),
  },
  sums: {
    method: 'GET',
    path: '/console/v1/purchase-sums',
    access: 'operator',
    scope: 'purchases:read',
    summary:
      `How many purchases a filter shows, of how many users and of which products; counted are ` +
      `the newest ${purchaseSumsMax.purchases}, named the ${purchaseSumsMax.products} products ` +
      'with the most of them. Receipts have no price, so no sum has one',
    query: () => z.strictObject(purchaseFilter),
    ok: () =>
      z.strictObject({
        purchases: count,
        users: count,
        complete: z.boolean().meta({ description: 'False when there are more than are counted' }),
        products: z.array(
          z.strictObject({
            product_id: z.string(),
            store: z.enum(purchaseStores),
            purchases: count,
            users: count,
            newest_at_unix_ms: unixMs,
          }),
        ),
        products_complete: z.boolean().meta({ description: 'False when not all are named' }),
      }),
  },
})
