import type { Queries } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { purchases } from '../../database/tables/purchases.ts'
import { pick } from '../../database/tables/table.ts'

const purchaseRow = purchases.columns
const purchaseColumns = Object.keys(purchaseRow)
export type PurchaseRow = Row<typeof purchaseRow>

const subscriptionRow = { ...purchaseRow, subscription_expiry_unix_ms: 'time' } as const
export type SubscriptionRow = Row<typeof subscriptionRow>

const key = pick(purchases, 'transaction_id')
const page = { limit: 'integer' } as const
const pageOfUser = { user_id: 'text', limit: 'integer' } as const

const select = `SELECT ${purchaseColumns.join(', ')} FROM purchases`
const newestFirst = 'ORDER BY validated_at_unix_ms DESC, transaction_id DESC LIMIT :limit'
/** Spelt like the condition of the indexes, so that PostgreSQL sees that they fit. */
const expires = 'subscription_expiry_unix_ms IS NOT NULL'

/** Of two that add the same transaction at once, one gets nothing back. */
const insert = statement({
  name: 'purchases.insert',
  text: `INSERT INTO purchases (${purchaseColumns.join(', ')})
    VALUES (${purchaseColumns.map((column) => `:${column}`).join(', ')})
    ON CONFLICT (transaction_id) DO NOTHING
    RETURNING transaction_id`,
  params: purchaseRow,
  row: key,
})

const byId = statement({
  name: 'purchases.by-id',
  text: `${select} WHERE transaction_id = :transaction_id`,
  params: key,
  row: purchaseRow,
})

const list = statement({
  name: 'purchases.list',
  text: `${select} ${newestFirst}`,
  params: page,
  row: purchaseRow,
})

const listOfUser = statement({
  name: 'purchases.list-of-user',
  text: `${select} WHERE user_id = :user_id ${newestFirst}`,
  params: pageOfUser,
  row: purchaseRow,
})

const subscriptions = statement({
  name: 'purchases.subscriptions',
  text: `${select} WHERE ${expires} ${newestFirst}`,
  params: page,
  row: subscriptionRow,
})

const subscriptionsOfUser = statement({
  name: 'purchases.subscriptions-of-user',
  text: `${select} WHERE user_id = :user_id AND ${expires} ${newestFirst}`,
  params: pageOfUser,
  row: subscriptionRow,
})

type Page = { user_id?: string | undefined; limit: number }

/** Queries about purchases; every function takes the transaction first. */
export const purchasesStore = {
  /** False when the transaction is recorded already. */
  insert: async (tx: Queries, row: PurchaseRow): Promise<boolean> =>
    (await tx.get(insert, row)) !== undefined,
  byId: (tx: Queries, transaction_id: string) => tx.get(byId, { transaction_id }),
  list: (tx: Queries, { user_id, limit }: Page) =>
    user_id === undefined ? tx.all(list, { limit }) : tx.all(listOfUser, { user_id, limit }),
  subscriptions: (tx: Queries, { user_id, limit }: Page) =>
    user_id === undefined
      ? tx.all(subscriptions, { limit })
      : tx.all(subscriptionsOfUser, { user_id, limit }),
}
