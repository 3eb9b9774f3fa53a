import { afterEach, expect, it } from 'vitest'
import { createLeases } from '../../../database/jobs/leases.ts'
import { statement } from '../../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../../database/testing/backends.ts'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { createSettlement } from './settlement.jobs.ts'
import { createSettlementRules } from './settlement.ts'

const insert = statement({
  name: 'tests.insert-ended-tournament',
  text: `INSERT INTO tournaments (id, leaderboard_id, state, registration_opens_at_unix_ms,
      registration_closes_at_unix_ms, starts_at_unix_ms, ends_at_unix_ms, created_at_unix_ms,
      updated_at_unix_ms)
    VALUES ('large', 'none', 'running', 0, 0, 0, 1, 0, 0)`,
})
const sleepOn = statement({
  name: 'tests.settle-slowly',
  text: 'SELECT 1 AS one FROM pg_sleep(0.5)',
  row: { one: 'integer' },
})
const states = statement({
  name: 'tests.states',
  text: 'SELECT state FROM tournaments',
  row: { state: 'text' },
})

let test: TestDatabase | undefined
afterEach(() => test?.dispose())

// Only a server ends statements that take long.
it('[O-TRN-3] settles on postgres what takes longer than a statement may', async () => {
  const backend = testBackends.find(({ name }) => name === 'postgres')
  test = await backend?.open({ config: { statement_timeout_ms: 250 } })
  if (test === undefined) throw new Error('there is no PostgreSQL')
  const { db } = test
  await db.run(insert, {})
  const clock = createFakeClock()
  const rules = createSettlementRules({
    clock,
    config: { notify_results: false, notify_max: 1 },
    leave: async (tx) => void (await tx.all(sleepOn, {})),
  })
  const log = createRecordedLog()
  const lease = createLeases({ db, clock, log, holder: 'tests', lifeMs: 15_000 }).of('settlement')
  expect(await lease.keep()).toBe(true)
  const settlement = createSettlement({ db, clock, log, lease, rules, onHold: () => false })
  await settlement.settle({ signal: new AbortController().signal, progress() {} })
  expect(await db.all(states, {})).toEqual([{ state: 'completed' }])
  expect(settlement.failures()).toBe(0)
})
