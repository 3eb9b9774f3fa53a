import type { Migration } from './migration.ts'

/**
 * What happened to one account, by its time. An account's id ends the targets of the audit entries
 * that are about it, and has 37 characters: `account ID`, `GROUP/ID`, `COLLECTION/KEY (user ID)`.
 */
export const stories: Migration = {
  number: 11,
  name: 'stories',
  oldestBinary: '0.1.0',
  steps: [
    'CREATE INDEX sessions_story ON sessions (account_id, created_at_unix_ms, id)',
    'CREATE INDEX friend_edges_story ON friend_edges (user_id, updated_unix_ms, other_id)',
    'CREATE INDEX group_members_story ON group_members (user_id, joined_at_unix_ms, group_id)',
    `CREATE INDEX tournament_entries_story
      ON tournament_entries (user_id, registered_at_unix_ms, tournament_id)`,
    `CREATE INDEX audit_entries_subject
      ON audit_entries ((substr(rtrim(target, ')'), length(rtrim(target, ')')) - 36)), id)`,
  ],
}
