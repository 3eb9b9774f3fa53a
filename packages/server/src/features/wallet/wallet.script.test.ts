import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

type Entry = { seq: number; delta: bigint; reason: string }

describe.each(testBackends)('wallets of scripts on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  let id: string
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    ;({ user_id: id } = await scenario.signUp())
    return () => scenario.dispose()
  })
  const page = async (options?: object) =>
    (await call('wallet.ledger', id, ...(options ? [options] : []))) as Entry[]

  it('[S-API-10] are adjusted, and say what was booked', async () => {
    expect(await call('wallet.get', id)).toEqual({})
    const first = await call('wallet.adjust', id, 'gold', 10)
    expect(first).toEqual({ balance: 10n, seq: expect.any(Number), replayed: false })
    const options = { reason: 'sword', idempotency_key: 'k' }
    const second = await call('wallet.adjust', id, 'gold', -3n, options)
    expect(second).toMatchObject({ balance: 7n, replayed: false })
    expect(await call('wallet.adjust', id, 'gold', -3, options)).toEqual({
      ...Object(second),
      replayed: true,
    })
    const other = call('wallet.adjust', id, 'gold', -4, options)
    await expect(other).rejects.toMatchObject({ code: 'conflict' })
    expect(await call('wallet.get', id)).toEqual({ gold: 7n })
    expect((await page()).map(({ delta, reason }) => `${delta} ${reason}`)).toEqual([
      '-3 sword',
      '10 script adjustment',
    ])
  })

  it('[S-API-32] show their ledger in pages', async () => {
    for (let at = 0; at < 210; at += 1) await call('wallet.adjust', id, 'gems', 1)
    const all = await page({ limit: 1000 })
    expect(all).toHaveLength(200)
    expect(await page()).toEqual(all.slice(0, 50))
    expect(await page({ limit: 0 })).toEqual(all.slice(0, 1))
    await expect(page({ limit: -1 })).rejects.toMatchObject({ code: 'invalid_request' })
    const before = all[9]?.seq
    expect(await page({ before, limit: 3 })).toEqual(all.slice(10, 13))
    expect(await page({ before, limit: 3, offset: 2 })).toEqual(all.slice(12, 15))
    expect(await page({ before: 0 })).toEqual([])
  })

  it('[S-API-10] [S-API-1] refuse what the console refuses', async () => {
    const refused: [args: unknown[], code: string][] = [
      [[id, 'gold', -8], 'conflict'],
      [[id, 'gold', 2n ** 63n - 1n], 'conflict'],
      [['nobody', 'gold', 1], 'not_found'],
      [[id, 'gold', 0], 'invalid_request'],
      [[id, 'gold', 1.5], 'invalid_request'],
      [[id, 'gold', 2n ** 63n], 'invalid_request'],
      [[id, '', 1], 'invalid_request'],
      [[id, 'gold', 1, { reason: 'r'.repeat(1025) }], 'invalid_request'],
      [[id, 'gold', 1, { idempotency_key: '' }], 'invalid_request'],
      [[id, 'gold', 1, { idempotency_key: 'k'.repeat(129) }], 'invalid_request'],
      [[id, 'gold', 1, { other: 1 }], 'invalid_request'],
    ]
    for (const [args, code] of refused) {
      await expect(call('wallet.adjust', ...args), String(args)).rejects.toMatchObject({ code })
    }
    for (const name of ['wallet.get', 'wallet.ledger']) {
      await expect(call(name, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(await call('wallet.get', id)).toMatchObject({ gold: 7n })
  })
})
