import { describe, expect, it } from 'vitest'
import type { Database, Transaction } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { friendsStore } from '../../features/friends/friends.store.ts'
import { leaderboardsStore } from '../../features/leaderboards/leaderboards.store.ts'
import { storageStore } from '../../features/storage/storage.store.ts'
import { walletStore } from '../../features/wallet/wallet.store.ts'

type Case = {
  name: string
  table: string
  /** What names a row, in the order in which rows are locked. */
  key: string
  /** Rows that lie in the opposite order. */
  rows: string[]
  keys: string[]
  /** Asks for all of them, in the opposite order too. */
  lock(tx: Transaction): Promise<unknown>
}

const cases: Case[] = [
  {
    name: 'friends.lock-accounts',
    table: 'accounts',
    key: 'id',
    rows: [],
    keys: ['a', 'b'],
    lock: (tx) => friendsStore.lockAccounts(tx, { user_id: 'b', other_id: 'a' }),
  },
  {
    name: 'wallet.lock, of one account',
    table: 'wallet_balances',
    key: "user_id || '/' || currency",
    rows: ["('a', 'y', 1)", "('a', 'x', 1)"],
    keys: ['a/x', 'a/y'],
    lock: (tx) => walletStore.lock(tx, [{ user_id: 'a' }]),
  },
  {
    name: 'wallet.lock, of several',
    table: 'wallet_balances',
    key: "user_id || '/' || currency",
    rows: ["('b', 'y', 1)", "('b', 'x', 1)", "('a', 'y', 1)", "('a', 'x', 1)"],
    keys: ['a/x', 'a/y', 'b/x', 'b/y'],
    lock: (tx) => walletStore.lock(tx, [{ user_id: 'b' }, { user_id: 'a' }]),
  },
  {
    name: 'storage.lock',
    table: 'storage_objects',
    key: "collection || '/' || user_id || '/' || key",
    rows: ['dc2', 'dc1', 'da1', 'ca1'].map((at) => {
      return `('${[...at].join("', '")}', '', 0, 0, 0, '')`
    }),
    keys: ['c/a/1', 'd/a/1', 'd/c/1', 'd/c/2'],
    lock: (tx) =>
      storageStore.lock(
        tx,
        ['dc2', 'dc1', 'da1', 'ca1'].map(([collection = '', user_id = '', key = '']) => {
          return { collection, user_id, key }
        }),
      ),
  },
  {
    name: 'leaderboards.lock',
    table: 'leaderboards',
    key: 'id',
    rows: [
      "('b', 'asc', 'best', NULL, 1, 0, NULL, 0)",
      "('a', 'asc', 'best', NULL, 2, 0, NULL, 0)",
    ],
    keys: ['a', 'b'],
    lock: (tx) => leaderboardsStore.lock(tx, ['b', 'a']),
  },
]

/** Two who ask for the same rows, each in an order of its own, could wait for each other. */
describe.each(testBackends.filter(({ name }) => name === 'postgres'))(
  'several rows on $name',
  ({ open }) => {
    it.each(cases)('[H-WAL-4] [O-TX-3] are locked in their order by $name', async (about) => {
      const test = await open()
      await test.db.schema.transaction(async (tx) => {
        for (const command of [...unordered, ...accounts]) await tx.ddl(command)
        for (const row of about.rows) await tx.ddl(`INSERT INTO ${about.table} VALUES ${row}`)
      })
      const db = await test.reopen()
      const { lockOne, lockFree } = probesOf(about)
      for (const [at, key] of about.keys.entries()) {
        const { locking } = await db.transaction(async (holder) => {
          expect(await holder.all(lockOne, { key })).toEqual([{ key }])
          const locking = db.transaction(async (tx) => void (await about.lock(tx)))
          while ((await waiting(db)) === 0);
          // Who waits for one of them has those before it, and none of those behind it yet.
          const free = await db.transaction((tx) => tx.all(lockFree, {}))
          expect(free.map((row) => row.key).sort()).toEqual(about.keys.slice(at + 1))
          return { locking }
        })
        await locking
      }
      await test.dispose()
    })
  },
)

/** Indexes that answer in the right order by themselves would prove nothing. */
const unordered = ['enable_indexscan', 'enable_indexonlyscan', 'enable_mergejoin'].map(
  (setting) => {
    return `DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET ${setting} = off', current_database()); END $$`
  },
)

const accounts = ['b', 'a'].map((id) => {
  return `INSERT INTO accounts (id, username, state, created_at_unix_ms, updated_at_unix_ms)
    VALUES ('${id}', '${id}', 'active', 0, 0)`
})

function probesOf({ name, table, key }: Case) {
  const rows = `SELECT ${key} AS key FROM ${table}`
  const short = name.replaceAll(/\W+/g, '-')
  return {
    lockOne: statement({
      name: `lock-order-test.one-${short}`,
      text: `${rows} WHERE ${key} = :key FOR UPDATE`,
      params: { key: 'text' },
      row: { key: 'text' },
    }),
    lockFree: statement({
      name: `lock-order-test.free-${short}`,
      text: `${rows} FOR UPDATE SKIP LOCKED`,
      row: { key: 'text' },
    }),
  }
}

const countWaiting = statement({
  name: 'lock-order-test.waiting',
  text: `SELECT count(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  row: { count: 'integer' },
})

async function waiting(db: Database): Promise<number> {
  return (await db.get(countWaiting, {}))?.count ?? 0
}
