import { ofOneUser } from '../../database/reads/of-one-user.ts'
import { statement } from '../../database/statement.ts'
import { purchases } from '../../database/tables/purchases.ts'
import { pick } from '../../database/tables/table.ts'
import type { Stories } from '../feature.ts'

const place = { 'p.validated_at_unix_ms': ':at_unix_ms', 'p.transaction_id': ':ref' }

const boughtBy = statement({
  name: 'purchases.bought-by',
  text: `SELECT p.transaction_id, p.product_id, p.store, p.validated_at_unix_ms FROM purchases p
    WHERE ${ofOneUser('p.user_id', place)}`,
  params: { user_id: 'text', at_unix_ms: 'time', ref: 'text', limit: 'integer' },
  row: pick(purchases, 'transaction_id', 'product_id', 'store', 'validated_at_unix_ms'),
})

/** What a user has bought. */
export const purchaseStory: Stories['purchase'] = {
  scope: 'purchases:read',
  async read(tx, { user_id, before, limit }) {
    const rows = await tx.all(boughtBy, { user_id, ...before, limit })
    return rows.map(({ transaction_id, product_id, store, validated_at_unix_ms }) => ({
      at_unix_ms: validated_at_unix_ms,
      ref: transaction_id,
      text: `bought ${product_id} at ${store}`,
    }))
  },
}
