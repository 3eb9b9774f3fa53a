import { type Purchase, purchasesApi, subscriptionsApi } from '@guildhall/contract'
import type { TestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'

export type PurchaseOperator = Awaited<ReturnType<typeof openPurchaseOperator>>

export type PurchaseWish = {
  user_id?: string
  store?: string
  transaction_id?: string
  product_id?: string
  subscription_expiry_unix_ms?: number
}

/** The admin's requests about purchases on one node. */
export async function openPurchaseOperator(api: Pick<TestApi, 'call'>) {
  const operator = await openOperator(api)
  let made = 0

  /** A string is sent as it is. */
  const post = (body: unknown, headers?: Record<string, string>) =>
    operator.send('POST', '/purchases', body, headers)
  const present = (receipt: unknown, headers?: Record<string, string>) =>
    post({ user_id: 'ann', store: 'custom', receipt }, headers)

  return {
    ...operator,
    post,
    /** Hands in a receipt as it is, for ann and the store `custom`. */
    present,
    /** Records a purchase that must be recorded, of a transaction of its own by default. */
    async buy({
      user_id = 'ann',
      store = 'custom',
      ...said
    }: PurchaseWish = {}): Promise<Purchase> {
      made += 1
      const receipt = JSON.stringify({ transaction_id: `t-${made}`, product_id: 'gems', ...said })
      const answer = await post({ user_id, store, receipt })
      if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.text}`)
      return purchasesApi.validate.ok.parse(answer.body)
    },
    read: (transactionId: string) =>
      operator.send('GET', `/purchases/${encodeURIComponent(transactionId)}`),
    async list(query = '') {
      const answer = await operator.send('GET', `/purchases${query}`)
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
      return purchasesApi.list.ok.parse(answer.body).items
    },
    async subscriptions(query = '') {
      const answer = await operator.send('GET', `/subscriptions${query}`)
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
      return subscriptionsApi.list.ok.parse(answer.body).items
    },
  }
}

/** The transactions of rows, in their order. */
export function transactionsOf(rows: readonly { transaction_id: string }[]): string[] {
  return rows.map(({ transaction_id }) => transaction_id)
}
