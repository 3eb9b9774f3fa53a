import type { purchasesApi, subscriptionsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Purchases } from './purchases.service.ts'

export function purchaseHandlers(purchases: Purchases): ServerHandlers<typeof purchasesApi> {
  return {
    list: ({ query }) => purchases.list(query),
    validate: ({ mutation, body }) => purchases.validate(mutation, body),
    get: ({ params }) => purchases.get(params.transaction_id),
    search: ({ query }) => purchases.search(query),
    sums: ({ query }) => purchases.sums(query),
  }
}

export function subscriptionHandlers(
  purchases: Purchases,
): ServerHandlers<typeof subscriptionsApi> {
  return { list: ({ query }) => purchases.subscriptions(query) }
}
