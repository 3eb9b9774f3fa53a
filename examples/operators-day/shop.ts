import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type Day, refused } from './diary.ts'

const dayMs = 86_400_000

/** Purchases are recorded once for everybody; a subscription is one that expires. */
export async function runShop({ client, own, say, expect }: Day): Promise<void> {
  const user_id = own('ana')
  const transaction_id = own('T/1')
  const subscription_expiry_unix_ms = Date.now() + 30 * dayMs
  const said = { transaction_id, product_id: 'season-pass', subscription_expiry_unix_ms }
  const receipt = JSON.stringify(said)
  const body = { user_id, store: 'store_a', receipt } as const
  const bought = await client.purchases.validate({ body })
  expect({
    action: 'purchases.validate',
    target: `transaction ${transaction_id}`,
    details: `store=store_a product=season-pass user=${user_id}`,
  })
  const { validated_at_unix_ms, ...rest } = bought
  const receipt_sha256 = hash('sha256', receipt)
  assert.deepEqual(rest, { ...said, user_id, store: 'store_a', receipt_sha256 })
  assert.deepEqual(await client.purchases.get({ params: { transaction_id } }), bought)
  assert.deepEqual(await client.purchases.list({ query: { user_id } }), { items: [bought] })
  say("validates a receipt for ana's season pass")

  await refused(client.purchases.validate({ body: { ...body, user_id: 'ben' } }), 'conflict')
  const forged = JSON.stringify({ ...said, price: 0 })
  const forgery = client.purchases.validate({ body: { ...body, receipt: forged } })
  await refused(forgery, 'invalid_request')
  await refused(client.purchases.get({ params: { transaction_id: own('T/2') } }), 'not_found')
  const { items } = await client.subscriptions.list({ query: { user_id } })
  assert.deepEqual(
    items.map(({ product_id, status }) => [product_id, status]),
    [['season-pass', 'active']],
  )
  say('sees it among the subscriptions; ben cannot present it again')
}
