import type { JsonObject } from '@guildhall/contract'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { scriptOf } from '../../testing/script-calls.fixture.ts'
import type { ObjectAddress, ObjectRemoval, ObjectWrite } from './storage.runtime.ts'
import { versionOf } from './writes/operations.ts'

type Runtime = Scenario['api']['features']['storage']['runtime']

const refusal = (code: string) => expect.objectContaining({ name: 'Failure', code })
const conflict = refusal('conflict')
const invalid = refusal('invalid_request')
const forbidden = refusal('forbidden')

describe.each(testBackends)('what scripts may do with stored objects on $name', (backend) => {
  let scenario: Scenario
  let runtime: Runtime
  beforeAll(async () => {
    scenario = await openScenario(backend)
    runtime = scenario.api.features.storage.runtime
    return () => scenario.dispose()
  })

  let made = 0
  const place = (owner: string | null = null): ObjectAddress => {
    made += 1
    return { owner, collection: 'c', key: `k${made}` }
  }
  const n = async (at: ObjectAddress): Promise<unknown> => {
    const read = await runtime.read(at)
    return read && JSON.parse(read.value_json).n
  }

  it('[S-ST-1] writes with permissions 1 and 1 by default, at every write', async () => {
    const at = place('ana')
    const { version } = await runtime.write({
      ...at,
      value: { n: 1, b: 2n ** 63n - 1n },
      read_permission: 2,
      write_permission: 0,
    })
    const shared = { user_id: 'ana', collection: 'c', key: at.key, version }
    const value_json = '{"b":9223372036854775807,"n":1}'
    const read = { ...shared, read_permission: 2, write_permission: 0, value_json }
    expect(await runtime.read(at)).toEqual(read)
    expect(version).toBe(versionOf(value_json))
    await runtime.write({ ...at, value: { n: 1, b: 2n ** 63n - 1n } })
    expect(await runtime.read(at)).toEqual({ ...read, read_permission: 1, write_permission: 1 })
    expect(await runtime.read({ ...at, owner: null })).toBeUndefined()
  })

  it('[S-ST-2] only creates with an empty version, and replaces only the one that is named', async () => {
    const at = place()
    const write = (n: number, version?: string) => runtime.write({ ...at, value: { n }, version })
    await expect(write(1, versionOf('{"n":1}'))).rejects.toEqual(conflict)
    const first = await write(1, '')
    await expect(write(2, '')).rejects.toEqual(conflict)
    await expect(write(2, 'x'.repeat(1024))).rejects.toEqual(conflict)
    const second = await write(2, first.version)
    await expect(write(3, first.version)).rejects.toEqual(conflict)
    expect(await n(at)).toBe(2)
    await expect(runtime.remove({ ...at, version: first.version })).rejects.toEqual(conflict)
    expect(await runtime.remove({ ...at, version: second.version })).toBe(true)
    await expect(runtime.remove({ ...at, version: second.version })).rejects.toEqual(conflict)
    expect(await runtime.remove(at)).toBe(false)
  })

  it('[S-ST-1] [S-ST-4] lets a user read what its permissions show, and write only its own', async () => {
    const readers = async (at: ObjectAddress) =>
      Promise.all(
        [undefined, 'ana', 'bob'].map(async (as) => (await runtime.read(at, { as })) !== undefined),
      )
    const seen: [owner: string | null, permission: number, by: boolean[]][] = [
      ['ana', 0, [true, false, false]],
      ['ana', 1, [true, true, false]],
      ['ana', 2, [true, true, true]],
      [null, 0, [true, false, false]],
      [null, 1, [true, false, false]],
      [null, 2, [true, true, true]],
    ]
    for (const [owner, read_permission, by] of seen) {
      const at = place(owner)
      await runtime.write({ ...at, value: {}, read_permission })
      expect([owner, read_permission, await readers(at)]).toEqual([owner, read_permission, by])
    }
    const [own, locked] = [place('ana'), place('ana')]
    await runtime.write({ ...own, value: { n: 1 } }, { as: 'ana' })
    await runtime.write({ ...own, value: { n: 2 } }, { as: 'ana' })
    await runtime.write({ ...locked, value: { n: 1 }, write_permission: 0 })
    const forbiddenTo: [string, ObjectAddress][] = [
      ['bob', own],
      ['bob', place('ana')],
      ['ana', place(null)],
      ['ana', locked],
    ]
    for (const [as, at] of forbiddenTo) {
      const write = runtime.write({ ...at, value: { n: 9 }, version: 'wrong' }, { as })
      await expect(write).rejects.toEqual(forbidden)
      await expect(runtime.remove(at, { as })).rejects.toEqual(forbidden)
    }
    expect([await n(own), await n(locked)]).toEqual([2, 1])
    expect(await runtime.remove(own, { as: 'ana' })).toBe(true)
    expect(await runtime.remove(locked)).toBe(true)
  })

  it('[S-API-25] does a batch whole or not at all, each operation after the one before', async () => {
    const [a, b, gone] = [place(), place('ana'), place()]
    await runtime.write({ ...gone, value: {} })
    const outcomes = await runtime.writeAll([
      { ...a, value: { n: 1 }, version: '' },
      { ...a, value: { n: 2 }, version: versionOf('{"n":1}') },
      { ...b, value: { n: 1 } },
      { ...gone, remove: true },
      { ...gone, remove: true },
    ])
    expect(outcomes).toEqual([
      { version: versionOf('{"n":1}') },
      { version: versionOf('{"n":2}') },
      { version: versionOf('{"n":1}') },
      { removed: true },
      { removed: false },
    ])
    expect([await n(a), await n(b), await n(gone)]).toEqual([2, 1, undefined])
    const failing: (ObjectWrite | ObjectRemoval)[] = [
      { ...a, value: { n: 7 } },
      { ...b, remove: true },
      { ...gone, value: { n: 7 } },
      { ...a, value: { n: 8 }, version: 'wrong' },
    ]
    await expect(runtime.writeAll(failing)).rejects.toEqual(conflict)
    await expect(
      runtime.writeAll(
        [
          { ...b, value: { n: 7 } },
          { ...a, value: {} },
        ],
        { as: 'ana' },
      ),
    ).rejects.toEqual(forbidden)
    expect([await n(a), await n(b), await n(gone)]).toEqual([2, 1, undefined])
    expect(await runtime.readAll([a, gone, b])).toMatchObject([{ key: a.key }, undefined, {}])
  })

  it('[S-API-1] checks every argument before it changes anything', async () => {
    const at = place()
    const call = scriptOf(scenario.api)
    const nested = (levels: number): JsonObject => (levels === 1 ? {} : { a: nested(levels - 1) })
    const wrong: Partial<Record<keyof ObjectWrite, unknown>>[] = [
      { owner: '' },
      { owner: ' ' },
      { owner: 'ö'.repeat(513) },
      { owner: undefined },
      { collection: '' },
      { collection: 'é'.repeat(65) },
      { key: 'a\u0000' },
      { key: 7 },
      { owner: '\ud800' },
      { collection: 'a\udc00' },
      { key: '\ud83d' },
      { value: [] },
      { value: null },
      { value: 'text' },
      { value: { a: '\ud800' } },
      { value: { a: Number.NaN } },
      { value: { a: 2n ** 63n } },
      { value: nested(65) },
      { value: { a: 'x'.repeat(524_288) } },
      { version: 7 },
      { version: 'x'.repeat(1025) },
      { version: 'é'.repeat(513) },
      { version: 'a\u0000' },
      { version: '\ud800' },
      { read_permission: 3 },
      { read_permission: 0.5 },
      { write_permission: 2 },
    ]
    for (const part of wrong) {
      const body = { op: 'write', ...at, value: { n: 1 }, ...part }
      const { op: _, owner, collection, key, value, ...options } = body
      const written = call('storage_write', owner, collection, key, value, options)
      await expect(written, JSON.stringify(Object.keys(part))).rejects.toEqual(invalid)
      const batch = call('storage_write_many', [{ op: 'write', ...at, value: {} }, body])
      await expect(batch).rejects.toEqual(invalid)
    }
    const { owner, collection, key } = at
    const removed = call('storage_delete', owner, collection, key, { version: '' })
    await expect(removed).rejects.toEqual(invalid)
    for (const other of ['', '\ud800']) {
      await expect(call('storage_read', owner, collection, other)).rejects.toEqual(invalid)
    }
    for (const as of ['', ' ', '\ud800']) {
      await expect(call('storage_read', owner, collection, key, { as })).rejects.toEqual(invalid)
      const written = call('storage_write', owner, collection, key, {}, { as })
      await expect(written).rejects.toEqual(invalid)
    }
    const many = Array.from({ length: 101 }, () => ({ op: 'write', ...at, value: {} }))
    await expect(call('storage_write_many', many)).rejects.toEqual(invalid)
    await expect(call('storage_write_many', [])).rejects.toEqual(invalid)
    expect(await runtime.read(at)).toBeUndefined()
    await call('storage_write', owner, collection, key, nested(64))
    expect((await runtime.read(at))?.value_json).toHaveLength(2 + 63 * 6)
    expect(await call('storage_write_many', many.slice(1))).toHaveLength(100)
  })

  it('[S-ST-3] [S-API-25] takes a batch of eight of the largest values, and not one byte more', async () => {
    const largest = { a: 'x'.repeat(524_288 - '{"a":""}'.length) }
    const bodies = Array.from({ length: 8 }, () => ({ ...place('large'), value: largest }))
    expect(await runtime.writeAll(bodies)).toHaveLength(8)
    const tooLarge = { ...place('large'), value: { a: `${largest.a}x` } }
    await expect(runtime.write(tooLarge)).rejects.toEqual(invalid)
    const more = [...bodies, { ...place('large'), value: {} }]
    await expect(runtime.writeAll(more)).rejects.toEqual(invalid)
    expect((await runtime.read(bodies[7] ?? place()))?.value_json).toHaveLength(524_288)
    await Promise.all(bodies.map((at) => runtime.remove(at)))
  })

  it('[S-ST-2] [O-TX-1] is what a plain map would be, whatever is asked at once', async () => {
    const keys = ['a', 'b', 'c']
    const versions = ['', ...[0, 1, 2].map((n) => versionOf(`{"n":${n}}`)), undefined]
    const operation = fc.record({
      key: fc.constantFrom(...keys),
      n: fc.option(fc.nat(2), { nil: undefined }),
      version: fc.constantFrom(...versions),
    })
    const batches = fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
    let run = 0
    await fc.assert(
      fc.asyncProperty(batches, async (plan) => {
        run += 1
        const collection = `model-${run}`
        const model = new Map<string, number>()
        const expected = plan.map((batch) => apply(model, batch))
        const answers = await Promise.allSettled(
          plan.map((batch) => runtime.writeAll(batch.map((each) => requestOf(collection, each)))),
        )
        expect(answers.map(({ status }) => status === 'fulfilled')).toEqual(expected)
        for (const key of keys) {
          expect(await n({ owner: null, collection, key })).toBe(model.get(key))
        }
        const counted = await scenario.rowsOf('storage_collections', `collection = '${collection}'`)
        expect(counted.map(({ objects }) => Number(objects))).toEqual(
          model.size ? [model.size] : [],
        )
      }),
      { numRuns: 60 },
    )
    expect(scenario.api.failures).toEqual([])
  })
})

type Planned = { key: string; n: number | undefined; version: string | undefined }

/** Without an `n` it removes; a removal that creates only is none, so it takes any version. */
function requestOf(collection: string, { key, n, version }: Planned): ObjectWrite | ObjectRemoval {
  const at = { owner: null, collection, key }
  if (n !== undefined) return { ...at, value: { n }, version }
  return { ...at, remove: true, version: version || undefined }
}

/** Whether the batch is done; the model is as before when it is not. */
function apply(model: Map<string, number>, batch: readonly Planned[]): boolean {
  const draft = new Map(model)
  for (const { key, n, version } of batch) {
    const held = draft.has(key) ? versionOf(`{"n":${draft.get(key)}}`) : ''
    const wanted = n === undefined ? version || undefined : version
    if (wanted !== undefined && wanted !== held) return false
    if (n === undefined) draft.delete(key)
    else draft.set(key, n)
  }
  model.clear()
  for (const [key, n] of draft) model.set(key, n)
  return true
}
