import type { JsonObject } from '@guildhall/contract'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../../database/testing/backends.ts'
import type { TestApi } from '../../../testing/api.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'
import { openStorageOperator, pathOf } from '../storage.fixture.ts'
import { storageIndexStore } from './index.store.ts'
import type { IndexFilters } from './walks.ts'

const refusal = (code: string) => expect.objectContaining({ name: 'Failure', code })
const page = { limit: 50 }
const run = { signal: new AbortController().signal, progress() {} }

const byLevel = { name: 'by_level', collection: 'saves', fields: ['level', 'hero'] }
const ofSlot = { name: 'of_slot', collection: 'saves', key: 'slot', fields: ['hero'] }

const configOf = (...indexes: object[]) => ({ 'storage.indexes': JSON.stringify(indexes) })

describe.each(testBackends)('indexes over stored objects on $name', (backend) => {
  let scenario: Scenario
  beforeEach(async () => {
    scenario = await openScenario(backend, configOf(byLevel, ofSlot))
    await scenario.api.features.storage.indexes.keep(run)
  })
  afterEach(() => scenario.dispose())

  const storage = (api: TestApi = scenario.api) => api.features.storage
  const write = (owner: string | null, key: string, value: JsonObject, api?: TestApi) =>
    storage(api).runtime.write({ owner, collection: 'saves', key, value })
  const remove = (owner: string | null, key: string) =>
    storage().runtime.remove({ owner, collection: 'saves', key })
  const found = async (
    filters: IndexFilters = {},
    { index = 'by_level', api = scenario.api } = {},
  ) => {
    const rows: string[] = []
    let after: string | undefined
    do {
      const { items, next } = await storage(api).runtime.query(index, filters, {
        limit: 100,
        after,
      })
      rows.push(...items.map(({ user_id, key }) => `${user_id ?? '-'}/${key}`))
      after = next ?? undefined
    } while (after !== undefined)
    return rows
  }

  it('[S-IX-1] [S-IX-2] has what is stored, from the write that stores it on', async () => {
    await write('ana', 'slot', { level: 3, hero: 'orc' })
    await write(null, 'slot', { level: 3, hero: 'elf' })
    await write('ana', 'other', { level: '3', hero: 'elf' })
    await write('bob', 'other', { unrelated: true })
    expect(await found()).toEqual(['-/slot', 'ana/other', 'ana/slot', 'bob/other'])
    expect(await found({ level: 3 })).toEqual(['-/slot', 'ana/slot'])
    expect(await found({ level: '3' })).toEqual(['ana/other'])
    expect(await found({ level: 3, hero: 'orc' })).toEqual(['ana/slot'])
    expect(await found({ hero: 'elf' }, { index: 'of_slot' })).toEqual(['-/slot'])
    expect(await found({}, { index: 'of_slot' })).toEqual(['-/slot', 'ana/slot'])
    await write('ana', 'slot', { level: 4, hero: 'orc' })
    expect([await found({ level: 3 }), await found({ level: 4 })]).toEqual([
      ['-/slot'],
      ['ana/slot'],
    ])
    await remove('ana', 'slot')
    const operator = await openStorageOperator(scenario.api)
    await operator.put(pathOf('saves', 'console', { user_id: 'ö' }), { level: 4 })
    expect(await found({ level: 4 })).toEqual(['ö/console'])
    await operator.remove(pathOf('saves', 'console', { user_id: 'ö' }))
    expect(await found({ level: 4 })).toEqual([])
    const { items } = await storage().runtime.query('by_level', { level: 3 }, page)
    const read = await storage().runtime.read({ owner: null, collection: 'saves', key: 'slot' })
    expect(items).toEqual([read])
  })

  it('[S-IX-1] indexes strings up to 256 bytes, numbers and booleans, and nothing else', async () => {
    const fits = 'é'.repeat(128)
    const values: [unknown, IndexFilters | undefined][] = [
      [fits, { level: fits }],
      [`${fits}x`, undefined],
      ['', { level: '' }],
      ['\u0000\u0001', { level: '\u0000\u0001' }],
      ['\u0001\u0002', { level: '\u0001\u0002' }],
      ['\u0000', { level: '\u0000' }],
      [0, { level: -0 }],
      [1.5, { level: 1.5 }],
      [2n ** 63n - 1n, { level: 2n ** 63n - 1n }],
      [2n ** 63n - 2n, { level: 2n ** 63n - 2n }],
      [true, { level: true }],
      [false, { level: false }],
      ['true', { level: 'true' }],
      [null, undefined],
      [[1], undefined],
      [{ a: 1 }, undefined],
    ]
    for (const [at, [level]] of values.entries()) {
      await write(null, `k${at + 10}`, { level } as JsonObject)
    }
    for (const [at, [, filters]] of values.entries()) {
      if (filters) expect(await found(filters)).toEqual([`-/k${at + 10}`])
    }
    expect(await found()).toHaveLength(values.length)
  })

  it('[S-IX-3] pages in the order of owner and key, and takes its own cursors only', async () => {
    const expected: string[] = []
    for (const owner of [null, 'Z', 'a', '\uffff', '😀']) {
      for (const key of ['1', '2', '3']) {
        await write(owner, key, { level: 1, hero: key })
        expected.push(`${owner ?? '-'}/${key}`)
      }
    }
    const { query } = storage().runtime
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await query('by_level', { level: 1 }, { limit: 4, after })
      seen.push(...page.items.map(({ user_id, key }) => `${user_id ?? '-'}/${key}`))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(seen).toEqual(expected)
    const { next } = await query('by_level', { level: 1 }, { limit: 14 })
    expect(
      (await query('by_level', { level: 1 }, { limit: 100, after: next ?? '' })).items,
    ).toHaveLength(1)
    expect((await query('by_level', { level: 1 }, { limit: 15 })).next).toBeNull()
    const wrong: [string, IndexFilters, { after?: string }][] = [
      ['by_level', {}, { after: next ?? '' }],
      ['by_level', { level: 2 }, { after: next ?? '' }],
      ['of_slot', {}, { after: next ?? '' }],
      ['by_level', { level: 1 }, { after: '' }],
      ['by_level', { unknown: 1 }, {}],
      ['by_level', { '': 1 }, {}],
      ['by_level', { level: Number.NaN }, {}],
      ['by_level', { level: null } as unknown as IndexFilters, {}],
      ['by_level', { level: 'x'.repeat(257) }, {}],
    ]
    for (const [name, filters, more] of wrong) {
      await expect(query(name, filters, { ...page, ...more })).rejects.toEqual(
        refusal('invalid_request'),
      )
    }
    await expect(query('unknown', {}, page)).rejects.toEqual(refusal('not_found'))
  })

  it('[S-IX-2] builds what is new or changed before it answers, and forgets the rest', async () => {
    for (let n = 0; n < 20; n += 1) await write('ana', `k${n}`, { level: n % 2, rank: n % 3 })
    const changed = { ...byLevel, fields: ['rank'] }
    const fresh = { name: 'fresh', collection: 'saves', fields: ['rank', 'level'] }
    const next = await scenario.openNode(configOf(changed, fresh))
    const { query } = storage(next).runtime
    await expect(query('by_level', {}, page)).rejects.toEqual(refusal('runtime_unavailable'))
    await expect(query('fresh', {}, page)).rejects.toEqual(refusal('runtime_unavailable'))
    // Declared, but nothing looked at yet: what is written meanwhile is in it already.
    const ended = new AbortController()
    ended.abort()
    await storage(next).indexes.keep({ ...run, signal: ended.signal })
    await expect(query('fresh', {}, page)).rejects.toEqual(refusal('runtime_unavailable'))
    await write('bob', 'late', { rank: 2, level: 1 })
    await remove('ana', 'k5')
    await storage(next).indexes.keep(run)
    const at = { api: next, index: 'fresh' }
    expect(await found({ rank: 2, level: 1 }, at)).toEqual(['ana/k11', 'ana/k17', 'bob/late'])
    expect(await found({ rank: 0 }, { api: next })).toHaveLength(7)
    await expect(query('of_slot', {}, page)).rejects.toEqual(refusal('not_found'))
    await expect(query('by_level', { level: 1 }, page)).rejects.toEqual(refusal('invalid_request'))
    expect(await scenario.rowsOf('storage_indexes')).toHaveLength(2)
    expect(await scenario.rowsOf('storage_index_entries')).toHaveLength(20 * (1 + 1 + 1 + 2))
    // The first node never received it, and keeps it all the same.
    await write('ana', 'k11', { rank: 1, level: 1 })
    await write('zoe', 'after', { rank: 2, level: 1 })
    expect(await found({ rank: 2, level: 1 }, at)).toEqual(['ana/k17', 'bob/late', 'zoe/after'])
    // It still asks for what it knew.
    await expect(storage().runtime.query('of_slot', {}, page)).rejects.toBeDefined()
  })

  it('[S-IX-2] builds anew what is declared again before its old entries are gone', async () => {
    await write('ana', 'kept', { level: 1 })
    await write('ana', 'gone', { level: 1 })
    const ended = new AbortController()
    ended.abort()
    const without = await scenario.openNode(configOf(ofSlot))
    await storage(without).indexes.keep({ ...run, signal: ended.signal })
    // From here on nobody keeps the index, and nothing of it is removed yet.
    await remove('ana', 'gone')
    await write('bob', 'new', { level: 1 })
    const again = await scenario.openNode(configOf(byLevel, ofSlot))
    await storage(again).indexes.keep({ ...run, signal: ended.signal })
    expect(await scenario.rowsOf('storage_indexes')).toHaveLength(3)
    await expect(storage(again).runtime.query('by_level', {}, page)).rejects.toEqual(
      refusal('runtime_unavailable'),
    )
    await storage(again).indexes.keep(run)
    expect(await found({ level: 1 }, { api: again })).toEqual(['ana/kept', 'bob/new'])
    expect(await scenario.rowsOf('storage_indexes')).toHaveLength(2)
  })

  it('[S-IX-2] a build that ends late does not bring back what was dropped', async () => {
    const ended = new AbortController()
    ended.abort()
    const late = { name: 'late', collection: 'saves', fields: ['level'] }
    const node = await scenario.openNode(configOf(byLevel, ofSlot, late))
    await storage(node).indexes.keep({ ...run, signal: ended.signal })
    const other = await scenario.openNode(configOf(byLevel, ofSlot))
    await storage(other).indexes.keep({ ...run, signal: ended.signal })
    const stateOf = async () => {
      const rows = await scenario.rowsOf('storage_indexes')
      return rows.find(({ name }) => name === 'late')
    }
    await storageIndexStore.complete(scenario.db, Number((await stateOf())?.id))
    expect(await stateOf()).toMatchObject({ state: 'dropped' })
  })

  it('[S-IX-4] asks the filter before a write: only what it takes is in the index', async () => {
    const asked: unknown[] = []
    await storage().runtime.setFilter('by_level', async (candidate) => {
      asked.push(candidate)
      const { level } = candidate.value
      if (level === 'fails') throw new Error('on purpose')
      if (level === 'odd') return 'yes' as unknown as boolean
      return level !== 'no'
    })
    await write('ana', 'slot', { level: 'yes', hero: 'a' })
    await write(null, 'k', { level: 'no' })
    expect(asked).toEqual([
      { user_id: 'ana', collection: 'saves', key: 'slot', value: { level: 'yes', hero: 'a' } },
      { user_id: null, collection: 'saves', key: 'k', value: { level: 'no' } },
    ])
    await storage().runtime.write({ owner: null, collection: 'others', key: 'k', value: {} })
    expect(asked).toHaveLength(2)
    expect(await found()).toEqual(['ana/slot'])
    expect(await found({}, { index: 'of_slot' })).toEqual(['ana/slot'])
    for (const level of ['fails', 'odd']) {
      await expect(write('ana', 'slot', { level })).rejects.toEqual(refusal('conflict'))
    }
    expect(await found({ level: 'yes' })).toEqual(['ana/slot'])
    const operator = await openStorageOperator(scenario.api)
    await operator.put(pathOf('saves', 'slot', { user_id: 'ana' }), { level: 'fails', hero: 'b' })
    expect(await found()).toEqual([])
    expect(await found({ hero: 'b' }, { index: 'of_slot' })).toEqual(['ana/slot'])
    const warned = scenario.api.log.lines.filter(({ level }) => level === 'warn')
    expect(warned).toHaveLength(1)
    await write('ana', 'slot', { level: 'no' })
    expect(await found()).toEqual([])
    expect(await storage().runtime.setFilter('unknown', () => true)).toBe(false)
  })

  it('[S-IX-5] judges what is written at the same moment as its filter is set', async () => {
    const setting = storage().runtime.setFilter('by_level', ({ value }) => value.level !== 0)
    const writing = Promise.all([
      write('ana', 'k0', { level: 0 }),
      write('ana', 'k1', { level: 1 }),
    ])
    await Promise.all([setting, writing])
    expect(await found()).toEqual(['ana/k1'])
    expect(await scenario.rowsOf('storage_index_pending')).toEqual([])
  })

  it('[S-IX-5] keeps waiting what no filter has seen, and judges it when one serves', async () => {
    await write('ana', 'judged', { level: 1 })
    await storage().runtime.setFilter('by_level', ({ value }) => value.level !== 0)
    await storage().runtime.setFilter('by_level', undefined)
    const other = await scenario.openNode()
    for (let n = 0; n < 6; n += 1) await write('ana', `k${n}`, { level: n % 2 }, other)
    await write('ana', 'gone', { level: 1 })
    await remove('ana', 'gone')
    await storage().indexes.keep(run)
    expect(await found()).toEqual(['ana/judged'])
    expect(await scenario.rowsOf('storage_index_pending')).toHaveLength(6)
    let failing = true
    await storage(other).indexes.keep(run)
    await storage(other).runtime.setFilter('by_level', ({ key, value }) => {
      if (failing && key === 'k1') throw new Error('on purpose')
      return value.level === 1
    })
    await storage(other).indexes.keep(run)
    expect(await found()).toEqual(['ana/judged', 'ana/k3', 'ana/k5'])
    expect(await scenario.rowsOf('storage_index_pending')).toHaveLength(1)
    failing = false
    await storage(other).indexes.keep(run)
    expect(await found()).toEqual(['ana/judged', 'ana/k1', 'ana/k3', 'ana/k5'])
    expect(await scenario.rowsOf('storage_index_pending')).toEqual([])
    // An index that is declared anew still has its filter.
    const changed = await scenario.openNode(configOf({ ...byLevel, fields: ['level'] }))
    await storage(changed).indexes.keep(run)
    expect(await found({}, { api: changed })).toEqual([])
    await storage(changed).runtime.setFilter('by_level', () => true)
    await storage(changed).indexes.keep(run)
    expect(await found({}, { api: changed })).toHaveLength(7)
  })

  it('[S-IX-5] leaves what was judged while the index was being built', async () => {
    await write('ana', 'before', { level: 1 })
    const node = await scenario.openNode(
      configOf({ name: 'new', collection: 'saves', fields: ['level'] }),
    )
    const { runtime, indexes } = storage(node)
    await runtime.setFilter('new', () => true)
    await write('ana', 'judged', { level: 1 }, node)
    await runtime.setFilter('new', undefined)
    await indexes.keep(run)
    const at = { api: node, index: 'new' }
    expect(await found({}, at)).toEqual(['ana/judged'])
    await runtime.setFilter('new', () => true)
    await indexes.keep(run)
    expect(await found({}, at)).toEqual(['ana/before', 'ana/judged'])
  })

  it('[S-IX-2] takes in large objects in parts, however many are written at once', async () => {
    const filler = 'x'.repeat(500_000)
    await write(null, 'k9', { level: 0 })
    const { runtime } = storage()
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) => {
        const place = { owner: null, collection: 'saves', key: `k${at}` }
        return runtime.write({ ...place, value: { level: 1, filler }, version: '' })
      }),
    )
    expect(answers.map(({ status }) => status).indexOf('rejected')).toBe(9)
    expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    const late = { name: 'late', collection: 'saves', fields: ['level'] }
    const node = await scenario.openNode(configOf(late))
    await storage(node).indexes.keep(run)
    expect(await found({ level: 1 }, { api: node, index: 'late' })).toHaveLength(19)
    expect(await found({ level: 0 }, { api: node, index: 'late' })).toEqual(['-/k9'])
  })

  it('[S-IX-2] [S-IX-5] looks at more objects than one page has, each of them once', async () => {
    const { runtime, indexes } = storage(
      await scenario.openNode(configOf({ name: 'many', collection: 'saves', fields: ['level'] })),
    )
    // Owners and keys go up in opposite ways: a page in another order would leave some out.
    const places = Array.from({ length: 600 }, (_, at) => {
      return { owner: `user-${at + 100}`, collection: 'saves', key: `k${900 - at}` }
    })
    for (let at = 0; at < places.length; at += 100) {
      const part = places.slice(at, at + 100)
      await runtime.writeAll(part.map((place) => ({ ...place, value: { level: 1 } })))
    }
    await runtime.setFilter('many', () => true)
    await runtime.setFilter('many', undefined)
    await indexes.keep(run)
    expect(await scenario.rowsOf('storage_index_pending')).toHaveLength(600)
    let asked = 0
    await runtime.setFilter('many', ({ user_id }) => {
      asked += 1
      if (user_id === 'user-699') throw new Error('on purpose')
      return true
    })
    await indexes.keep(run)
    expect(asked).toBe(600)
    expect(await scenario.rowsOf('storage_index_entries')).toHaveLength(2 * 599)
    expect(await scenario.rowsOf('storage_index_pending')).toMatchObject([{ user_id: 'user-699' }])
  })

  it('[S-IX-1] [S-IX-3] is what a look at every object would find', async () => {
    const value = fc.record(
      {
        level: fc.constantFrom<JsonObject[string]>(0, 1, '1', true, null, 2n ** 60n),
        hero: fc.constantFrom('a', 'b'),
      },
      { requiredKeys: [] },
    )
    const step = fc.record({
      owner: fc.constantFrom(null, 'ana', 'bob'),
      key: fc.constantFrom('slot', 'other'),
      value: fc.option(value, { nil: undefined }),
    })
    const filters: IndexFilters[] = [
      {},
      { level: 1 },
      { level: '1' },
      { level: true, hero: 'a' },
      { level: 2n ** 60n },
      { hero: 'b' },
    ]
    const objects = new Map<string, JsonObject>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        await Promise.all(
          steps.map(({ owner, key, value }) =>
            value === undefined ? remove(owner, key) : write(owner, key, value),
          ),
        )
        for (const { owner, key, value } of steps) {
          if (value === undefined) objects.delete(`${owner ?? '-'}/${key}`)
          else objects.set(`${owner ?? '-'}/${key}`, value)
        }
        for (const wanted of filters) {
          const matching = [...objects].filter(([, object]) =>
            Object.entries(wanted).every(([field, value]) => object[field] === value),
          )
          expect(await found(wanted)).toEqual(matching.map(([name]) => name).sort())
        }
      }),
      { numRuns: 30 },
    )
  })
})
