import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'
import { openWalletOperator, type WalletOperator } from '../wallet.fixture.ts'

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      node: fc.constantFrom(0, 1),
      user: fc.constantFrom(0, 1),
      currency: fc.constantFrom('gold', 'gems'),
      times: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ prune: fc.integer({ min: 1, max: 60 }) }) },
)

/** What another node has added that knew of no balance: its number may be one from before. */
const lateBalance = statement({
  name: 'tests.late-balance',
  text: "INSERT INTO wallet_balances (user_id, currency, balance) VALUES (:user_id, 'gems', 1)",
  params: { user_id: 'text' },
})

const dropEntry = statement({
  name: 'tests.drop-entry',
  text: 'DELETE FROM wallet_ledger WHERE seq = :seq',
  params: { seq: 'integer' },
})

const lateEntry = statement({
  name: 'tests.late-entry',
  text: `INSERT INTO wallet_ledger
      (seq, user_id, currency, delta, balance_after, reason, time_unix_ms)
    VALUES (:seq, :user_id, 'gems', 1, 1, 'late', 1)`,
  params: { user_id: 'text', seq: 'integer' },
})

describe.each(testBackends)('what an adjustment answers on $name', (backend) => {
  let scenario: Scenario
  /** The admin at two nodes. */
  let operators: [WalletOperator, WalletOperator]
  beforeAll(async () => {
    const config = { 'wallet.ledger_retention': '150' }
    scenario = await openScenario(backend, config)
    const other = await scenario.openNode({ 'server.node_id': 'dev-2' })
    operators = [await openWalletOperator(scenario.api), await openWalletOperator(other)]
    return () => scenario.dispose()
  })
  const someone = async () => (await scenario.signUp()).user_id
  const prune = async (items: number) => {
    await scenario.api.pruner('wallet_ledger')(items)
  }

  it('[H-WAL-1] [O-RET-4] is what a reader of the same moment sees', async () => {
    const steps = fc.array(step, { minLength: 4, maxLength: 14, size: 'max' })
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const users = [await someone(), await someone()]
        for (const each of steps) {
          if ('prune' in each) {
            await prune(each.prune)
            continue
          }
          const { node, user, currency, times } = each
          const id = users[user] ?? ''
          const adjust = () => operators[node === 0 ? 0 : 1].adjust(id, currency, 1)
          await Promise.all(Array.from({ length: times - 1 }, adjust))
          const { text } = await adjust()
          expect((await operators[0].read(id)).text).toBe(text)
        }
      }),
      { numRuns: backend.name === 'in-memory' ? 4 : 2 },
    )
    expect(scenario.api.failures).toEqual([])
  })

  it('[H-WAL-1] [O-RET-4] sees that as many entries came as went', async () => {
    const [id, other] = [await someone(), await someone()]
    const adjust = (user: string, times: number, operator = operators[0]) =>
      Promise.all(Array.from({ length: times }, () => operator.adjust(user, 'gold', 1)))
    await adjust(other, 150)
    await adjust(id, 120)
    // Of 150 kept entries 60 are of the other one, so that 10 of the newest 100 of this one go.
    await adjust(other, 60)
    await prune(1000)
    await adjust(id, 10, operators[1])
    const { text } = await operators[0].adjust(id, 'gold', 1)
    expect(text).toContain('"balance_after":131,')
    expect((await operators[1].read(id)).text).toBe(text)
  })

  it('[H-WAL-1] [H-WAL-4] has all entries after two nodes began a wallet at once', async () => {
    for (let round = 0; round < 12; round += 1) {
      const id = await someone()
      const burst = (operator: WalletOperator, currencies: readonly string[]) =>
        Promise.all(currencies.map((currency) => operator.adjust(id, currency, 1)))
      await Promise.all([
        burst(operators[0], ['gold', 'a']),
        burst(operators[1], ['gems', 'gold', 'b']),
        burst(operators[0], ['c', 'gems', 'gold']),
        burst(operators[1], ['a', 'd']),
      ])
      for (const operator of [...operators, ...operators]) {
        const { text } = await operator.adjust(id, 'gold', 1)
        expect((await operators[0].read(id)).text).toBe(text)
      }
    }
  })

  it('[O-RET-4] has no entry that went', async () => {
    const [id, other] = [await someone(), await someone()]
    const adjust = (user: string, times: number) =>
      Promise.all(Array.from({ length: times }, () => operators[0].adjust(user, 'gold', 1)))
    await adjust(id, 120)
    await adjust(id, 1)
    await adjust(other, 90)
    await prune(100_000)
    for (const entries of [60, 61]) {
      const { text } = await operators[0].adjust(id, 'gold', 1)
      expect(text.match(/"seq":/g)).toHaveLength(entries + 1)
      expect((await operators[1].read(id)).text).toBe(text)
    }
    await adjust(other, 150)
    await prune(100_000)
    const { text } = await operators[0].adjust(id, 'gold', 1)
    expect(text.match(/"seq":/g)).toHaveLength(1)
    expect((await operators[1].read(id)).text).toBe(text)
  })

  it('[H-WAL-1] shows an entry that another node commits late', async () => {
    const [id, other] = [await someone(), await someone()]
    const adjust = () => operators[0].adjust(id, 'gold', 1)
    await adjust()
    await operators[0].adjust(other, 'gold', 1)
    const { seq = 0 } = (await operators[0].wallet(other)).ledger[0] ?? {}
    await scenario.db.run(dropEntry, { seq })
    for (let times = 0; times < 90; times += 1) await adjust()
    await scenario.db.run(lateBalance, { user_id: id })
    await scenario.db.run(lateEntry, { user_id: id, seq })
    for (let times = 0; times < 12; times += 1) {
      const { text } = await adjust()
      expect(text).toContain(times < 9 ? '"late"' : 'ledger')
      expect((await operators[1].read(id)).text).toBe(text)
    }
  })
})
