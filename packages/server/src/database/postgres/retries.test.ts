import { describe, expect, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import type { Randomness } from '../../kernel/ids.ts'
import { DatabaseContention } from '../database.ts'
import { openDatabase } from '../open.ts'
import { statement } from '../statement.ts'
import { testBackends } from '../testing/backends.ts'
import { silentLog } from '../testing/silent-log.ts'

const postgres = testBackends.filter(({ name }) => name === 'postgres')

describe.each(postgres)('a transaction that always meets others on $name', ({ open }) => {
  // Each attempt and the pause after it take 100 ms, so the 21st begins just within two seconds, or
  // a millisecond too late.
  it.each([
    { firstMs: 99, attempts: 21 },
    { firstMs: 100, attempts: 20 },
  ])('[O-TX-3] is tried for two seconds: $attempts times', async ({ firstMs, attempts }) => {
    const { transact, db, dispose } = await openContended({ allowed: 32, random: () => 0 })
    const made = await transact((attempt) => (attempt === 1 ? firstMs : 99))
    expect(made).toBe(attempts)
    expect(db.stats().contention_total).toBe(1)
    await dispose()
  })

  it('[O-TX-3] waits 1 to 64 ms between attempts, out of a span that doubles', async () => {
    const pausesFor = async (random: () => number) => {
      const { transact, pauses, dispose } = await openContended({ allowed: 9, random })
      expect(await transact(() => 0)).toBe(9)
      await dispose()
      return pauses
    }
    expect(await pausesFor(() => 0)).toEqual(Array(8).fill(1))
    expect(await pausesFor(() => 0xffff)).toEqual([2, 4, 8, 16, 32, 64, 64, 64])
  })

  /** A clock that passes only during bodies and pauses. */
  async function openContended({ allowed, random }: { allowed: number; random: () => number }) {
    const test = await open({ migrated: false })
    await test.db.schema.transaction((tx) => tx.ddl(failing))
    let nowMs = 0
    const pauses: number[] = []
    const clock = {
      ...createSystemClock(),
      monotonicMs: () => nowMs,
      async sleep(pauseMs: number) {
        pauses.push(pauseMs)
        nowMs += pauseMs
      },
    }
    const randomness: Randomness = (size) => Buffer.alloc(size, random())
    const config = { transaction_attempts: allowed }
    const db = await openDatabase({ url: test.url, config, clock, log: silentLog, randomness })
    return {
      db,
      pauses,
      /** Resolves to the number of attempts that were made. */
      async transact(lastsMs: (attempt: number) => number): Promise<number> {
        let made = 0
        const failed = db.transaction(async (tx) => {
          made += 1
          nowMs += lastsMs(made)
          await tx.get(fail, {})
        })
        await expect(failed).rejects.toBeInstanceOf(DatabaseContention)
        return made
      },
      async dispose() {
        await db.close()
        await test.dispose()
      },
    }
  }
})

const failing = `CREATE FUNCTION fail() RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN RAISE SQLSTATE '40001'; END $$`

const fail = statement({
  name: 'retries-test.fail',
  text: 'SELECT fail() AS failed',
  row: { failed: 'integer' },
})
