import { purchasesApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { openPurchaseOperator, type PurchaseOperator, transactionsOf } from './purchases.fixture.ts'

type Query = Record<string, string | number>

describe.each(testBackends)('purchases are narrowed on $name', (backend) => {
  let scenario: Scenario
  let operator: PurchaseOperator
  let startUnixMs: number
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openPurchaseOperator(scenario.api)
    startUnixMs = scenario.clock.nowUnixMs()
    for (const [user_id, product_id, store] of [
      ['ann', 'gems', 'custom'],
      ['bob', 'gems', 'custom'],
      ['ann', 'sword', 'store_a'],
      ['ann', 'gems', 'store_a'],
      ['bob', 'gems', 'custom'],
    ] as const) {
      await operator.buy({ user_id, product_id, store })
      await scenario.clock.advance(10)
    }
    return () => scenario.dispose()
  })
  const ask = (path: string, query: Query) =>
    operator.send('GET', `/${path}?${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`)
  const search = async (query: Query) =>
    purchasesApi.search.ok.parse((await ask('purchase-search', query)).body)
  const found = async (query: Query) => transactionsOf((await search(query)).items).join(' ')
  const sums = async (query: Query) =>
    purchasesApi.sums.ok.parse((await ask('purchase-sums', query)).body)

  it('[H-PUR-3] by user, product and time, newest first', async () => {
    expect(await found({})).toBe('t-5 t-4 t-3 t-2 t-1')
    expect(await found({ product_id: 'gems' })).toBe('t-5 t-4 t-2 t-1')
    expect(await found({ user_id: 'ann' })).toBe('t-4 t-3 t-1')
    expect(await found({ user_id: 'ann', product_id: 'gems' })).toBe('t-4 t-1')
    expect(await found({ product_id: 'gem' })).toBe('')
    const [from, to] = [startUnixMs + 10, startUnixMs + 30]
    expect(await found({ from, to })).toBe('t-4 t-3 t-2')
    expect(await found({ from: from + 1, to: to - 1 })).toBe('t-3')
    expect(await found({ product_id: 'gems', from, to })).toBe('t-4 t-2')
    expect(await found({ user_id: 'bob', from: startUnixMs + 11 })).toBe('t-5')
    expect(await found({ to: Number.MAX_SAFE_INTEGER })).toBe('t-5 t-4 t-3 t-2 t-1')
  })

  it('[H-PUR-3] page by page, also within one moment', async () => {
    for (const transaction_id of ['z', 'y', 'x']) {
      await operator.buy({ transaction_id, product_id: 'gems' })
    }
    for (const filter of [{}, { product_id: 'gems' }, { user_id: 'ann' }] as Query[]) {
      const all = await found(filter)
      const pages: string[] = []
      let after: string | undefined
      do {
        const page = await search({ ...filter, limit: 2, ...(after && { after }) })
        pages.push(...transactionsOf(page.items))
        after = page.next_after
      } while (after !== undefined)
      expect(pages.join(' ')).toBe(all)
    }
    expect(await found({ after: 't-3', to: startUnixMs })).toBe('t-1')
    expect((await ask('purchase-search', { after: 'nobody' })).status).toBe(400)
  })

  it('and counted, by product and store, over the same rows', async () => {
    const at = (index: number) => startUnixMs + 10 * index
    expect(await sums({})).toEqual({
      purchases: 5,
      users: 2,
      complete: true,
      products: [
        { product_id: 'gems', store: 'custom', purchases: 3, users: 2, newest_at_unix_ms: at(4) },
        { product_id: 'gems', store: 'store_a', purchases: 1, users: 1, newest_at_unix_ms: at(3) },
        { product_id: 'sword', store: 'store_a', purchases: 1, users: 1, newest_at_unix_ms: at(2) },
      ],
      products_complete: true,
    })
    expect(await sums({ product_id: 'gems' })).toMatchObject({ purchases: 4, users: 2 })
    expect(await sums({ user_id: 'ann', product_id: 'gems', from: at(1) })).toMatchObject({
      purchases: 1,
      users: 1,
      products: [{ store: 'store_a' }],
    })
    const none = { purchases: 0, users: 0, complete: true, products: [], products_complete: true }
    expect(await sums({ user_id: 'nobody' })).toEqual(none)
  })

  it('names so many products, and says that there are more', async () => {
    for (let index = 0; index < 99; index += 1) await operator.buy({ product_id: `p-${index}` })
    const { products, products_complete, purchases } = await sums({})
    expect([products.length, products_complete, purchases]).toEqual([100, false, 104])
    expect(products[0]).toMatchObject({ product_id: 'gems', store: 'custom' })
  })

  it('refuses what is malformed', async () => {
    for (const query of [{ product_id: '' }, { from: '-1' }, { to: '1e3' }, { store: 'custom' }]) {
      for (const path of ['purchase-search', 'purchase-sums']) {
        expect([query, (await ask(path, query as Query)).status]).toEqual([query, 400])
      }
    }
  })
})
