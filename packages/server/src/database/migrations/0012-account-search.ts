import type { Migration } from './migration.ts'

/**
 * What accounts are found by. A display name is kept once more with its case folded, which only the
 * code can do: names from before are folded by a task, and stand in `accounts_unfolded` until then.
 */
export const accountSearch: Migration = {
  number: 12,
  name: 'account-search',
  oldestBinary: '0.1.0',
  steps: [
    'ALTER TABLE accounts ADD COLUMN display_folded {{text}}',
    `CREATE INDEX accounts_display ON accounts (display_folded, id)
      WHERE display_folded IS NOT NULL`,
    `CREATE INDEX accounts_unfolded ON accounts (id)
      WHERE display_name IS NOT NULL AND display_folded IS NULL`,
    `CREATE INDEX accounts_not_active ON accounts (state, id) WHERE state <> 'active'`,
    'CREATE INDEX accounts_created ON accounts (created_at_unix_ms, state, id)',
  ],
}
