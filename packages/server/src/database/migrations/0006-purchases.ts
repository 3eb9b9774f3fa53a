import type { Migration } from './migration.ts'

/** Validated purchases; a subscription is a purchase that expires. */
export const purchases: Migration = {
  number: 6,
  name: 'purchases',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE purchases (
      transaction_id {{text}} NOT NULL PRIMARY KEY,
      user_id {{text}} NOT NULL,
      product_id {{text}} NOT NULL,
      store {{text}} NOT NULL CHECK (store IN ('store_a', 'store_b', 'store_c', 'custom')),
      receipt_digest {{bytes}} NOT NULL CHECK (length(receipt_digest) = 32),
      validated_at_unix_ms {{bigint}} NOT NULL,
      subscription_expiry_unix_ms {{bigint}}
    ) {{strict}}`,
    'CREATE INDEX purchases_time ON purchases (validated_at_unix_ms, transaction_id)',
    'CREATE INDEX purchases_user ON purchases (user_id, validated_at_unix_ms, transaction_id)',
    `CREATE INDEX purchases_subscription_time ON purchases (validated_at_unix_ms, transaction_id)
      WHERE subscription_expiry_unix_ms IS NOT NULL`,
    `CREATE INDEX purchases_subscription_user
      ON purchases (user_id, validated_at_unix_ms, transaction_id)
      WHERE subscription_expiry_unix_ms IS NOT NULL`,
  ],
}
