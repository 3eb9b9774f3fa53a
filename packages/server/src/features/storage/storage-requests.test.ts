import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { openStorageOperator, pathOf, type StorageOperator } from './storage.fixture.ts'

describe.each(testBackends)('requests about stored objects on $name', (backend) => {
  let scenario: Scenario
  let operator: StorageOperator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openStorageOperator(scenario.api)
    return () => scenario.dispose()
  })

  const nothingHappened = async () => {
    expect(await operator.collections()).toEqual([])
    expect(scenario.api.failures).toEqual([])
  }
  const clear = async (path: string) => expect((await operator.remove(path)).status).toBe(204)

  it('[H-GEN-20] [H-STO-1] takes names up to their bounds in bytes, and not one byte more', async () => {
    const fits = ['a'.repeat(128), 'é'.repeat(64), '😀'.repeat(32), ' ', '%2F/', '..a']
    for (const name of fits) {
      const path = pathOf(name, name, { user_id: 'ö'.repeat(512) })
      expect((await operator.put(path, {})).key).toBe(name)
      await clear(path)
    }
    for (const name of ['a'.repeat(129), 'é'.repeat(65), '\u0000', '\n', '\u007f', '\u009f']) {
      for (const path of [pathOf(name, 'k'), pathOf('c', name)]) {
        expect((await operator.write(path, { value: {} })).status).toBe(400)
        expect((await operator.read(path)).status).toBe(400)
        expect((await operator.remove(path)).status).toBe(400)
      }
      const listed = await operator.send('GET', `/storage/${encodeURIComponent(name)}`)
      expect(listed.status).toBe(400)
    }
    for (const user_id of ['', ' ', '\u0085', '\u0000', 'ö'.repeat(513)]) {
      const path = pathOf('c', 'k', { user_id })
      expect((await operator.write(path, { value: {} })).status).toBe(400)
      expect((await operator.read(path)).status).toBe(400)
      expect((await operator.remove(path)).status).toBe(400)
      const query = new URLSearchParams({ user_id })
      expect((await operator.send('GET', `/storage/c?${query}`)).status).toBe(400)
    }
    await nothingHappened()
  })

  it('[H-STO-4] [H-GEN-13] refuses a body that is not as declared', async () => {
    const value = {}
    const bodies: unknown[] = [
      {},
      { value: null },
      { value: [] },
      { value: 'text' },
      { value: 1 },
      { value, extra: 1 },
      { value, read_permission: 3 },
      { value, read_permission: -1 },
      { value, read_permission: '1' },
      { value, read_permission: true },
      { value, write_permission: 2 },
      { value, version: 7 },
      { value, version: '\u0000' },
      { value, version: 'a'.repeat(1025) },
      '{"value":{},"value":{}}',
      '{"value":{},"read_permission":1.0}',
      '{"value":{"a":"\\ud800"}}',
      '{"value":{"a":1e999}}',
      '{"value":{}',
      '',
      '[]',
    ]
    for (const body of bodies) {
      expect([body, (await operator.write(pathOf('c', 'k'), body)).status]).toEqual([body, 400])
    }
    for (const query of ['?version=', '?version=%00', '?version=a&version=a', '?v=1']) {
      expect((await operator.remove(`/storage/c/k${query}`)).status).toBe(400)
    }
    for (const query of [
      '?limit=',
      '?limit=-1',
      '?limit=1.5',
      '?other=1',
      '?user_id=a&user_id=a',
    ]) {
      expect((await operator.send('GET', `/storage/c${query}`)).status).toBe(400)
    }
    await nothingHappened()
  })

  it('[H-STO-4] takes values up to 524,288 bytes as canonical JSON, and not one more', async () => {
    const path = pathOf('large', 'k')
    const empty = '{"a":""}'.length
    const fits = 'x'.repeat(524_288 - empty)
    expect((await operator.put(path, { a: fits })).value.a).toBe(fits)
    expect((await operator.get(path)).value.a).toBe(fits)
    expect((await operator.write(path, { value: { a: `${fits}x` } })).status).toBe(400)
    const wide = `${'é'.repeat((524_288 - empty) / 2)}`
    expect((await operator.put(path, { a: wide })).value.a).toBe(wide)
    expect((await operator.write(path, { value: { a: `${wide}x` } })).status).toBe(400)
    // Spaces are no part of it, but a number may be longer than it was sent.
    expect((await operator.write(path, `{"value":  {"a":${JSON.stringify(fits)} } }`)).status).toBe(
      200,
    )
    const grown = `{"value":{"a":"${'x'.repeat(524_288 - empty - 10)}","b":1e20}}`
    expect((await operator.write(path, grown)).status).toBe(400)
    expect((await operator.get(path)).value.a).toBe(fits)
    await clear(path)
    await nothingHappened()
  })

  it('[H-GEN-10] takes bodies up to 528,384 bytes, and not one more', async () => {
    const path = pathOf('padded', 'k')
    const padded = (bytes: number) => '{"value":{}}'.padEnd(bytes, ' ')
    expect((await operator.write(path, padded(528_384))).status).toBe(200)
    expect((await operator.write(path, padded(528_385))).status).toBe(400)
    await clear(path)
  })

  it('[H-GEN-12] takes bodies up to 64 levels deep, and not one more', async () => {
    const path = pathOf('deep', 'k')
    const deep = (levels: number) =>
      `{"value":${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 1)}`
    expect((await operator.write(path, deep(64))).status).toBe(200)
    expect((await operator.get(path)).value).toHaveProperty('a.a.a')
    expect((await operator.write(path, deep(65))).status).toBe(400)
    expect((await operator.write(path, deep(10_000))).status).toBe(400)
    await clear(path)
    await nothingHappened()
  })
})
