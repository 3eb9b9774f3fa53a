import type { Migration } from './migration.ts'

/** Accounts and their sessions, admission windows, the audit trail and deployment secrets. */
export const foundation: Migration = {
  number: 1,
  name: 'foundation',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE deployment_secrets (
      name {{text}} NOT NULL PRIMARY KEY,
      secret {{bytes}} NOT NULL
    ) {{strict}}`,
    `CREATE TABLE accounts (
      id {{text}} NOT NULL PRIMARY KEY,
      username {{text}} NOT NULL UNIQUE,
      display_name {{text}},
      metadata {{text}},
      state {{text}} NOT NULL CHECK (state IN ('active', 'disabled', 'tombstoned')),
      created_at_unix_ms {{bigint}} NOT NULL,
      updated_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    `CREATE TABLE identities (
      provider {{text}} NOT NULL CHECK (provider IN ('device', 'custom', 'email')),
      external_id {{text}} NOT NULL,
      account_id {{text}} NOT NULL REFERENCES accounts (id),
      password_verifier {{text}},
      created_at_unix_ms {{bigint}} NOT NULL,
      PRIMARY KEY (provider, external_id)
    ) {{strict}}`,
    'CREATE INDEX identities_account ON identities (account_id)',
    `CREATE TABLE sessions (
      id {{text}} NOT NULL PRIMARY KEY,
      account_id {{text}} NOT NULL,
      access_digest {{bytes}} NOT NULL UNIQUE,
      refresh_digest {{bytes}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL,
      access_expires_at_unix_ms {{bigint}} NOT NULL,
      refresh_expires_at_unix_ms {{bigint}} NOT NULL,
      revoked_at_unix_ms {{bigint}}
    ) {{strict}}`,
    `CREATE INDEX sessions_live_of_account ON sessions (account_id)
      WHERE revoked_at_unix_ms IS NULL`,
    'CREATE INDEX sessions_refresh_expires ON sessions (refresh_expires_at_unix_ms)',
    `CREATE INDEX sessions_revoked ON sessions (revoked_at_unix_ms)
      WHERE revoked_at_unix_ms IS NOT NULL`,
    `CREATE TABLE rotated_refresh_digests (
      refresh_digest {{bytes}} NOT NULL PRIMARY KEY,
      session_id {{text}} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE
    ) {{strict}}`,
    'CREATE INDEX rotated_refresh_digests_session ON rotated_refresh_digests (session_id)',
    `CREATE TABLE session_revocations (
      seq {{identity}},
      session_id {{text}} NOT NULL,
      revoked_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX session_revocations_time ON session_revocations (revoked_at_unix_ms)',
    `CREATE TABLE admission_windows (
      key_digest {{bytes}} NOT NULL,
      starts_at_unix_ms {{bigint}} NOT NULL,
      ends_at_unix_ms {{bigint}} NOT NULL,
      taken {{bigint}} NOT NULL,
      PRIMARY KEY (key_digest, starts_at_unix_ms)
    ) {{strict}}`,
    'CREATE INDEX admission_windows_end ON admission_windows (ends_at_unix_ms)',
    // What mutations add, at the end of one tree: no index is written on their way.
    `CREATE TABLE audit_unsealed (
      number {{counter}},
      id {{text}} NOT NULL,
      node_id {{text}} NOT NULL,
      time_unix_ms {{bigint}} NOT NULL,
      actor_type {{text}} NOT NULL,
      actor {{text}} NOT NULL,
      role {{text}} NOT NULL,
      credential_id {{text}},
      key_name {{text}},
      key_scopes {{text}},
      action {{text}} NOT NULL,
      target {{text}} NOT NULL,
      details {{text}} NOT NULL,
      match_id {{text}}
    ) {{strict}}`,
    `CREATE TABLE audit_entries (
      seq {{bigint}} NOT NULL PRIMARY KEY,
      id {{text}} NOT NULL UNIQUE,
      node_id {{text}} NOT NULL,
      time_unix_ms {{bigint}} NOT NULL,
      actor_type {{text}} NOT NULL,
      actor {{text}} NOT NULL,
      role {{text}} NOT NULL,
      credential_id {{text}},
      key_name {{text}},
      key_scopes {{text}},
      action {{text}} NOT NULL,
      target {{text}} NOT NULL,
      details {{text}} NOT NULL,
      match_id {{text}},
      hash {{bytes}} NOT NULL,
      keyed {{bigint}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX audit_entries_actor ON audit_entries (actor, id)',
    'CREATE INDEX audit_entries_action ON audit_entries (action, id)',
    `CREATE INDEX audit_entries_match ON audit_entries (match_id, id)
      WHERE match_id IS NOT NULL`,
    `CREATE TABLE leases (
      name {{text}} NOT NULL PRIMARY KEY,
      holder {{text}} NOT NULL,
      token {{bigint}} NOT NULL,
      expires_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    `CREATE TABLE node_boots (
      boot_id {{text}} NOT NULL PRIMARY KEY,
      node_id {{text}} NOT NULL,
      started_at_unix_ms {{bigint}} NOT NULL,
      seen_at_unix_ms {{bigint}} NOT NULL,
      ended_at_unix_ms {{bigint}}
    ) {{strict}}`,
    'CREATE INDEX node_boots_node ON node_boots (node_id)',
  ],
}
