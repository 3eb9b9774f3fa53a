import { z } from 'zod'
import { unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { purchaseQuery, purchaseStores } from './purchases.ts'
import { defineApi } from './route.ts'

export const subscriptionStatuses = ['active', 'expired'] as const

/** A purchase that has an expiry. It is active until the moment of the expiry, not at it. */
export const Subscription = once(() =>
  z.strictObject({
    transaction_id: z.string(),
    user_id: z.string(),
    product_id: z.string(),
    store: z.enum(purchaseStores),
    expiry_unix_ms: unixMs,
    status: z.enum(subscriptionStatuses).meta({ description: 'As of the moment of reading' }),
  }),
)
export type Subscription = z.output<ReturnType<typeof Subscription>>

export const subscriptionsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/subscriptions',
    access: 'operator',
    scope: 'subscriptions:read',
    summary: 'Purchases with an expiry, newest first, with their present status',
    query: purchaseQuery,
    ok: () => z.strictObject({ items: z.array(Subscription()) }),
  },
})
