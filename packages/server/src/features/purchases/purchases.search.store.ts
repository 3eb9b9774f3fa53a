import type { Queries } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { purchases } from '../../database/tables/purchases.ts'
import { pick } from '../../database/tables/table.ts'

const names = Object.keys(purchases.columns).join(', ')
const sum = { purchases: 'integer', users: 'integer' } as const
const productSum = {
  ...pick(purchases, 'product_id', 'store'),
  ...sum,
  newest_at_unix_ms: 'time',
} as const

/** Newer than `from`, inclusive, and behind a place in the order of the list. */
const bounds = { from: 'time', at: 'time', id: 'text', limit: 'integer' } as const

const narrowing = pick(purchases, 'user_id', 'product_id')
type Narrowing = keyof typeof narrowing

const place = ['validated_at_unix_ms', 'transaction_id']

/** Both ends are places of an index that begins with `first`, so that nothing else is read. */
function rangeOf(first: readonly string[]): string {
  const own = first.map((column) => `:${column}`)
  const range = `(${[...first, ...place].join(', ')})`
  return `${range} >= (${[...own, ':from', "''"].join(', ')})
    AND ${range} < (${[...own, ':at', ':id'].join(', ')})`
}

/** `first` are what its index begins with, `also` what is looked at in each row. */
function defineReads(by: string, first: readonly Narrowing[], also: readonly Narrowing[] = []) {
  const where = [rangeOf(first), ...also.map((column) => `${column} = :${column}`)].join(' AND ')
  const order = [...first, ...place].map((column) => `${column} DESC`).join(', ')
  const used = pick(purchases, ...first, ...also) as typeof narrowing
  const wanted = { ...used, ...bounds }
  const found = `(SELECT product_id, store, user_id, validated_at_unix_ms FROM purchases
    WHERE ${where} ORDER BY ${order} LIMIT :limit) AS found`
  const counted = 'COUNT(*) AS purchases, COUNT(DISTINCT user_id) AS users'
  return {
    page: statement({
      name: `purchases.search${by}`,
      text: `SELECT ${names} FROM purchases WHERE ${where}
        ORDER BY ${order} LIMIT {{unplanned :limit}}`,
      params: wanted,
      row: purchases.columns,
      // Of one user and one product all of the user's are looked through.
      long: also.length > 0,
    }),
    sum: statement({
      name: `purchases.sum${by}`,
      text: `SELECT ${counted} FROM ${found}`,
      params: wanted,
      row: sum,
      long: true,
    }),
    products: statement({
      name: `purchases.sum-of-products${by}`,
      text: `SELECT product_id, store, ${counted}, MAX(validated_at_unix_ms) AS newest_at_unix_ms
        FROM ${found} GROUP BY product_id, store
        ORDER BY purchases DESC, product_id, store LIMIT :products`,
      params: { ...wanted, products: 'integer' },
      row: productSum,
      long: true,
    }),
  }
}

const reads = {
  all: defineReads('', []),
  user: defineReads('.user', ['user_id']),
  product: defineReads('.product', ['product_id']),
  both: defineReads('.user-and-product', ['user_id'], ['product_id']),
}

export type PurchaseFilter = { user_id?: string | undefined; product_id?: string | undefined }
type Bounds = Row<typeof bounds>

/** The statement of exactly what is asked, with its values: each has an index of its own. */
function readsOf({ user_id, product_id }: PurchaseFilter, bounds: Bounds) {
  const values = { user_id: user_id ?? '', product_id: product_id ?? '', ...bounds }
  const { all, user, product, both } = reads
  if (user_id === undefined) return { ...(product_id === undefined ? all : product), values }
  return { ...(product_id === undefined ? user : both), values }
}

/** What finds and counts purchases; every function takes the transaction first. */
export const purchaseSearchStore = {
  page(tx: Queries, filter: PurchaseFilter, bounds: Bounds) {
    const { page, values } = readsOf(filter, bounds)
    return tx.all(page, values)
  },
  async sums(tx: Queries, filter: PurchaseFilter, bounds: Bounds & { products: number }) {
    const { sum, products, values } = readsOf(filter, bounds)
    const [total, named] = await Promise.all([
      tx.get(sum, values),
      tx.all(products, { ...values, products: bounds.products }),
    ])
    return { total: total ?? { purchases: 0, users: 0 }, named }
  },
}
