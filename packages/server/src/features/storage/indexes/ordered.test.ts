import type { JsonObject } from '@guildhall/contract'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'
import { scriptOf } from '../../../testing/script-calls.fixture.ts'
import { storageCheck } from '../storage.checks.store.ts'
import type { IndexRange } from './walks.ts'

const run = { signal: new AbortController().signal, progress() {} }
const invalid = { name: 'Failure', code: 'invalid_request' }
const index = {
  name: 'by_level',
  collection: 'saves',
  fields: ['level', 'hero', 'plain'],
  ordered: ['level', 'hero'],
}

type Level = number | bigint | string | boolean
type Row = { key: string; level: Level }

const edges = [0, -0, 1, -1, 0.5, 2 ** 53, -(2 ** 53), 5e-324, 1e308, -1e308]
const integers = [2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 62n + 511n, 7n]
const levels: fc.Arbitrary<Level> = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom<Level>(...edges, ...integers, true, false),
  fc.string({ unit: fc.constantFrom('a', 'b', '\0', '\u0001', '\uffff', '😀', '~'), maxLength: 3 }),
)
const bounds = levels.filter((level) => typeof level !== 'boolean')

const ranks = { boolean: 0, number: 1, bigint: 1, string: 2 }
const rankOf = (level: Level) => ranks[typeof level as keyof typeof ranks]

/** Numbers and integers of 64 bits compare exactly. */
function compare(one: Level, other: Level): number {
  if (rankOf(one) !== rankOf(other)) return rankOf(one) - rankOf(other)
  if (typeof one === 'string' && typeof other === 'string') {
    return Buffer.compare(Buffer.from(one), Buffer.from(other))
  }
  return one < other ? -1 : one > other ? 1 : 0
}

const sides = {
  gte: (side: number) => side >= 0,
  gt: (side: number) => side > 0,
  lte: (side: number) => side <= 0,
  lt: (side: number) => side < 0,
}

function lies(level: Level, range: Partial<IndexRange>): boolean {
  return (['gte', 'gt', 'lte', 'lt'] as const).every((name) => {
    const bound = range[name]
    if (bound === undefined || bound === null) return true
    return rankOf(level) === rankOf(bound) && sides[name](compare(level, bound))
  })
}

