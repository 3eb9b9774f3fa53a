import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'
import {
  brokenBalances,
  openWalletOperator,
  type WalletOperator,
  walletOf,
} from '../wallet.fixture.ts'

describe.each(testBackends)('a wallet under many hands on $name', (backend) => {
  let scenario: Scenario
  let operators: WalletOperator[]
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operators = [await openWalletOperator(scenario.api)]
    operators.push(await openWalletOperator(await scenario.openNode()))
    return () => scenario.dispose()
  })
  const operatorOf = (index: number) => {
    const operator = operators[index % operators.length]
    if (operator === undefined) throw new Error('no operator')
    return operator
  }

  it('[H-WAL-4] [O-ID-2] applies 200 debits one after another, as far as the balance goes', async () => {
    const { user_id: id } = await scenario.signUp()
    await operatorOf(0).adjust(id, 'gold', 150)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => operatorOf(index).adjust(id, 'gold', -1)),
    )
    const done = answers.filter(({ status }) => status === 200).map(walletOf)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(50)
    expect(done).toHaveLength(150)
    // Every answer shows its own balance and ledger, and no two of them show the same.
    for (const { balances, ledger } of done) {
      expect(balances).toEqual({ gold: ledger[0]?.balance_after })
      const afters = ledger.map(({ balance_after }) => balance_after)
      expect(afters).toEqual(afters.map((_, index) => (afters[0] ?? 0n) + BigInt(index)))
    }
    const left = done.map(({ ledger }) => Number(ledger[0]?.balance_after))
    expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, n) => n))
    const bySeq = done.toSorted((a, b) => (a.ledger[0]?.seq ?? 0) - (b.ledger[0]?.seq ?? 0))
    expect(bySeq.map(({ balances: { gold } }) => Number(gold))).toEqual(
      Array.from({ length: 150 }, (_, n) => 149 - n),
    )
    expect((await operatorOf(1).wallet(id)).balances).toEqual({ gold: 0n })
    expect(await brokenBalances(scenario)).toEqual([])
  })

  it('[H-WAL-4] [O-TX-5] opens balances that nobody had from two nodes at once', async () => {
    const users = await Promise.all([1, 2, 3, 4].map(async () => (await scenario.signUp()).user_id))
    const currencies = ['gold', 'gems', 'wood']
    const bodies = users.flatMap((id) => currencies.flatMap((each) => Array(6).fill([id, each])))
    const answers = await Promise.all(
      bodies.map(([id, currency], index) => operatorOf(index).adjust(id, currency, 1)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    for (const id of users) {
      expect((await operatorOf(0).wallet(id)).balances).toEqual({ gems: 6n, gold: 6n, wood: 6n })
    }
    expect(await brokenBalances(scenario)).toEqual([])
    expect(scenario.api.failures).toEqual([])
  })

  it('[H-WAL-4] moves between many wallets in circles without waiting for each other', async () => {
    const users = await Promise.all(
      Array.from({ length: 8 }, async () => (await scenario.signUp()).user_id),
    )
    const rounds = Array.from({ length: 160 }, (_, index) => {
      const id = users[(index * (index % 2 === 0 ? 3 : 5)) % users.length] ?? ''
      return operatorOf(index).adjust(
        id,
        index % 3 === 0 ? 'gold' : 'gems',
        index % 5 === 0 ? -1 : 2,
      )
    })
    const statuses = (await Promise.all(rounds)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([])
    expect(await brokenBalances(scenario)).toEqual([])
  })

  it('[H-IDM-3] [H-IDM-4] books one of many repeats, and the others beside them', async () => {
    const { user_id: id } = await scenario.signUp()
    const before = await scenario.countRows('wallet_ledger')
    const post = (index: number) => {
      const headers = { 'idempotency-key': `race-${id}-${Math.floor(index / 8)}` }
      return operatorOf(index).post(id, { currency: 'gold', delta: 1 }, headers)
    }
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => post(index)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(5)
    expect((await operatorOf(0).wallet(id)).balances).toEqual({ gold: 5n })
    expect(await scenario.countRows('wallet_ledger')).toBe(before + 5)
    expect(await scenario.countRows('idempotency_records')).toBe(5)
  })
})
