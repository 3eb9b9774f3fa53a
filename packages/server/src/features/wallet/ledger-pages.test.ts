import { walletApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import { type Operator, openOperator, openViewer, viewerKeys } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { openWalletOperator } from './wallet.fixture.ts'

describe.each(testBackends)('the ledger of an account on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  let userId: string
  beforeAll(async () => {
    scenario = await openScenario(backend, viewerKeys)
    operator = await openOperator(scenario.api)
    userId = (await scenario.signUp()).user_id
    const other = (await scenario.signUp()).user_id
    const wallets = await openWalletOperator(scenario.api)
    for (let index = 1; index <= 130; index += 1) {
      await wallets.adjust(userId, 'gold', index)
      if (index % 3 === 0) await wallets.adjust(other, 'gold', 1)
    }
    await wallets.adjust(userId, 'dust', 9_007_199_254_740_993n)
    return () => scenario.dispose()
  })
  const page = async (query: string) => {
    const answer = await operator.send('GET', `/accounts/${userId}/ledger${query}`)
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    return walletApi.ledger.ok.parse(readJson(answer.text).value)
  }

  it('[H-WAL-1] has every booking, newest first, page by page, and none of others', async () => {
    const deltas: bigint[] = []
    const seqs: number[] = []
    let before = ''
    for (let pages = 1; ; pages += 1) {
      const { items, next_before } = await page(`?limit=40${before}`)
      expect(new Set(items.map(({ user_id }) => user_id))).toEqual(new Set([userId]))
      deltas.push(...items.map(({ delta }) => delta))
      seqs.push(...items.map(({ seq }) => seq))
      if (next_before === undefined) {
        expect(pages).toBe(4)
        break
      }
      expect(items).toHaveLength(40)
      before = `&before=${next_before}`
    }
    const expected = Array.from({ length: 130 }, (_, index) => BigInt(130 - index))
    expect(deltas).toEqual([9_007_199_254_740_993n, ...expected])
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a))
  })

  it('gives 50 of them, and at most 200; before the first there is none', async () => {
    expect((await page('')).items).toHaveLength(50)
    expect((await page('?limit=1000')).items).toHaveLength(131)
    expect(await page('?before=0')).toEqual({ items: [] })
  })

  it.each(['?limit=x', '?before=-1', '?before=1.5', '?after=1', '?before='])(
    '[H-GEN-13] refuses %s',
    async (query) => {
      const answer = await operator.send('GET', `/accounts/${userId}/ledger${query}`)
      expect(answer.status).toBe(400)
    },
  )

  it('[H-ACC-7] [H-AUTH-5] is 404 for an unknown account, and open to viewers', async () => {
    expect((await operator.send('GET', '/accounts/nobody/ledger')).status).toBe(404)
    const viewer = await openViewer(scenario.api)
    expect((await viewer.send('GET', `/accounts/${userId}/ledger`)).status).toBe(200)
  })
})
