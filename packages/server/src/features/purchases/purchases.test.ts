import { hash } from 'node:crypto'
import { Purchase, Subscription } from '@guildhall/contract'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { dump } from '../../testing/tables.ts'
import { openPurchaseOperator, type PurchaseOperator, transactionsOf } from './purchases.fixture.ts'

describe.each(testBackends)('purchases on $name', (backend) => {
  let scenario: Scenario
  let operator: PurchaseOperator
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openPurchaseOperator(scenario.api)
    return () => scenario.dispose()
  })

  it('[H-PUR-1] [H-PUR-2] are answered as they are recorded', async () => {
    const now = scenario.clock.nowUnixMs()
    const receipt = '{ "product_id": "größe 🏯",\n"transaction_id": "T/1 é" }\n'
    const answer = await operator.post({ user_id: 'ann', store: 'store_b', receipt })
    const recorded = {
      transaction_id: 'T/1 é',
      user_id: 'ann',
      product_id: 'größe 🏯',
      store: 'store_b',
      receipt_sha256: hash('sha256', Buffer.from(receipt, 'utf8'), 'hex'),
      validated_at_unix_ms: now,
    }
    expect([answer.status, answer.body]).toEqual([201, recorded])
    await scenario.clock.advance(5)
    expect([(await operator.read('T/1 é')).body, await operator.list()]).toEqual([
      recorded,
      [recorded],
    ])
    expect(await operator.subscriptions()).toEqual([])
  })

  it('[H-PUR-2] report an expiry only when there is one, whatever it is', async () => {
    const said = { transaction_id: 't', product_id: 'p' }
    const nothing = { ...said, subscription_expiry_unix_ms: null }
    expect((await operator.present(JSON.stringify(nothing))).body).not.toHaveProperty(
      'subscription_expiry_unix_ms',
    )
    for (const subscription_expiry_unix_ms of [0, 1, Number.MAX_SAFE_INTEGER]) {
      const transaction_id = `t-${subscription_expiry_unix_ms}`
      const receipt = JSON.stringify({ ...said, transaction_id, subscription_expiry_unix_ms })
      expect((await operator.present(receipt)).body).toMatchObject({ subscription_expiry_unix_ms })
      expect((await operator.read(transaction_id)).body).toMatchObject({
        subscription_expiry_unix_ms,
      })
    }
    expect(await operator.subscriptions()).toHaveLength(3)
  })

  it('[H-PUR-1] are recorded once, whoever presents the transaction', async () => {
    const first = await operator.buy({ transaction_id: 'once', user_id: 'ann' })
    await scenario.clock.advance(1)
    const receipt = '{"transaction_id":"once","product_id":"gems"}'
    for (const replay of [
      { user_id: 'ann', store: 'custom', receipt },
      { user_id: 'bob', store: 'custom', receipt },
      { user_id: 'ann', store: 'store_a', receipt },
      { user_id: '', store: 'custom', receipt: receipt.replace('gems', 'swords') },
    ]) {
      const answer = await operator.post(replay)
      expect([answer.status, answer.body]).toEqual([
        409,
        { code: 'conflict', message: 'the transaction is already recorded' },
      ])
    }
    expect(await operator.list()).toEqual([first])
    expect(await operator.trailOf('transaction once')).toHaveLength(1)
    // Letter by letter, so this is another one.
    await operator.buy({ transaction_id: 'Once' })
  })

  it('[H-PUR-2] leave nothing of the receipt but its digest', async () => {
    const receipt = '{"transaction_id":"t", \n  "product_id":"p"}'
    const answer = await operator.present(receipt, { 'idempotency-key': 'k' })
    expect(answer.status).toBe(201)
    const stored = await dump(scenario.db)
    expect(stored).toContain(hash('sha256', receipt, 'hex'))
    expect(stored).not.toContain('"transaction_id":"t", ')
    expect(JSON.stringify(scenario.api.log.lines)).not.toContain('product_id')
  })

  it('[H-PUR-3] are listed newest first, then by the bytes of their transactions', async () => {
    // UTF-16 would sort U+FF5E before U+1F3EF by its units the other way round.
    const sameMoment = ['Z', '～', 'a', '🏯', 'é', '10', '9']
    for (const transaction_id of sameMoment) {
      await operator.buy({ transaction_id, subscription_expiry_unix_ms: 1 })
    }
    await scenario.clock.advance(1)
    await operator.buy({ transaction_id: '0', subscription_expiry_unix_ms: 1 })
    const expected = ['0', '🏯', '～', 'é', 'a', 'Z', '9', '10']
    expect(transactionsOf(await operator.list())).toEqual(expected)
    expect(transactionsOf(await operator.list('?user_id=ann&limit=3'))).toEqual(
      expected.slice(0, 3),
    )
    expect(transactionsOf(await operator.subscriptions())).toEqual(expected)
    expect(transactionsOf(await operator.subscriptions('?user_id=ann'))).toEqual(expected)
  })

  it('[H-PUR-3] are found by exactly their user, also by the empty one', async () => {
    for (const user_id of ['ann', 'Ann', 'ann ', '', 'an', 'a%']) await operator.buy({ user_id })
    for (const [query, users] of [
      ['?user_id=ann', ['ann']],
      ['?user_id=Ann', ['Ann']],
      ['?user_id=ann%20', ['ann ']],
      ['?user_id=', ['']],
      ['?user_id=a%25', ['a%']],
      ['?user_id=nobody', []],
    ] as const) {
      expect((await operator.list(query)).map(({ user_id }) => user_id)).toEqual(users)
    }
  })

  it('[H-PUR-3] [H-GEN-26] are cut to the limit, which counts subscriptions alone in theirs', async () => {
    for (let made = 1; made <= 205; made += 1) {
      await scenario.clock.advance(1)
      const expires = made % 4 === 0 ? { subscription_expiry_unix_ms: made } : {}
      await operator.buy({ transaction_id: `${made}`, ...expires })
    }
    const newest = (count: number) => Array.from({ length: count }, (_, back) => `${205 - back}`)
    for (const [limit, rows] of [
      ['', 50],
      ['?limit=200', 200],
      ['?limit=201', 200],
      ['?limit=1', 1],
      ['?limit=0', 1],
    ] as const) {
      expect(transactionsOf(await operator.list(limit))).toEqual(newest(rows))
    }
    const expiring = Array.from({ length: 51 }, (_, back) => `${204 - 4 * back}`)
    expect(transactionsOf(await operator.subscriptions())).toEqual(expiring.slice(0, 50))
    expect(transactionsOf(await operator.subscriptions('?limit=200'))).toEqual(expiring)
    expect(transactionsOf(await operator.subscriptions('?user_id=ann&limit=2'))).toEqual([
      '204',
      '200',
    ])
  })

  it('[H-PUR-3] expire at their very moment, at each reading anew', async () => {
    const expiry_unix_ms = scenario.clock.nowUnixMs() + 10
    await operator.buy({ store: 'store_c', subscription_expiry_unix_ms: expiry_unix_ms })
    const row = { transaction_id: 't-1', user_id: 'ann', product_id: 'gems', store: 'store_c' }
    const statusNow = async () => {
      const [only] = await operator.subscriptions()
      expect(only).toEqual({ ...row, expiry_unix_ms, status: only?.status })
      return Subscription().parse(only).status
    }
    expect(await statusNow()).toBe('active')
    await scenario.clock.advance(9)
    expect(await statusNow()).toBe('active')
    await scenario.clock.advance(1)
    expect(await statusNow()).toBe('expired')
    await scenario.clock.advance(1)
    expect(await statusNow()).toBe('expired')
  })

  it('[H-PUR-4] are audited without their receipts', async () => {
    await operator.buy({ transaction_id: 'a\nb', product_id: 'p', user_id: 'u', store: 'store_a' })
    expect(await operator.trailOf('transaction a?b')).toEqual([
      ['purchases.validate', 'store=store_a product=p user=u'],
    ])
    const refused = await operator.present('{"transaction_id":"never"}')
    expect([refused.status, await operator.trailOf('transaction never')]).toEqual([400, []])
  })

  it('[H-IDM-3] [H-IDM-4] are answered again under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'k' }
    const receipt = '{"transaction_id":"t","product_id":"p","subscription_expiry_unix_ms":7}'
    expect((await operator.present('{}', headers)).status).toBe(400)
    const answers = await Promise.all([1, 2, 3].map(() => operator.present(receipt, headers)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const replayed = answers.filter(({ headers }) => headers.has('idempotency-replayed'))
    expect(replayed).toHaveLength(2)
    expect((await operator.present(receipt, { 'idempotency-key': 'other' })).status).toBe(409)
    expect((await operator.present(receipt)).status).toBe(409)
    expect(await operator.trailOf('transaction t')).toHaveLength(1)
  })

  it('[O-DB-3] survive a restart, and so does what may not be replayed', async () => {
    const bought = [await operator.buy(), await operator.buy({ subscription_expiry_unix_ms: 5 })]
    await scenario.restart()
    operator = await openPurchaseOperator(scenario.api)
    const isDurable = backend.name !== 'in-memory'
    expect(await operator.list()).toEqual(isDurable ? bought.reverse() : [])
    const replay = await operator.present('{"transaction_id":"t-1","product_id":"gems"}')
    expect(replay.status).toBe(isDurable ? 409 : 201)
  })

  it('[H-PUR-1] [H-PUR-2] [H-PUR-3] come back as they were sent, whatever the texts', async () => {
    const seen = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 40 })
      .filter((text) => !text.includes('\0') && /\P{White_Space}/u.test(text))
      // A URL has no such segment: `fetch` would ask for another path.
      .filter((text) => text !== '.' && text !== '..')
    const request = fc.record(
      {
        transaction_id: seen,
        product_id: seen,
        user_id: fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => !/\0/.test(text)),
        store: fc.constantFrom('store_a', 'store_b', 'store_c', 'custom'),
        subscription_expiry_unix_ms: fc.maxSafeNat(),
      },
      { requiredKeys: ['transaction_id', 'product_id', 'user_id', 'store'] },
    )
    const recorded = new Map<string, Purchase>()
    await fc.assert(
      fc.asyncProperty(request, async ({ user_id, store, ...said }) => {
        const receipt = JSON.stringify(said)
        const answer = await operator.post({ user_id, store, receipt })
        if (recorded.has(said.transaction_id)) {
          expect(answer.status).toBe(409)
          return
        }
        const receipt_sha256 = hash('sha256', receipt, 'hex')
        expect(answer.body).toMatchObject({ ...said, user_id, store, receipt_sha256 })
        recorded.set(said.transaction_id, Purchase().parse(answer.body))
        expect((await operator.read(said.transaction_id)).body).toEqual(answer.body)
      }),
      { numRuns: 60 },
    )
    const inOrder = [...recorded.values()].sort(
      (a, b) =>
        b.validated_at_unix_ms - a.validated_at_unix_ms ||
        Buffer.compare(Buffer.from(b.transaction_id), Buffer.from(a.transaction_id)),
    )
    expect(await operator.list('?limit=200')).toEqual(inOrder)
  })
})
