import { beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'
import { openWalletOperator } from '../wallet.fixture.ts'

/** Nobody reads entries. */
const closeLedger = statement({
  name: 'tests.close-ledger',
  text: 'LOCK TABLE wallet_ledger IN ACCESS EXCLUSIVE MODE',
})

/** Nobody adds entries. */
const freezeLedger = statement({
  name: 'tests.freeze-ledger',
  text: 'LOCK TABLE wallet_ledger IN SHARE MODE',
})

const waiting = statement({
  name: 'tests.waiting-for-ledger',
  text: `SELECT count(*) AS count FROM pg_locks
    WHERE NOT granted AND relation = 'wallet_ledger'::regclass`,
  row: { count: 'integer' },
})

const openBalance = statement({
  name: 'tests.open-balance',
  text: "INSERT INTO wallet_balances (user_id, currency, balance) VALUES (:user_id, 'gold', 10)",
  params: { user_id: 'text' },
})

const takeFive = statement({
  name: 'tests.take-five',
  text: 'UPDATE wallet_balances SET balance = balance - 5 WHERE user_id = :user_id',
  params: { user_id: 'text' },
})

async function waits(db: Database, count: number): Promise<void> {
  while (((await db.get(waiting, {}))?.count ?? 0) < count);
}

// Only there can somebody come between the lock and what is read after it.
describe.each(testBackends.filter(({ name }) => name === 'postgres'))(
  'the first balance of a wallet on $name',
  (backend) => {
    let scenario: Scenario
    beforeAll(async () => {
      scenario = await openScenario(backend)
      return () => scenario.dispose()
    })

    it('[H-WAL-4] is locked before it is changed, also when it came after the look', async () => {
      const { user_id: id } = await scenario.signUp()
      const operator = await openWalletOperator(scenario.api)
      const { db } = scenario
      const hold = { isolation: 'read committed' } as const
      const answers = await db.transaction(async (tx) => {
        await tx.run(closeLedger, {})
        // A node has found nothing to lock, and waits for what it wants to read.
        const adjusted = operator.adjust(id, 'gold', 1)
        await waits(db, 1)
        const taken = db.transaction(async (other) => {
          await other.run(freezeLedger, {})
          // It has read the balance that another node opened, which now takes five of it.
          await waits(db, 1)
          const taking = db.run(takeFive, { user_id: id })
          return { taking }
        }, hold)
        await waits(db, 2)
        await db.run(openBalance, { user_id: id })
        return { adjusted, taken }
      }, hold)
      await (await answers.taken).taking
      expect((await answers.adjusted).status).toBe(200)
      expect((await operator.wallet(id)).balances).toEqual({ gold: 6n })
    })
  },
)
