import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Transaction } from '../../database/database.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { bySystem, type MutateMany } from '../../kernel/mutation.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { brokenBalances, openWalletOperator, type WalletOperator } from './wallet.fixture.ts'
import { createWalletPruners } from './wallet.jobs.ts'
import { createWallets } from './wallet.service.ts'

const kept = 100
const day = 86_400_000
const int64Max = 2n ** 63n - 1n

describe.each(testBackends)('what wallets keep on $name', (backend) => {
  let scenario: Scenario
  let operator: WalletOperator
  let users: string[]
  beforeAll(async () => {
    scenario = await openScenario(backend, { 'wallet.ledger_retention': String(kept) })
    operator = await openWalletOperator(scenario.api)
    users = await Promise.all([1, 2, 3].map(async () => (await scenario.signUp()).user_id))
    return () => scenario.dispose()
  })
  const prune = (items: number, api = scenario.api) => api.pruner('wallet_ledger')(items)
  const fill = (entries: number) =>
    Promise.all(
      Array.from({ length: entries }, (_, index) =>
        operator.adjust(users[index % 3] ?? '', 'old', 1),
      ),
    )
  const seqs = async () => {
    const rows = await scenario.rowsOf('wallet_ledger')
    return rows.map(({ seq }) => Number(seq)).sort((a, b) => a - b)
  }

  it('[O-RET-4] keeps the newest entries, and every balance whole', async () => {
    const adjustment = fc.record({
      user: fc.nat(2),
      currency: fc.constantFrom('gold', 'gems'),
      delta: fc.oneof(
        fc.integer({ min: -20, max: 40 }).map(BigInt),
        fc.bigInt({ min: -int64Max, max: int64Max }),
      ),
    })
    const round = fc.record({
      adjustments: fc.array(adjustment, { minLength: 10, maxLength: 60, size: 'max' }),
      batch: fc.integer({ min: 1, max: 40 }),
    })
    await fill(kept)
    await fc.assert(
      fc.asyncProperty(round, async ({ adjustments, batch }) => {
        const answers = await Promise.all(
          adjustments
            .filter(({ delta }) => delta !== 0n)
            .map(({ user, currency, delta }) =>
              operator.adjust(users[user] ?? '', currency, delta),
            ),
        )
        for (const { status } of answers) expect([200, 409]).toContain(status)
        const before = await seqs()
        const removed = await prune(batch)
        expect(removed).toBe(Math.min(batch, Math.max(0, before.length - kept)))
        expect(await seqs()).toEqual(before.slice(removed))
        expect(await brokenBalances(scenario)).toEqual([])
      }),
      { numRuns: 15 },
    )
    const all = await seqs()
    expect(all[0]).toBeGreaterThan(1)
    while ((await prune(7)) === 7);
    expect(await seqs()).toEqual(all.slice(-kept))
    expect(await brokenBalances(scenario)).toEqual([])
    const shown = await Promise.all(users.map((id) => operator.wallet(id)))
    expect(shown.flatMap(({ ledger }) => ledger)).toHaveLength(kept)
    expect(scenario.api.failures).toEqual([])
  })

  it('[O-RET-4] prunes while others write, from two nodes, and loses nothing', async () => {
    const other = await scenario.openNode()
    await fill(2 * kept)
    const writes = Array.from({ length: 120 }, (_, index) => {
      return operator.adjust(users[index % 3] ?? '', 'stone', 1)
    })
    const prunes = Array.from({ length: 20 }, (_, index) =>
      prune(10, index % 2 === 0 ? scenario.api : other),
    )
    const [removed] = await Promise.all([Promise.all(prunes), Promise.all(writes)])
    expect(removed.reduce((sum, rows) => sum + rows, 0)).toBeGreaterThan(0)
    expect(await brokenBalances(scenario)).toEqual([])
    while ((await prune(50)) === 50);
    expect(await seqs()).toHaveLength(kept)
    expect(await brokenBalances(scenario)).toEqual([])
    const answers = await Promise.all(users.map((id) => operator.wallet(id)))
    const stones = answers.map(({ balances: { stone } }) => stone)
    expect(stones).toEqual([40n, 40n, 40n])
  })

  describe('a keyed adjustment', () => {
    const open = () => {
      const { db, clock } = scenario
      const config = { ledger_retention: kept, idempotency_retention_days: 7 }
      // No operator stands behind these, so there is nothing to audit or to record.
      const mutateMany: MutateMany<Transaction> = async (items, change, options) => {
        const results = await db.transaction((tx) => change(tx, items), options)
        return results.map((result) =>
          result.ok ? { ok: true, value: result.value.answer } : result,
        )
      }
      const accountExists = async (_: unknown, id: string) => users.includes(id)
      const wallets = createWallets({ db, clock, config, mutateMany, accountExists })
      return { wallets, pruners: createWalletPruners({ db, clock, config }) }
    }
    const body = (more: object) => {
      const [user_id = ''] = users
      return { user_id, currency: 'keyed', delta: 5n, idempotency_key: 'k', ...more }
    }

    it('[S-API-10] is booked once, and seen again', async () => {
      const { wallets } = open()
      const [first, second, other] = await Promise.all([
        wallets.book(bySystem, body({})),
        wallets.book(bySystem, body({})),
        wallets.book(bySystem, body({ idempotency_key: 'other' })),
      ])
      expect(first).toEqual({ balance: 5n, seq: first.seq, replayed: false })
      expect(second).toEqual({ ...first, replayed: true })
      expect(other).toEqual({ balance: 10n, seq: first.seq + 1, replayed: false })
      expect(await wallets.book(bySystem, body({}))).toEqual({ ...first, replayed: true })
      const elsewhere = await wallets.book(bySystem, body({ user_id: users[1] }))
      expect(elsewhere.replayed).toBe(false)
      for (const changed of [{ delta: 6n }, { currency: 'keyed too' }]) {
        await expect(wallets.book(bySystem, body(changed))).rejects.toMatchObject({
          code: 'conflict',
        })
      }
      expect(await brokenBalances(scenario)).toEqual([])
    })

    it('[S-API-10] is booked once when two nodes are asked at the same moment', async () => {
      const nodes = [open().wallets, open().wallets]
      const bookings = await Promise.all(
        Array.from({ length: 30 }, (_, index) => {
          const key = { idempotency_key: `both-${index % 5}`, currency: `c${index % 5}` }
          return nodes[index % 2]?.book(bySystem, body(key))
        }),
      )
      expect(bookings.filter((booking) => booking?.replayed === false)).toHaveLength(5)
      expect(new Set(bookings.map((booking) => booking?.seq)).size).toBe(5)
    })

    it('[S-API-10] leaves its key free when it is refused', async () => {
      const { wallets } = open()
      const debit = body({ idempotency_key: 'debit', currency: 'fresh', delta: -1n })
      await expect(wallets.book(bySystem, debit)).rejects.toMatchObject({ code: 'conflict' })
      await wallets.book(bySystem, body({ idempotency_key: 'credit', currency: 'fresh' }))
      expect(await wallets.book(bySystem, debit)).toMatchObject({ balance: 4n, replayed: false })
    })

    it('[S-API-10] is forgotten after 7 days, whether it was removed or not', async () => {
      const { wallets, pruners } = open()
      const late = body({ idempotency_key: 'late', currency: 'late' })
      await wallets.book(bySystem, late)
      await scenario.clock.advance(7 * day - 1)
      expect(await wallets.book(bySystem, late)).toMatchObject({ balance: 5n, replayed: true })
      await scenario.clock.advance(1)
      expect(await wallets.book(bySystem, late)).toMatchObject({ balance: 10n, replayed: false })
      const others = (await scenario.countRows('wallet_keys')) - 1
      expect(await pruners.keys(2)).toBe(2)
      expect(await pruners.keys(1000)).toBe(others - 2)
      expect(await wallets.book(bySystem, late)).toMatchObject({ balance: 10n, replayed: true })
    })
  })
})
