import { beforeAll, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import { testBackends } from '../database/testing/backends.ts'
import { type Examination, examine as examineStore, namesOfChecks } from '../testing/doctor.ts'
import { seedStore } from './doctor.fixture.ts'

/** What the tables refuse is done to a table that lacks the constraint. */
type Breach = {
  check: string
  breaks: string
  sqlite?: readonly string[]
  postgres?: readonly string[]
  by: readonly string[]
  ids: readonly string[]
}

const unchecked = ['PRAGMA ignore_check_constraints = ON']
const unconstrained = (table: string, constraint: string) => [
  `ALTER TABLE ${table} DROP CONSTRAINT ${table}_${constraint}`,
]
/** A copy of a table has neither keys nor references; those that refer to it come first. */
const copied = (...tables: string[]) =>
  tables.flatMap((table) => [
    `CREATE TABLE loose AS SELECT * FROM ${table}`,
    `DROP TABLE ${table}`,
    `ALTER TABLE loose RENAME TO ${table}`,
  ])
const oneMoreNotification =
  "INSERT INTO notifications (user_id, subject, content, code, created_at_unix_ms) VALUES ('ana', 's', '{}', 0, 1)"

const breaches: readonly Breach[] = [
  {
    check: 'matches',
    breaks: 'an open match of a boot that has ended',
    by: ["UPDATE node_boots SET ended_at_unix_ms = 4 WHERE boot_id = 'bt1-now'"],
    ids: ['mt1-open'],
  },
  {
    check: 'matches',
    breaks: 'a closed match without a reason',
    by: ["UPDATE match_records SET termination_reason = NULL WHERE match_id = 'mt1-closed'"],
    ids: ['mt1-closed'],
  },
  {
    check: 'matches',
    breaks: 'an open match with a reason',
    by: [
      "UPDATE match_records SET termination_reason = 'server_closed' WHERE match_id = 'mt1-open'",
    ],
    ids: ['mt1-open'],
  },
  {
    check: 'wallet',
    breaks: 'a negative balance',
    sqlite: unchecked,
    postgres: unconstrained('wallet_balances', 'balance_check'),
    by: ["INSERT INTO wallet_balances (user_id, currency, balance) VALUES ('cy', 'gold', -1)"],
    ids: ['cy gold', 'cy gold'],
  },
  {
    check: 'wallet',
    breaks: 'an entry that does not follow',
    by: ['UPDATE wallet_ledger SET delta = delta + 1 WHERE seq = 3'],
    ids: ['entry 3'],
  },
  {
    check: 'wallet',
    breaks: 'a first entry that does not follow from what is carried',
    by: ["UPDATE wallet_carried SET carried = 8 WHERE user_id = 'ana'"],
    ids: ['entry 1'],
  },
  {
    check: 'wallet',
    breaks: 'numbers at the end of 64 bits',
    by: ['UPDATE wallet_ledger SET delta = -9223372036854775807 WHERE seq = 3'],
    ids: ['entry 3'],
  },
  {
    check: 'wallet',
    breaks: 'a balance that is not that of its newest entry',
    by: ["UPDATE wallet_balances SET balance = 11 WHERE user_id = 'ana'"],
    ids: ['ana gold'],
  },
  {
    check: 'wallet',
    breaks: 'a balance out of nothing',
    by: ["INSERT INTO wallet_balances (user_id, currency, balance) VALUES ('cy', 'gold', 1)"],
    ids: ['cy gold'],
  },
  {
    check: 'wallet',
    breaks: 'entries without a balance',
    by: ["DELETE FROM wallet_balances WHERE user_id = 'bo'"],
    ids: ['bo gold'],
  },
  {
    check: 'accounts',
    breaks: 'two accounts with one username',
    sqlite: copied('identities', 'sessions', 'wallet_balances', 'friend_edges', 'accounts'),
    postgres: unconstrained('accounts', 'username_key'),
    by: ["UPDATE accounts SET username = 'name of ana' WHERE id = 'bo'"],
    ids: ['ana'],
  },
  {
    check: 'accounts',
    breaks: 'an identity without an account',
    sqlite: copied('identities'),
    postgres: unconstrained('identities', 'account_id_fkey'),
    by: ["UPDATE identities SET account_id = 'nobody' WHERE account_id = 'bo'"],
    ids: ['email identity of nobody'],
  },
  {
    check: 'accounts',
    breaks: 'a session without an account',
    by: ["UPDATE sessions SET account_id = 'nobody' WHERE id = 's-bo'"],
    ids: ['session s-bo'],
  },
  {
    check: 'accounts',
    breaks: 'a tombstoned account with an identity',
    by: ["UPDATE identities SET account_id = 'gone' WHERE account_id = 'cy'"],
    ids: ['gone'],
  },
  ...['gone', 'nobody'].map((id): Breach => {
    return {
      check: 'accounts',
      breaks: `last seen of an account that is ${id}`,
      by: [`INSERT INTO account_last_seen (account_id, seen_at_unix_ms) VALUES ('${id}', 1)`],
      ids: [id],
    }
  }),
  ...['disabled', 'tombstoned'].map((state): Breach => {
    return {
      check: 'accounts',
      breaks: `a live session of an account that is ${state}`,
      by: [
        "DELETE FROM identities WHERE account_id = 'bo'",
        `UPDATE accounts SET state = '${state}' WHERE id = 'bo'`,
      ],
      ids: ['bo'],
    }
  }),
  {
    check: 'groups',
    breaks: 'two groups with one name',
    sqlite: [
      ...copied('group_members', 'groups'),
      "INSERT INTO sqlite_sequence (name, seq) VALUES ('groups', 2)",
    ],
    postgres: [
      ...unconstrained('groups', 'name_key'),
      'ALTER TABLE groups ALTER COLUMN id RESTART WITH 3',
      "SELECT nextval(pg_get_serial_sequence('groups', 'id'))",
    ],
    by: [
      `INSERT INTO groups (id, name, description, open, max_size, member_count, members_joined,
        created_at_unix_ms) VALUES (2, 'knights', '', 1, 2, 1, 1, 1)`,
      `INSERT INTO group_members (group_id, user_id, role, join_order, joined_at_unix_ms)
        VALUES (2, 'ana', 'superadmin', 1, 1)`,
      "UPDATE totals SET total = 2 WHERE name = 'groups'",
    ],
    ids: ['1'],
  },
  {
    check: 'groups',
    breaks: 'a wrong member_count',
    by: ['UPDATE groups SET member_count = 1'],
    ids: ['1'],
  },
  {
    check: 'groups',
    breaks: 'a group without a superadmin',
    by: ["UPDATE group_members SET role = 'admin'"],
    ids: ['1'],
  },
  {
    check: 'groups',
    breaks: 'a group beyond its size',
    by: ['UPDATE groups SET max_size = 1, members_kept = 1'],
    ids: ['1'],
  },
  {
    check: 'friends',
    breaks: 'a relation to oneself',
    sqlite: unchecked,
    postgres: unconstrained('friend_edges', 'check'),
    by: ["UPDATE friend_edges SET other_id = 'cy' WHERE state = 'blocked'"],
    ids: ['cy'],
  },
  {
    check: 'friends',
    breaks: 'half a friendship',
    by: ["DELETE FROM friend_edges WHERE user_id = 'bo'"],
    ids: ['ana to bo'],
  },
  {
    check: 'friends',
    breaks: 'a friendship that is an invitation on the other side',
    by: ["UPDATE friend_edges SET state = 'invited_sent' WHERE user_id = 'bo'"],
    ids: ['ana to bo', 'bo to ana'],
  },
  {
    check: 'friends',
    breaks: 'a blocked account that is a friend',
    by: ["UPDATE friend_edges SET state = 'blocked' WHERE user_id = 'bo'"],
    ids: ['ana to bo', 'bo to ana'],
  },
  {
    check: 'chat',
    breaks: 'a counter before its newest id',
    by: ['UPDATE chat_channels SET messages = 2'],
    ids: ['lobby'],
  },
  {
    check: 'chat',
    breaks: 'an id before the first',
    by: ['UPDATE chat_messages SET id = 0 WHERE id = 1'],
    ids: ['lobby#0'],
  },
  {
    check: 'chat',
    breaks: 'one id twice',
    sqlite: copied('chat_messages'),
    postgres: unconstrained('chat_messages', 'pkey'),
    by: ['UPDATE chat_messages SET id = 3 WHERE id = 1'],
    ids: ['lobby#3'],
  },
  {
    check: 'chat',
    breaks: 'a message without a channel',
    sqlite: copied('chat_messages'),
    postgres: unconstrained('chat_messages', 'channel_fkey'),
    by: ["UPDATE chat_messages SET channel = 'nowhere' WHERE id = 1"],
    ids: ['nowhere#1'],
  },
  {
    check: 'chat',
    breaks: 'a deleted message with content',
    by: ['UPDATE chat_messages SET deleted = 1 WHERE id = 3'],
    ids: ['lobby#3'],
  },
  {
    check: 'chat',
    breaks: 'more history than is kept',
    by: [
      'UPDATE chat_channels SET messages = 4',
      `INSERT INTO chat_messages SELECT channel, 4, sender, content, created_at_unix_ms,
        updated_at_unix_ms, revision, last_event_id, deleted FROM chat_messages WHERE id = 1`,
    ],
    ids: ['lobby'],
  },
  {
    check: 'sequences',
    breaks: 'a sequence behind its table',
    sqlite: ["UPDATE sqlite_sequence SET seq = 1 WHERE name = 'wallet_ledger'"],
    postgres: ['ALTER TABLE wallet_ledger ALTER COLUMN seq RESTART WITH 1'],
    by: [],
    ids: ['wallet_ledger'],
  },
  {
    check: 'sequences',
    breaks: 'more notifications than are kept',
    by: [
      oneMoreNotification,
      "UPDATE notification_totals SET total = total + 1 WHERE audience = 'all' OR user_id = 'ana'",
    ],
    ids: ['notifications'],
  },
  {
    check: 'sequences',
    breaks: 'more of the ledger than is kept',
    by: [
      `INSERT INTO wallet_ledger (user_id, currency, delta, balance_after, reason, time_unix_ms)
        VALUES ('bo', 'gold', 0, 20, 'because', 1)`,
    ],
    ids: ['wallet_ledger'],
  },
  {
    check: 'api_keys',
    breaks: 'an unknown scope',
    by: ["UPDATE api_keys SET scopes = 'audit:read,audit:write' WHERE id = 'key-1'"],
    ids: ['key-1'],
  },
  {
    check: 'api_keys',
    breaks: 'no scope',
    by: ["UPDATE api_keys SET scopes = '' WHERE id = 'key-2'"],
    ids: ['key-2'],
  },
  {
    check: 'api_keys',
    breaks: 'a generation before the first',
    sqlite: unchecked,
    postgres: unconstrained('api_keys', 'generation_check'),
    by: ["UPDATE api_keys SET generation = 0 WHERE id = 'key-1'"],
    ids: ['key-1'],
  },
  {
    check: 'api_keys',
    breaks: 'a verifier that is too short',
    sqlite: [...unchecked, "UPDATE api_keys SET secret_digest = x'00' WHERE id = 'key-1'"],
    postgres: [
      ...unconstrained('api_keys', 'secret_digest_check'),
      "UPDATE api_keys SET secret_digest = '\\x00' WHERE id = 'key-1'",
    ],
    by: [],
    ids: ['key-1'],
  },
  {
    check: 'audit',
    breaks: 'a changed entry',
    by: ["UPDATE audit_entries SET target = 'other' WHERE seq = 2"],
    ids: ['seq 2 is changed or out of place'],
  },
  {
    check: 'audit',
    breaks: 'a missing entry',
    by: ['DELETE FROM audit_entries WHERE seq = 3'],
    ids: ['seq 3 is missing'],
  },
  {
    check: 'schema',
    breaks: 'a migration of another binary',
    by: ["UPDATE schema_migrations SET checksum = 'other' WHERE number = 1"],
    ids: ['migration 1 (foundation) of the store is not the one of this binary'],
  },
  {
    check: 'schema',
    breaks: 'a lease that nobody could have taken',
    by: ["UPDATE leases SET token = 0 WHERE name = 'sealer'"],
    ids: ['sealer'],
  },
]

describe.each(testBackends)('the doctor on $name', ({ open }) => {
  let db: OpenedDatabase
  beforeAll(async () => {
    const test = await open()
    db = test.db
    await seedStore(db)
    return () => test.dispose()
  })

  const examine = (meddling: readonly string[], more: Examination = {}) =>
    examineStore(db, { ...more, meddling })

  it('[O-DOC-1] finds nothing where nothing is wrong, and looks at everything', async () => {
    const diagnoses = await examineStore(db)
    expect(diagnoses.map(({ name, ok, violations }) => [name, ok, violations])).toEqual(
      (await namesOfChecks(db)).map((name) => [name, true, 0]),
    )
    const rows = Object.fromEntries(diagnoses.map(({ name, rows }) => [name, rows]))
    expect(rows).toMatchObject({ wallet: 6, accounts: 10, groups: 3, friends: 5, chat: 4 })
    expect(rows).toMatchObject({ api_keys: 2, audit: 3, matches: 2 })
  })

  it('[O-DOC-1] takes max_size 0 for what it is: a group without a limit', async () => {
    const meddling = ['UPDATE groups SET max_size = 0']
    expect((await examine(meddling)).filter(({ ok }) => !ok)).toEqual([])
  })

  it('[O-DOC-1] [H-GRP-3] lets members stay who were there when max_size fell', async () => {
    const meddling = ['UPDATE groups SET max_size = 1, members_kept = 2']
    expect((await examine(meddling)).filter(({ ok }) => !ok)).toEqual([])
  })

  it.each(breaches)(
    '[O-DOC-1] the check $check finds $breaks, and no other does',
    async (breach) => {
      const { check, by, ids, sqlite = [], postgres = [] } = breach
      const meddling = [...(db.backend === 'postgres' ? postgres : sqlite), ...by]
      const failed = (await examine(meddling)).filter(({ ok }) => !ok)
      expect(failed.map(({ name }) => name)).toEqual([check])
      expect(failed[0]?.violations).toBe(ids.length)
      expect(failed[0]?.examples.map(({ id }) => id)).toEqual(ids)
    },
  )

  it('[O-DOC-1] gives as many examples as are wanted, and counts all', async () => {
    const meddling = ["UPDATE friend_edges SET state = 'blocked' WHERE user_id = 'bo'"]
    for (const examplesMax of [0, 1, 2]) {
      const [friends] = await examine(meddling, { only: ['friends'], examplesMax })
      expect(friends).toMatchObject({ ok: false, rows: 5, violations: 2 })
      expect(friends?.examples).toHaveLength(examplesMax)
    }
  })

  it('[O-DOC-1] says that a migration is missing, and does not guess at the rest', async () => {
    const meddling = ['DELETE FROM schema_migrations WHERE number = 2']
    const [schema] = await examine(meddling, { only: ['schema'] })
    expect(schema).toMatchObject({ ok: false, violations: 1 })
    await expect(examine(meddling)).rejects.toThrow('migrations are pending')
  })
})
