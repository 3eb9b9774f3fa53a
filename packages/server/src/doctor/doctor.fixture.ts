import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import { statement } from '../database/statement.ts'
import { sealerOn } from '../features/audit/chain/sealer.fixture.ts'
import { createSystemClock } from '../kernel/clock.ts'

/** A small deployment in which everything is as it should be. */
export async function seedStore(db: OpenedDatabase): Promise<void> {
  await meddle(db, rows)
  for (const secret_digest of [1, 2]) {
    const digest = new Uint8Array(32).fill(secret_digest)
    await db.run(insertKey, { id: `key-${secret_digest}`, secret_digest: digest })
  }
  for (const [id, account_id, state] of sessions) {
    const revoked_at_unix_ms = state === 'revoked' ? 1 : null
    const digest = new Uint8Array(Buffer.from(id))
    await db.run(insertSession, { id, account_id, digest, revoked_at_unix_ms })
  }
  await sealerOn(db, createSystemClock()).seal()
}

/** Runs text that no feature would. */
export async function meddle(db: OpenedDatabase, texts: readonly string[]): Promise<void> {
  await db.schema.transaction(async (tx) => {
    for (const text of texts) await tx.ddl(text)
  })
}

const sessions = [
  ['s-ana', 'ana', 'live'],
  ['s-bo', 'bo', 'live'],
  ['s-gone', 'gone', 'revoked'],
] as const

const insertSession = statement({
  name: 'doctor-test.session',
  text: `INSERT INTO sessions (id, account_id, access_digest, refresh_digest, created_at_unix_ms,
      access_expires_at_unix_ms, refresh_expires_at_unix_ms, revoked_at_unix_ms)
    VALUES (:id, :account_id, :digest, :digest, 1, {{now}}, {{now}} + 86400000,
      :revoked_at_unix_ms)`,
  params: { id: 'text', account_id: 'text', digest: 'bytes', revoked_at_unix_ms: 'integer?' },
})

const insertKey = statement({
  name: 'doctor-test.key',
  text: `INSERT INTO api_keys (id, name, scopes, generation, secret_digest, created_at)
    VALUES (:id, 'ci', 'audit:read,logs:read', 1, :secret_digest, 1)`,
  params: { id: 'text', secret_digest: 'bytes' },
})

const message = (id: number, deleted: 0 | 1) =>
  `INSERT INTO chat_messages (channel, id, sender, content, created_at_unix_ms, updated_at_unix_ms,
    revision, last_event_id, deleted)
  VALUES ('lobby', ${id}, 'ana', '${deleted === 1 ? '' : 'hello'}', 1, 1, 1, ${id}, ${deleted})`

const edge = (user: string, other: string, state: string) =>
  `INSERT INTO friend_edges (user_id, other_id, state, updated_unix_ms)
  VALUES ('${user}', '${other}', '${state}', 1)`

const entry = (user: string, delta: number, balance: number) =>
  `INSERT INTO wallet_ledger (user_id, currency, delta, balance_after, reason, time_unix_ms)
  VALUES ('${user}', 'gold', ${delta}, ${balance}, 'because', 1)`

const match = (id: string, boot: string, closing: string) =>
  `INSERT INTO match_records (match_id, node_id, boot_id, room_id, map, mode, max_players,
    opened_at_unix_ms, peak_participants, join_total, closed_at_unix_ms, termination_reason)
  VALUES ('${id}', 'dev-1', '${boot}', 1, 'm', '', 0, 1, 1, 1, ${closing})`

const rows = [
  ...[
    ['ana', 'active'],
    ['bo', 'active'],
    ['cy', 'disabled'],
    ['gone', 'tombstoned'],
  ].map(
    ([id, state]) => `INSERT INTO accounts (id, username, state, created_at_unix_ms,
      updated_at_unix_ms) VALUES ('${id}', 'name of ${id}', '${state}', 1, 1)`,
  ),
  ...['ana', 'bo', 'cy'].map(
    (id) => `INSERT INTO identities (provider, external_id, account_id, created_at_unix_ms)
      VALUES ('email', '${id}@example.org', '${id}', 1)`,
  ),
  "INSERT INTO wallet_carried (user_id, currency, carried) VALUES ('ana', 'gold', 7)",
  entry('ana', 5, 12),
  entry('bo', 20, 20),
  entry('ana', -2, 10),
  "INSERT INTO wallet_balances (user_id, currency, balance) VALUES ('ana', 'gold', 10)",
  "INSERT INTO wallet_balances (user_id, currency, balance) VALUES ('bo', 'gold', 20)",
  `INSERT INTO groups (name, description, open, max_size, member_count, members_joined,
    created_at_unix_ms) VALUES ('knights', '', 1, 2, 2, 2, 1)`,
  `INSERT INTO group_members (group_id, user_id, role, join_order, joined_at_unix_ms)
    VALUES (1, 'ana', 'superadmin', 1, 1)`,
  `INSERT INTO group_members (group_id, user_id, role, join_order, joined_at_unix_ms)
    VALUES (1, 'bo', 'member', 2, 1)`,
  edge('ana', 'bo', 'friend'),
  edge('bo', 'ana', 'friend'),
  edge('cy', 'ana', 'invited_sent'),
  edge('ana', 'cy', 'invited_received'),
  edge('cy', 'bo', 'blocked'),
  `INSERT INTO chat_channels (channel, channel_type, messages, events, last_activity_unix_ms)
    VALUES ('lobby', 'room', 3, 3, 1)`,
  message(1, 0),
  message(2, 1),
  message(3, 0),
  ...['ana', 'bo'].map(
    (user) => `INSERT INTO notifications (user_id, subject, content, code, created_at_unix_ms)
      VALUES ('${user}', 'subject', '{}', 0, 1)`,
  ),
  "INSERT INTO totals (name, total) VALUES ('groups', 1), ('chat_channels', 1)",
  "UPDATE notification_totals SET total = 2 WHERE audience = 'all'",
  `INSERT INTO notification_totals (audience, user_id, total)
    VALUES ('user', 'ana', 1), ('user', 'bo', 1)`,
  "UPDATE accounts SET counted = 1 WHERE id <> 'cy'",
  "UPDATE account_totals SET accounts = 3 WHERE name = 'counted'",
  `INSERT INTO node_boots (boot_id, node_id, started_at_unix_ms, seen_at_unix_ms, ended_at_unix_ms)
    VALUES ('bt1-past', 'dev-1', 1, 1, 2), ('bt1-now', 'dev-1', 3, 3, NULL)`,
  match('mt1-open', 'bt1-now', 'NULL, NULL'),
  match('mt1-closed', 'bt1-past', "2, 'final_departure'"),
  ...['a', 'b', 'c'].map(
    (id) => `INSERT INTO audit_unsealed (id, node_id, time_unix_ms, actor_type, actor, role, action,
      target, details) VALUES ('au1-${id}', 'dev-1', 1, 'human', 'admin', 'admin', 'groups.create',
      'knights', '')`,
  ),
]
