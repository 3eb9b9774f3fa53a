import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import {
  brokenBalances,
  openWalletOperator,
  type WalletOperator,
  walletOf,
} from './wallet.fixture.ts'

const int64Max = 2n ** 63n - 1n

describe.each(testBackends)('a wallet on $name', (backend) => {
  let scenario: Scenario
  let operator: WalletOperator
  let id: string
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openWalletOperator(scenario.api)
    ;({ user_id: id } = await scenario.signUp())
    return () => scenario.dispose()
  })
  const someone = async () => (await scenario.signUp()).user_id

  it('[H-WAL-1] is empty at first, and shows what was booked, newest first', async () => {
    expect((await operator.read(id)).text).toBe('{"balances":{},"ledger":[]}')
    const first = walletOf(
      await operator.post(id, { currency: 'gold', delta: 100, reason: 'quest' }),
    )
    await scenario.clock.advance(5)
    const second = walletOf(await operator.post(id, { currency: 'gold', delta: -30, reason: null }))
    const now = scenario.clock.nowUnixMs()
    const seq = first.ledger[0]?.seq ?? 0
    const entries = [
      {
        seq: seq + 1,
        user_id: id,
        currency: 'gold',
        delta: -30n,
        balance_after: 70n,
        reason: 'console adjustment',
        time_unix_ms: now,
      },
      {
        seq,
        user_id: id,
        currency: 'gold',
        delta: 100n,
        balance_after: 100n,
        reason: 'quest',
        time_unix_ms: now - 5,
      },
    ]
    expect(first).toEqual({ balances: { gold: 100n }, ledger: entries.slice(1) })
    expect(second).toEqual({ balances: { gold: 70n }, ledger: entries })
    expect(await operator.wallet(id)).toEqual(second)
  })

  it('[H-WAL-1] [H-GEN-22] lists currencies by bytes, whatever they look like, also at 0', async () => {
    const user = await someone()
    const names = ['b', '10', '9', 'B', '!', '__proto__', '\u{1f600}', '\uffee', 'é', '-1', ' x']
    for (const name of names) expect((await operator.adjust(user, name, 1)).status).toBe(200)
    const answer = await operator.adjust(user, '9', -1)
    const sorted = names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const members = sorted.map((name) => `${JSON.stringify(name)}:${name === '9' ? 0 : 1}`)
    const start = `{"balances":{${members.join(',')}},`
    expect(answer.text.startsWith(start)).toBe(true)
    expect((await operator.read(user)).text).toBe(answer.text)
  })

  it('[H-WAL-1] shows the newest 100 entries of the account, and of no other', async () => {
    const user = await someone()
    const other = await someone()
    for (let made = 0; made < 4; made += 1) {
      await Promise.all(Array.from({ length: 30 }, () => operator.adjust(user, 'gold', 1)))
      await operator.adjust(other, 'gold', 1)
    }
    const { balances, ledger } = await operator.wallet(user)
    expect(balances).toEqual({ gold: 120n })
    const afters = ledger.map(({ balance_after }) => Number(balance_after))
    expect(afters).toEqual(Array.from({ length: 100 }, (_, index) => 120 - index))
    const seqs = ledger.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a))
    const last = walletOf(await operator.adjust(user, 'gems', 5))
    expect(last.ledger).toEqual([last.ledger[0], ...ledger.slice(0, 99)])
    expect(await operator.wallet(user)).toEqual(last)
  })

  it('[H-GEN-15] [H-WAL-3] keeps all 64 bits in both directions', async () => {
    const user = await someone()
    const full = await operator.adjust(user, 'gold', int64Max)
    expect(full.text).toContain('{"balances":{"gold":9223372036854775807}')
    expect(full.text).toContain('"delta":9223372036854775807,"balance_after":9223372036854775807,')
    expect((await operator.adjust(user, 'gold', 1)).status).toBe(409)
    expect((await operator.adjust(user, 'gold', -(2n ** 63n))).status).toBe(409)
    const odd = await operator.adjust(user, 'gold', -9007199254740993n)
    expect(odd.text).toContain('{"balances":{"gold":9214364837600034814}')
    expect(odd.text).toContain('"delta":-9007199254740993,"balance_after":9214364837600034814,')
    const empty = await operator.adjust(user, 'gold', -9214364837600034814n)
    expect(empty.text).toContain('{"balances":{"gold":0}')
    expect((await operator.read(user)).text).toBe(empty.text)
  })

  it('[H-WAL-3] refuses to go below 0 or past 2^63 - 1, and then nothing has changed', async () => {
    const user = await someone()
    await operator.adjust(user, 'gold', 10)
    await operator.adjust(user, 'full', int64Max)
    const before = await operator.read(user)
    const trail = await operator.trail()
    const refusals = [
      await operator.adjust(user, 'gold', -11),
      await operator.adjust(user, 'gold', -(2n ** 63n)),
      await operator.adjust(user, 'full', 1),
      await operator.adjust(user, 'full', int64Max),
      await operator.adjust(user, 'unknown', -1),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409])
    expect(refusals.map(({ text }) => text)).not.toContainEqual(expect.stringMatching(/11|gold/))
    expect((await operator.read(user)).text).toBe(before.text)
    expect(await operator.trail()).toEqual(trail)
    const rows = await scenario.rowsOf('wallet_balances')
    const own = rows.filter(({ user_id }) => user_id === user)
    expect(own.map(({ currency }) => currency).sort()).toEqual(['full', 'gold'])
  })

  it.each([
    '{"currency":"gold"}',
    '{"delta":1}',
    '{"currency":"gold","delta":null}',
    '{"currency":"gold","delta":0}',
    '{"currency":"gold","delta":-0}',
    '{"currency":"gold","delta":1.5}',
    '{"currency":"gold","delta":1.0}',
    '{"currency":"gold","delta":1e2}',
    '{"currency":"gold","delta":"1"}',
    '{"currency":"gold","delta":true}',
    '{"currency":"gold","delta":9223372036854775808}',
    '{"currency":"gold","delta":-9223372036854775809}',
    '{"currency":"gold","delta":1,"delta":2}',
    '{"currency":"","delta":1}',
    '{"currency":"  ","delta":1}',
    '{"currency":"a\\nb","delta":1}',
    '{"currency":"a\\u0085","delta":1}',
    '{"currency":"\\u0000","delta":1}',
    `{"currency":"${'é'.repeat(32)}x","delta":1}`,
    '{"currency":1,"delta":1}',
    '{"currency":null,"delta":1}',
    `{"currency":"gold","delta":1,"reason":"${'r'.repeat(1025)}"}`,
    '{"currency":"gold","delta":1,"reason":1}',
    '{"currency":"gold","delta":1,"idempotency_key":"k"}',
    '[]',
    '',
  ])('[H-WAL-2] [H-GEN-15] refuses %s before it looks for the account', async (body) => {
    expect((await operator.post('nobody', body)).status).toBe(400)
  })

  it('[H-WAL-2] takes what is just within the bounds', async () => {
    const user = await someone()
    const body = { currency: 'é'.repeat(32), delta: 1, reason: 'r'.repeat(1024) }
    expect((await operator.post(user, body)).status).toBe(200)
    const { ledger } = walletOf(await operator.post(user, { ...body, reason: '' }))
    expect(ledger.map(({ reason }) => reason)).toEqual(['', body.reason])
  })

  it('[H-WAL-2] knows no wallet of nobody, also beside those that it knows', async () => {
    expect((await operator.read('nobody')).status).toBe(404)
    const user = await someone()
    const other = await someone()
    const ids = ['nobody', user, 'no one', other, 'nobody', user, other]
    const answers = await Promise.all(ids.map((each) => operator.adjust(each, 'gold', 1)))
    expect(answers.map(({ status }) => status)).toEqual([404, 200, 404, 200, 404, 200, 200])
    await scenario.setState(user, 'tombstoned')
    expect((await operator.adjust(user, 'gold', 1)).status).toBe(200)
    expect(await scenario.rowsOf('wallet_balances', "user_id = 'nobody'")).toEqual([])
  })

  it('[H-WAL-5] [O-TX-1] leaves one audit entry for each, with its own words', async () => {
    const user = await someone()
    const start = (await operator.trail()).length
    await Promise.all([
      operator.adjust(user, 'gold', 5),
      operator.adjust(user, 'gold', -2),
      operator.adjust(user, 'gold', -100),
      operator.adjust('nobody', 'gold', 1),
    ])
    const made = (await operator.trail()).slice(0, -start || undefined)
    const { ledger } = await operator.wallet(user)
    expect(made.map(({ details }) => details)).toEqual(
      ledger.map(({ delta, balance_after }) => {
        return `${delta > 0n ? 'credited' : 'debited'} gold by ${delta} -> ${balance_after}`
      }),
    )
    for (const { action, actor, target } of made) {
      expect([action, actor, target]).toEqual([
        'accounts.wallet.adjust',
        'admin',
        `account ${user}`,
      ])
    }
  })

  it('[H-IDM-3] [H-IDM-4] books a repeated request once', async () => {
    const user = await someone()
    const body = { currency: 'gold', delta: 7 }
    const headers = { 'idempotency-key': `key-${user}` }
    const trail = (await operator.trail()).length
    const answers = await Promise.all([1, 2, 3].map(() => operator.post(user, body, headers)))
    answers.push(await operator.post(user, body, headers))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const replayed = answers.map((answer) => answer.headers.get('idempotency-replayed'))
    expect(replayed.filter((value) => value === 'true')).toHaveLength(3)
    expect((await operator.post(user, { ...body, delta: 8 }, headers)).status).toBe(409)
    expect((await operator.wallet(user)).balances).toEqual({ gold: 7n })
    expect(await operator.trail()).toHaveLength(trail + 1)
  })

  it('[H-IDM-4] leaves no record of a refusal, so the key may be tried again', async () => {
    const user = await someone()
    const headers = { 'idempotency-key': `again-${user}` }
    const debit = { currency: 'gold', delta: -3 }
    expect((await operator.post(user, debit, headers)).status).toBe(409)
    await operator.adjust(user, 'gold', 5)
    const answer = await operator.post(user, debit, headers)
    expect(walletOf(answer).balances).toEqual({ gold: 2n })
    expect(answer.headers.get('idempotency-replayed')).toBeNull()
  })

  it('[O-RET-4] [O-TX-1] is the sum of its ledger, after all of this', async () => {
    expect(await scenario.countRows('wallet_ledger')).toBeGreaterThan(100)
    expect(await brokenBalances(scenario)).toEqual([])
    expect(scenario.api.failures).toEqual([])
  })
})

describe.each(testBackends)('a wallet after a restart on $name', (backend) => {
  it('[O-DB-3] [O-ID-1] is what it was, and its numbers go on', async () => {
    const scenario = await openScenario(backend)
    const { user_id: id } = await scenario.signUp()
    const before = await openWalletOperator(scenario.api)
    const known = await before.adjust(id, 'gold', 5)
    await scenario.restart()
    const after = await openWalletOperator(scenario.api)
    if (backend.name === 'in-memory') {
      expect((await after.read(id)).status).toBe(404)
    } else {
      expect((await after.read(id)).text).toBe(known.text)
      const { ledger } = walletOf(await after.adjust(id, 'gold', 5))
      expect(ledger[0]?.seq).toBeGreaterThan(ledger[1]?.seq ?? 0)
    }
    await scenario.dispose()
  })
})
