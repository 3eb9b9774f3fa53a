import type { Migration } from './migration.ts'

/** Purchases by what was bought. */
export const products: Migration = {
  number: 14,
  name: 'products',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE INDEX purchases_product
      ON purchases (product_id, validated_at_unix_ms, transaction_id)`,
  ],
}
