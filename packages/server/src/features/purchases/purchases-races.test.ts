import { auditApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { batchStatement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import type { ApiAnswer } from '../../testing/api.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { openPurchaseOperator, type PurchaseOperator, transactionsOf } from './purchases.fixture.ts'

const statusesOf = (answers: readonly ApiAnswer[]) => answers.map(({ status }) => status).sort()

const insertMany = batchStatement({
  name: 'tests.insert-purchases',
  text: `INSERT INTO purchases (transaction_id, user_id, product_id, store, receipt_digest,
      validated_at_unix_ms, subscription_expiry_unix_ms)
    SELECT r.transaction_id, r.user_id, 'p', 'custom', r.receipt_digest, r.at, r.expiry
    FROM {{rows}} AS r`,
  params: {
    transaction_id: 'text',
    user_id: 'text',
    receipt_digest: 'bytes',
    at: 'integer',
    expiry: 'integer?',
  },
})

describe.each(testBackends)('purchases at two nodes on $name', (backend) => {
  let scenario: Scenario
  let operators: [PurchaseOperator, PurchaseOperator]
  beforeAll(async () => {
    scenario = await openScenario(backend)
    const other = await scenario.openNode({ 'server.node_id': 'dev-2' })
    operators = [await openPurchaseOperator(scenario.api), await openPurchaseOperator(other)]
    return () => scenario.dispose()
  })
  const operatorOf = (index: number) => operators[index % 2 === 0 ? 0 : 1]

  it('[H-PUR-1] one of many who present a transaction at once records it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          operatorOf(index).post({
            user_id: `user-${index}`,
            store: 'store_a',
            receipt: `{"transaction_id":"race-${round}","product_id":"p-${index}"}`,
          }),
        ),
      )
      expect(statusesOf(answers)).toEqual([201, ...Array(11).fill(409)])
      const winner = answers.find(({ status }) => status === 201)
      for (const operator of operators) {
        expect((await operator.read(`race-${round}`)).body).toEqual(winner?.body)
      }
      expect(await auditsOf(`transaction race-${round}`)).toBe(1)
    }
  })

  it('[H-IDM-3] one key at two nodes records once and answers the same', async () => {
    const receipt = '{"transaction_id":"keyed","product_id":"p"}'
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        operatorOf(index).present(receipt, { 'idempotency-key': 'one' }),
      ),
    )
    expect(statusesOf(answers)).toEqual(Array(8).fill(201))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await auditsOf('transaction keyed')).toBe(1)
  })

  it('[H-PUR-3] first pages among many rows are those of the whole order', async () => {
    const rows = Array.from({ length: 5000 }, (_, index) => ({
      transaction_id: `bulk-${String(index).padStart(5, '0')}`,
      user_id: `many-${index % 50}`,
      receipt_digest: new Uint8Array(32),
      at: 4_000_000_000_000 + Math.floor(index / 7),
      expiry: index % 100 < 3 ? index : null,
    }))
    await scenario.db.transaction(async (tx) => void (await tx.each(insertMany, rows)))
    const newest = rows.toReversed()
    const expected = (of: typeof rows) => transactionsOf(of).slice(0, 50)
    expect(transactionsOf(await operatorOf(0).list())).toEqual(expected(newest))
    const expiring = newest.filter(({ expiry }) => expiry !== null)
    expect(transactionsOf(await operatorOf(1).subscriptions())).toEqual(expected(expiring))
    for (const user of ['many-1', 'many-7']) {
      const own = newest.filter(({ user_id }) => user_id === user)
      const query = `?user_id=${user}`
      expect(transactionsOf(await operatorOf(0).list(query))).toEqual(expected(own))
      const ownExpiring = own.filter(({ expiry }) => expiry !== null)
      expect(transactionsOf(await operatorOf(1).subscriptions(query))).toEqual(
        expected(ownExpiring),
      )
    }
  })

  /** How many entries of a target both nodes report; a shared trail counts once. */
  async function auditsOf(target: string): Promise<number> {
    const seen = await Promise.all(
      operators.map(async (operator) => {
        const answer = await operator.send('GET', '/audit?limit=500&action=purchases.')
        const { entries } = auditApi.list.ok.parse(answer.body)
        return entries.filter((entry) => entry.target === target).length
      }),
    )
    return backend.name === 'in-memory' ? seen.reduce((sum, each) => sum + each, 0) : (seen[0] ?? 0)
  }
})
