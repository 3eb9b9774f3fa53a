import { expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { sessionsStore } from './sessions.store.ts'

const postgres = testBackends.filter(({ name }) => name === 'postgres')
const accounts = 4000
const refreshed = 16
const hour = 3_600_000

const seedAccounts = statement({
  name: 'sessions-test.accounts',
  text: `INSERT INTO accounts (id, username, state, created_at_unix_ms, updated_at_unix_ms, counted)
    SELECT 'account-' || i, 'player-' || i, 'active', 1, 1, 1
    FROM generate_series(1, ${accounts}) AS i`,
})
const seedSessions = statement({
  name: 'sessions-test.sessions',
  text: `INSERT INTO sessions (id, account_id, access_digest, refresh_digest, created_at_unix_ms,
      access_expires_at_unix_ms, refresh_expires_at_unix_ms)
    SELECT 'session-' || i, 'account-' || i, decode(lpad(to_hex(i), 64, '0'), 'hex'),
      decode(lpad(to_hex(i), 64, 'f'), 'hex'), 1, ${hour}, ${hour}
    FROM generate_series(1, ${accounts}) AS i`,
})
const seedIdentities = statement({
  name: 'sessions-test.identities',
  text: `INSERT INTO identities (provider, external_id, account_id, created_at_unix_ms)
    SELECT 'device', 'device-' || i, 'account-' || i, 1 FROM generate_series(1, ${accounts}) AS i`,
})
/** Rows that this connection has read: of earlier transactions too, until it reports them. */
const rowsRead = statement({
  name: 'sessions-test.rows-read',
  text: `SELECT CAST(SUM(seq_tup_read + idx_tup_fetch) AS bigint) AS rows
    FROM pg_stat_xact_user_tables WHERE relname IN ('accounts', 'sessions')`,
  row: { rows: 'integer' },
})
/** Those of them that no index led to. */
const rowsScanned = statement({
  name: 'sessions-test.rows-scanned',
  text: `SELECT CAST(SUM(seq_tup_read) AS bigint) AS rows FROM pg_stat_xact_user_tables
    WHERE relname IN ('accounts', 'identities')`,
  row: { rows: 'integer' },
})

it.each(postgres)(
  '[H-PLY-10] refreshes read their own sessions only, of tables never analysed too',
  async ({ open }) => {
    const { db, dispose } = await open()
    await db.run(seedAccounts, {})
    await db.run(seedSessions, {})
    // A plan is kept from the sixth use on.
    for (let round = 1; round <= 8; round += 1) {
      const changes = Array.from({ length: refreshed }, (_, at) => {
        const number = round * refreshed + at
        return {
          access_digest: digest(number, '0'),
          refresh_digest: digest(number, 'f'),
          next_access_digest: digest(number, 'a'),
          next_refresh_digest: digest(number, 'b'),
          access_expires_at_unix_ms: 2 * hour,
          refresh_expires_at_unix_ms: 2 * hour,
          now_unix_ms: 1,
        }
      })
      const { rotated, read } = await db.transaction(async (tx) => ({
        rotated: await sessionsStore.rotate(tx, changes),
        read: await tx.get(rowsRead, {}),
      }))
      expect(rotated).toHaveLength(refreshed)
      expect(read?.rows).toBeLessThan(10 * refreshed * round)
    }
    await dispose()
  },
)

it.each(postgres)(
  '[H-PLY-3] logins seek their accounts one by one, in tables of some thousand rows too',
  async ({ open }) => {
    const { db, dispose } = await open()
    await db.run(seedAccounts, {})
    await db.run(seedIdentities, {})
    for (let round = 1; round <= 8; round += 1) {
      const logins = Array.from({ length: refreshed }, (_, at) => {
        const number = round * refreshed + at
        return {
          provider: 'device',
          external_id: `device-${number}`,
          id: `session-${number}`,
          access_digest: digest(number, '0'),
          refresh_digest: digest(number, 'f'),
          created_at_unix_ms: 1,
          access_expires_at_unix_ms: hour,
          refresh_expires_at_unix_ms: hour,
        }
      })
      const { added, scanned } = await db.transaction(async (tx) => ({
        added: await sessionsStore.insertForKnown(tx, logins),
        scanned: await tx.get(rowsScanned, {}),
      }))
      expect(added).toHaveLength(refreshed)
      expect(scanned).toEqual({ rows: 0 })
    }
    await dispose()
  },
)

function digest(number: number, filler: string): Uint8Array {
  return new Uint8Array(Buffer.from(number.toString(16).padStart(64, filler), 'hex'))
}
