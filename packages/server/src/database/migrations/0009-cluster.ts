import type { Migration } from './migration.ts'

/** What the nodes of a deployment that play together agree on. */
export const cluster: Migration = {
  number: 9,
  name: 'cluster',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE cluster_nodes (
      slot {{bigint}} NOT NULL PRIMARY KEY,
      node_id {{text}} NOT NULL,
      boot_id {{text}} NOT NULL,
      version {{text}} NOT NULL,
      state {{text}} NOT NULL CHECK (state IN ('live', 'draining', 'free')),
      renewals {{bigint}} NOT NULL,
      rooms {{bigint}} NOT NULL,
      connections {{bigint}} NOT NULL,
      settings_json {{text}} NOT NULL,
      freed {{bigint}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX cluster_nodes_boot ON cluster_nodes (boot_id)',
    `CREATE TABLE cluster_names (
      name {{text}} NOT NULL PRIMARY KEY,
      room_id {{bigint}} NOT NULL,
      boot_id {{text}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX cluster_names_boot ON cluster_names (boot_id)',
    `CREATE TABLE cluster_sessions (
      session_id {{text}} NOT NULL PRIMARY KEY,
      user_id {{text}} NOT NULL,
      participant {{bigint}} NOT NULL,
      boot_id {{text}} NOT NULL,
      room_id {{bigint}},
      replaced_boot_id {{text}},
      replaced_participant {{bigint}}
    ) {{strict}}`,
    'CREATE INDEX cluster_sessions_user ON cluster_sessions (user_id)',
    'CREATE INDEX cluster_sessions_boot ON cluster_sessions (boot_id)',
    `CREATE TABLE cluster_seats (
      boot_id {{text}} NOT NULL,
      participant {{bigint}} NOT NULL,
      session_id {{text}} NOT NULL,
      user_id {{text}} NOT NULL,
      room_id {{bigint}} NOT NULL,
      dropped_at_unix_ms {{bigint}} NOT NULL,
      PRIMARY KEY (boot_id, participant)
    ) {{strict}}`,
    'CREATE INDEX cluster_seats_user ON cluster_seats (user_id)',
    `CREATE TABLE cluster_roles (
      role {{text}} NOT NULL PRIMARY KEY,
      holder {{text}} NOT NULL,
      generation {{bigint}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX cluster_roles_holder ON cluster_roles (holder)',
  ],
}