describe.each(testBackends)('ordered fields of an index on $name', (backend) => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await openScenario(backend, { 'storage.indexes': JSON.stringify([index]) })
    await scenario.api.features.storage.indexes.keep(run)
    return () => scenario.dispose()
  })
  const runtime = () => scenario.api.features.storage.runtime
  const write = (owner: string | null, key: string, value: JsonObject) =>
    runtime().write({ owner, collection: 'saves', key, value })
  const query = (filters: object, options: object = {}) =>
    scriptOf(scenario.api)('storage_index_query', 'by_level', filters, options) as Promise<{
      items: { user_id: string | null; key: string; value: JsonObject }[]
      next: string | null
    }>
  async function all(filters: object, options: object = {}): Promise<string[]> {
    const keys: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await query(filters, { limit: 3, ...options, ...(after && { after }) })
      expect(page.items.length).toBeLessThanOrEqual(3)
      keys.push(...page.items.map(({ key }) => key))
      if (page.next === null) return keys
      after = page.next
    }
  }
  const clear = async () => {
    for (const { user_id, key } of (await query({}, { limit: 100 })).items) {
      await runtime().remove({ owner: user_id, collection: 'saves', key })
    }
  }

  it('[S-IX-6] come in order and within ranges, whatever the values are', async () => {
    const range = fc
      .record({ gte: bounds, gt: bounds, lte: bounds, lt: bounds }, { requiredKeys: [] })
      .filter((given) => new Set(Object.values(given).map(rankOf)).size === 1)
    const asked = fc.record({
      stored: fc.array(levels, { maxLength: 14 }),
      ranges: fc.array(fc.record({ range, isDescending: fc.boolean() }), { maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(asked, async ({ stored, ranges }) => {
        await clear()
        const rows = stored.map(
          (level, at): Row => ({ key: `k${String(at).padStart(2, '0')}`, level }),
        )
        const ops = rows.map(({ key, level }) => {
          return { owner: null, collection: 'saves', key, value: { level } }
        })
        if (ops.length > 0) await runtime().writeAll(ops)
        const wanted = (fits: (level: Level) => boolean, isDescending: boolean) =>
          rows
            .filter(({ level }) => fits(level))
            // Ties ascend in both directions.
            .sort((a, b) => compare(a.level, b.level) * (isDescending ? -1 : 1))
            .map(({ key }) => key)
        expect(await all({}, { order: 'level' })).toEqual(wanted(() => true, false))
        expect(await all({}, { order: '-level' })).toEqual(wanted(() => true, true))
        for (const { range, isDescending } of ranges) {
          const found = await all({ level: range }, isDescending ? { order: '-level' } : {})
          expect(found).toEqual(wanted((level) => lies(level, range), isDescending))
        }
      }),
      { numRuns: 40 },
    )
    const finding = await scenario.db.longRead((state) => storageCheck.examine(state, 5))
    expect(finding).toMatchObject({ violations: 0 })
  })

  it('[S-IX-6] go with values of the other fields, and ties ascend by owner and key', async () => {
    await clear()
    for (const owner of [null, 'ana', 'bob']) {
      for (const key of ['a', 'b']) {
        await write(owner, key, { level: owner === 'bob' ? 9 : 5, hero: 'owl', plain: key })
      }
    }
    await write('cid', 'c', { hero: 'owl' })
    await write('cid', 'd', { level: 7, hero: 'elf' })
    const rows = async (filters: object, options: object) =>
      (await query(filters, options)).items.map(({ user_id, key }) => `${user_id ?? '-'}/${key}`)
    expect(await rows({ hero: 'owl' }, { order: '-level' })).toEqual([
      ...['bob/a', 'bob/b'],
      ...['-/a', '-/b', 'ana/a', 'ana/b'],
    ])
    expect(await rows({ hero: 'owl', plain: 'b', level: { lt: 9 } }, {})).toEqual(['-/b', 'ana/b'])
    expect(await rows({ level: 5, hero: 'owl' }, { order: 'level', limit: 1 })).toEqual(['-/a'])
    expect(await rows({ level: { gte: 6, lte: 8 } }, {})).toEqual(['cid/d'])
    expect(await rows({ level: { gt: 5, lt: 5 } }, {})).toEqual([])
    expect(await rows({ level: { gte: 'a' } }, {})).toEqual([])
  })

  it('[S-IX-6] follow what is written, and take no range that is none', async () => {
    await clear()
    await write(null, 'a', { level: 1 })
    await write(null, 'b', { level: 2 })
    const first = await query({}, { order: 'level', limit: 1 })
    await write(null, 'a', { level: 3 })
    expect(await all({}, { order: 'level' })).toEqual(['b', 'a'])
    await write(null, 'b', { other: true })
    expect(await all({}, { order: '-level' })).toEqual(['a'])
    for (const [filters, options] of [
      [{}, { order: 'plain' }],
      [{}, { order: '' }],
      [{}, { order: '--level' }],
      [{}, { order: 'other' }],
      [{ plain: { gt: 1 } }, {}],
      [{ level: {} }, {}],
      [{ level: { gt: 1, lt: 'a' } }, {}],
      [{ level: { gt: true } }, {}],
      [{ level: { above: 1 } }, {}],
      [{ level: { gt: 'x'.repeat(257) } }, {}],
      [{ level: { gt: 1 }, hero: { gt: 'a' } }, {}],
      [{ level: { gt: 1 } }, { order: 'hero' }],
      [{}, { after: first.next }],
      [{}, { order: '-level', after: first.next }],
      [{ level: { gt: 0 } }, { order: 'level', after: first.next }],
      [{}, { order: 'level', after: `${first.next}x` }],
    ] as const) {
      await expect(
        query(filters, options),
        JSON.stringify([filters, options]),
      ).rejects.toMatchObject(invalid)
    }
  })
})
