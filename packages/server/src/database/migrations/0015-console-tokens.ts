import type { Migration } from './migration.ts'

/** Tokens of operators, where nodes play together. */
export const consoleTokens: Migration = {
  number: 15,
  name: 'console-tokens',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE console_tokens (
      digest {{bytes}} NOT NULL PRIMARY KEY,
      username {{text}} NOT NULL,
      role {{text}} NOT NULL CHECK (role IN ('admin', 'viewer')),
      expires_at_unix_ms {{bigint}} NOT NULL,
      boot_id {{text}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX console_tokens_expiry ON console_tokens (expires_at_unix_ms)',
  ],
}
