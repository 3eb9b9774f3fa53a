import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

const mib = 1_048_576

describe.each(testBackends)('operations done together on $name', (backend) => {
  let scenario: Scenario
  /** The script at two nodes. */
  let call: ScriptCall
  let elsewhere: ScriptCall
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    elsewhere = scriptOf(await scenario.openNode({ 'server.node_id': 'dev-2' }))
    return () => scenario.dispose()
  })
  const someone = async () => (await scenario.signUp()).user_id
  const gold = (user_id: string, delta: number | bigint) =>
    ({ op: 'wallet', user_id, currency: 'gold', delta }) as const
  const item = (owner: string | null, key: string, level = 1, more: object = {}) =>
    ({ op: 'write', owner, collection: 'bag', key, value: { level }, ...more }) as const
  const state = async () => [
    await scenario.rowsOf('wallet_balances'),
    await scenario.rowsOf('wallet_ledger'),
    await scenario.rowsOf('storage_objects'),
    await scenario.rowsOf('notifications'),
    await scenario.rowsOf('transaction_keys'),
  ]

  it('[S-API-22] are done in their order, and answer in it', async () => {
    const id = await someone()
    const answer = await call('transact', [
      { op: 'notify', user_id: id, subject: 'bought', content: { n: 1n } },
      gold(id, 10),
      item(id, 'sword'),
      gold(id, -3),
      { op: 'delete', owner: id, collection: 'bag', key: 'sword' },
      { op: 'delete', owner: id, collection: 'bag', key: 'sword' },
      item(id, 'sword', 2, { version: '', read_permission: 2 }),
      { op: 'notify', subject: 'news' },
    ])
    const seq = expect.any(Number)
    const version = expect.stringMatching(/^[0-9a-f]{16}$/)
    expect(answer).toEqual({
      replayed: false,
      results: [
        { id: expect.any(Number) },
        { balance: 10n, seq },
        { version },
        { balance: 7n, seq },
        { removed: true },
        { removed: false },
        { version },
        { id: expect.any(Number) },
      ],
    })
    expect(await call('wallet.get', id)).toEqual({ gold: 7n })
    expect(await call('storage_read', id, 'bag', 'sword')).toMatchObject({
      value: { level: 2 },
      read_permission: 2,
      write_permission: 1,
    })
    const ledger = await scenario.rowsOf('wallet_ledger', `user_id = '${id}'`)
    expect(ledger.map(({ reason }) => reason)).toEqual(['script adjustment', 'script adjustment'])
    const listed = await call('notifications.list', id)
    expect(listed).toMatchObject([{ subject: 'news', user_id: null }, { subject: 'bought' }])
  })

  it('[S-API-22] [S-API-1] change nothing where one is refused, and say which was the first', async () => {
    const id = await someone()
    await call('wallet.adjust', id, 'gold', 5)
    await call('storage_write', id, 'bag', 'old', { level: 1 })
    const before = await state()
    const wrong: [operations: unknown[], index: number, code: string, options?: object][] = [
      [[gold(id, 1), gold(id, -7), item(id, 'old', 2, { version: '' })], 1, 'conflict'],
      [[item(id, 'new'), item(id, 'old', 2, { version: '' }), gold(id, -9)], 1, 'conflict'],
      [[{ op: 'notify', subject: 's' }, gold('nobody', 1)], 1, 'not_found'],
      [[gold(id, 2n ** 63n - 6n), gold(id, 1)], 1, 'conflict'],
      [[item(id, 'a'), gold(id, 1), item(null, 'b')], 2, 'forbidden', { as: id }],
      [[gold(id, 1), item(id, 'a', 1, { version: 'no' })], 1, 'conflict'],
      [
        [gold(id, 1), { ...item(id, 'a'), value: { x: 'x'.repeat(mib / 2) } }],
        1,
        'invalid_request',
      ],
    ]
    for (const [operations, index, code, options = {}] of wrong) {
      const keyed = { ...options, idempotency_key: 'refused' }
      await expect(call('transact', operations, keyed)).rejects.toMatchObject({ code, index })
    }
    expect(await state()).toEqual(before)
    // A refusal leaves its key free.
    const answer = await call('transact', [gold(id, 1)], { idempotency_key: 'refused' })
    expect(answer).toMatchObject({ replayed: false, results: [{ balance: 6n }] })
  })

  it('[S-API-22] [S-API-32] take 1 to 64 operations with values of at most 4 MiB', async () => {
    const id = await someone()
    const large = (size: number) => ({
      ...item(id, `large-${size}`),
      value: { x: 'x'.repeat(size) },
    })
    const invalid = { code: 'invalid_request' }
    await expect(call('transact', [])).rejects.toMatchObject(invalid)
    const many = Array.from({ length: 65 }, () => gold(id, 1))
    await expect(call('transact', many)).rejects.toMatchObject(invalid)
    const halves = Array.from({ length: 9 }, (_, at) => large(mib / 2 - 100 + at))
    await expect(call('transact', halves)).rejects.toMatchObject(invalid)
    expect(await scenario.countRows('wallet_ledger')).toBeGreaterThan(0)
    const done = await call('transact', [...many.slice(0, 56), ...halves.slice(0, 8)])
    expect(done).toMatchObject({ replayed: false })
    expect(await call('wallet.get', id)).toEqual({ gold: 56n })
  })

  it('[S-API-23] are done once under a key, and answer the first results again', async () => {
    const id = await someone()
    const operations = [gold(id, 2n ** 62n), item(id, 'sword'), { op: 'notify', subject: 's' }]
    const options = { idempotency_key: `once ${id}` }
    const first = await call('transact', operations, options)
    const before = await state()
    expect(await call('transact', operations, options)).toEqual({
      ...Object(first),
      replayed: true,
    })
    expect(await elsewhere('transact', operations, options)).toMatchObject({ replayed: true })
    for (const [other, more] of [
      [[gold(id, 2n ** 62n), item(id, 'sword', 2), { op: 'notify', subject: 's' }], options],
      [operations.slice(0, 2), options],
      [operations, { ...options, as: id }],
    ]) {
      await expect(call('transact', other, more)).rejects.toMatchObject({ code: 'conflict' })
    }
    expect(await state()).toEqual(before)
  })

  it('[S-API-22] [S-API-23] take values as deep as a script can give', async () => {
    const id = await someone()
    let value: object = { level: 1 }
    for (let level = 1; level < 62; level += 1) value = { value }
    const operations = [{ ...item(id, 'deep'), value }]
    const options = { idempotency_key: `deep ${id}` }
    expect(await call('transact', operations, options)).toMatchObject({ replayed: false })
    expect(await call('transact', operations, options)).toMatchObject({ replayed: true })
    expect(await call('storage_read', id, 'bag', 'deep')).toMatchObject({ value })
  })

  it('[S-API-23] are done by one of many who ask at the same time, at two nodes', async () => {
    const id = await someone()
    for (let round = 0; round < 5; round += 1) {
      const options = { idempotency_key: `race ${id} ${round}` }
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          (at % 2 === 0 ? call : elsewhere)(
            'transact',
            [gold(id, 1), item(id, 'n', round)],
            options,
          ),
        ),
      )
      const replayed = answers.filter((answer) => Object(answer).replayed)
      expect(replayed).toHaveLength(7)
      expect(new Set(answers.map((answer) => Object(answer).results[0].seq)).size).toBe(1)
    }
    expect(await call('wallet.get', id)).toEqual({ gold: 5n })
  })

  it('[S-API-23] [S-Q-4] forget a key after seven days, whether it was removed or not', async () => {
    const id = await someone()
    const options = { idempotency_key: `week ${id}` }
    await call('transact', [gold(id, 1)], options)
    await scenario.clock.advance(7 * 86_400_000 - 1)
    expect(await call('transact', [gold(id, 1)], options)).toMatchObject({ replayed: true })
    await scenario.clock.advance(1)
    expect(await call('transact', [gold(id, 1)], options)).toMatchObject({ replayed: false })
    await scenario.clock.advance(7 * 86_400_000)
    await scenario.api.pruner('transaction_keys')(10_000)
    expect(await scenario.countRows('transaction_keys')).toBe(0)
  })

  it('[S-API-24] move an amount from one account to another', async () => {
    const [from, to] = [await someone(), await someone()]
    await call('wallet.adjust', from, 'gold', 10)
    const options = { idempotency_key: `transfer ${from}` }
    const moved = await call('wallet.transfer', from, to, 'gold', 4, options)
    expect(moved).toMatchObject({ from: { balance: 6n }, to: { balance: 4n }, replayed: false })
    const again = await elsewhere('wallet.transfer', from, to, 'gold', 4n, options)
    expect(again).toEqual({ ...Object(moved), replayed: true })
    const ledger = await scenario.rowsOf('wallet_ledger', `user_id = '${to}'`)
    expect(ledger).toMatchObject([{ delta: 4n, reason: 'transfer' }])
    const refused: [args: unknown[], code: string, message?: string][] = [
      [[from, from, 'gold', 1], 'invalid_request'],
      [[from, to, 'gold', 0], 'invalid_request'],
      [[from, to, 'gold', -1], 'invalid_request'],
      [[from, to, 'gold', 2n ** 63n], 'invalid_request'],
      [[from, to, 'gold', 7], 'conflict'],
      [[from, 'nobody', 'gold', 1], 'not_found', 'there is no account to'],
      [['nobody', to, 'gold', 1], 'not_found', 'there is no account from'],
    ]
    for (const [args, code, message = expect.anything()] of refused) {
      await expect(call('wallet.transfer', ...args)).rejects.toMatchObject({ code, message })
    }
    expect(await call('wallet.get', from)).toEqual({ gold: 6n })
  })

  it('[S-API-24] let transfers cross, as far as the balances go', async () => {
    const users = [await someone(), await someone(), await someone()]
    for (const id of users) await call('wallet.adjust', id, 'gold', 100)
    const moves = Array.from({ length: 60 }, (_, at) => {
      const [from, to] = [users[at % 3], users[(at + 1 + (at % 2)) % 3]]
      return (at % 2 === 0 ? call : elsewhere)('wallet.transfer', from, to, 'gold', 3)
    })
    await Promise.all(moves)
    const balances = await Promise.all(users.map((id) => call('wallet.get', id)))
    const sum = balances.reduce((all: bigint, each) => all + (Object(each).gold as bigint), 0n)
    expect(sum).toBe(300n)
  })

  it('[S-API-22] are all there or not at all, whatever is asked at the same time', async () => {
    const id = await someone()
    await call('wallet.adjust', id, 'gold', 40)
    const plan = fc.array(fc.record({ delta: fc.integer({ min: -9, max: 9 }), key: fc.nat(3) }), {
      minLength: 1,
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(plan, async (plan) => {
        const work = plan.map(async ({ delta, key }, at) => {
          const node = at % 2 === 0 ? call : elsewhere
          const bought = { op: 'write', owner: id, collection: 'bought', key: `${key}` } as const
          const ops = [{ ...bought, value: { delta } }, gold(id, delta === 0 ? 1 : delta)]
          return node('transact', ops).then(
            () => 1,
            (error: unknown) => {
              expect(error).toMatchObject({ code: 'conflict', index: 1 })
              return 0
            },
          )
        })
        const before = await scenario.countRows('wallet_ledger')
        const done = (await Promise.all(work)).reduce((sum: number, each) => sum + each, 0)
        expect((await scenario.countRows('wallet_ledger')) - before).toBeLessThanOrEqual(done)
      }),
      { numRuns: 10 },
    )
    expect(scenario.api.failures).toEqual([])
  })
})
