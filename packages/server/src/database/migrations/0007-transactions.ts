import type { Migration } from './migration.ts'

/** The keys under which scripts had operations done together, with what each call answered. */
export const transactions: Migration = {
  number: 7,
  name: 'transactions',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE transaction_keys (
      idempotency_key {{text}} NOT NULL PRIMARY KEY,
      request_digest {{bytes}} NOT NULL CHECK (length(request_digest) = 32),
      results {{text}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX transaction_keys_time ON transaction_keys (created_at_unix_ms)',
  ],
}
