import type { Migration } from './migration.ts'

/** What operators run about people: keys, wallets, friends, groups, notifications, chat. */
export const people: Migration = {
  number: 2,
  name: 'people',
  oldestBinary: '0.1.0',
  steps: [
    // Every account is counted once: until then it stands in the index, from then on in the total.
    'ALTER TABLE accounts ADD COLUMN counted {{bigint}} NOT NULL DEFAULT 0',
    'CREATE INDEX accounts_uncounted ON accounts (id) WHERE counted = 0',
    `CREATE TABLE account_totals (
      name {{text}} NOT NULL PRIMARY KEY,
      accounts {{bigint}} NOT NULL
    ) {{strict}}`,
    `INSERT INTO account_totals (name, accounts) VALUES ('counted', 0)`,
    `CREATE TABLE idempotency_records (
      principal {{text}} NOT NULL,
      target {{text}} NOT NULL,
      idempotency_key {{text}} NOT NULL,
      body_digest {{bytes}} NOT NULL,
      status {{bigint}} NOT NULL,
      answer {{text}},
      created_at_unix_ms {{bigint}} NOT NULL,
      PRIMARY KEY (principal, target, idempotency_key)
    ) {{strict}}`,
    'CREATE INDEX idempotency_records_time ON idempotency_records (created_at_unix_ms)',
    `CREATE TABLE api_keys (
      id {{text}} NOT NULL PRIMARY KEY,
      name {{text}} NOT NULL,
      scopes {{text}} NOT NULL,
      generation {{bigint}} NOT NULL CHECK (generation >= 1),
      secret_digest {{bytes}} NOT NULL CHECK (length(secret_digest) = 32),
      created_at {{bigint}} NOT NULL,
      expires_at {{bigint}},
      revoked_at {{bigint}},
      last_used_at {{bigint}}
    ) {{strict}}`,
    `CREATE TABLE audit_chain_ends (
      name {{text}} NOT NULL PRIMARY KEY CHECK (name IN ('anchor', 'head')),
      seq {{bigint}} NOT NULL,
      hash {{bytes}} NOT NULL
    ) {{strict}}`,
    `CREATE TABLE wallet_balances (
      user_id {{text}} NOT NULL REFERENCES accounts (id),
      currency {{text}} NOT NULL,
      balance {{bigint}} NOT NULL CHECK (balance >= 0),
      PRIMARY KEY (user_id, currency)
    ) {{strict}}`,
    `CREATE TABLE wallet_ledger (
      seq {{identity}},
      user_id {{text}} NOT NULL,
      currency {{text}} NOT NULL,
      delta {{bigint}} NOT NULL,
      balance_after {{bigint}} NOT NULL,
      reason {{text}} NOT NULL,
      time_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX wallet_ledger_user ON wallet_ledger (user_id, seq)',
    `CREATE TABLE wallet_carried (
      user_id {{text}} NOT NULL,
      currency {{text}} NOT NULL,
      carried {{bigint}} NOT NULL,
      PRIMARY KEY (user_id, currency)
    ) {{strict}}`,
    `CREATE TABLE wallet_keys (
      user_id {{text}} NOT NULL,
      idempotency_key {{text}} NOT NULL,
      currency {{text}} NOT NULL,
      delta {{bigint}} NOT NULL,
      balance_after {{bigint}} NOT NULL,
      seq {{bigint}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL,
      PRIMARY KEY (user_id, idempotency_key)
    ) {{strict}}`,
    'CREATE INDEX wallet_keys_time ON wallet_keys (created_at_unix_ms)',
    `CREATE TABLE friend_edges (
      user_id {{text}} NOT NULL REFERENCES accounts (id),
      other_id {{text}} NOT NULL REFERENCES accounts (id),
      state {{text}} NOT NULL
        CHECK (state IN ('invited_sent', 'invited_received', 'friend', 'blocked')),
      updated_unix_ms {{bigint}} NOT NULL,
      PRIMARY KEY (user_id, other_id),
      CHECK (user_id <> other_id)
    ) {{strict}}`,
    `CREATE TABLE totals (
      name {{text}} NOT NULL PRIMARY KEY,
      total {{bigint}} NOT NULL CHECK (total >= 0)
    ) {{strict}}`,
    // An operator may set max_size below the number of members: `members_kept` of them may stay.
    `CREATE TABLE groups (
      id {{identity}},
      name {{text}} NOT NULL UNIQUE,
      description {{text}} NOT NULL,
      open {{bigint}} NOT NULL,
      max_size {{bigint}} NOT NULL,
      members_kept {{bigint}} NOT NULL DEFAULT 0,
      member_count {{bigint}} NOT NULL,
      members_joined {{bigint}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    `CREATE TABLE group_members (
      group_id {{bigint}} NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
      user_id {{text}} NOT NULL,
      role {{text}} NOT NULL CHECK (role IN ('member', 'admin', 'superadmin')),
      join_order {{bigint}} NOT NULL,
      joined_at_unix_ms {{bigint}} NOT NULL,
      PRIMARY KEY (group_id, user_id)
    ) {{strict}}`,
    'CREATE UNIQUE INDEX group_members_order ON group_members (group_id, join_order)',
    'CREATE INDEX group_members_user ON group_members (user_id, group_id)',
    `CREATE INDEX group_members_superadmin ON group_members (group_id, user_id)
      WHERE role = 'superadmin'`,
    `CREATE TABLE notifications (
      id {{identity}},
      user_id {{text}},
      subject {{text}} NOT NULL,
      content {{text}} NOT NULL,
      code {{bigint}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL,
      read_at_unix_ms {{bigint}}
    ) {{strict}}`,
    'CREATE INDEX notifications_user ON notifications (user_id, id)',
    'CREATE INDEX notifications_broadcast ON notifications (id) WHERE user_id IS NULL',
    `CREATE TABLE notification_totals (
      audience {{text}} NOT NULL CHECK (audience IN ('all', 'broadcast', 'user')),
      user_id {{text}} NOT NULL,
      total {{bigint}} NOT NULL CHECK (total >= 0),
      PRIMARY KEY (audience, user_id)
    ) {{strict}}`,
    "INSERT INTO notification_totals (audience, user_id, total) VALUES ('all', '', 0)",
    `CREATE TABLE chat_channels (
      channel {{text}} NOT NULL PRIMARY KEY,
      channel_type {{text}} NOT NULL CHECK (channel_type IN ('room', 'group', 'direct')),
      messages {{bigint}} NOT NULL,
      events {{bigint}} NOT NULL,
      last_activity_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX chat_channels_activity ON chat_channels (last_activity_unix_ms DESC, channel)',
    `CREATE TABLE chat_messages (
      channel {{text}} NOT NULL REFERENCES chat_channels (channel),
      id {{bigint}} NOT NULL,
      sender {{text}} NOT NULL,
      content {{text}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL,
      updated_at_unix_ms {{bigint}} NOT NULL,
      revision {{bigint}} NOT NULL,
      last_event_id {{bigint}} NOT NULL,
      deleted {{bigint}} NOT NULL,
      PRIMARY KEY (channel, id)
    ) {{strict}}`,
    `CREATE TABLE chat_moderation (
      id {{identity}},
      time_unix_ms {{bigint}} NOT NULL,
      actor_kind {{text}} NOT NULL,
      actor_digest {{bytes}} NOT NULL,
      channel_digest {{bytes}} NOT NULL,
      author_digest {{bytes}} NOT NULL,
      action {{text}} NOT NULL,
      message_id {{bigint}} NOT NULL,
      node_id {{text}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX chat_moderation_time ON chat_moderation (time_unix_ms)',
  ],
}
