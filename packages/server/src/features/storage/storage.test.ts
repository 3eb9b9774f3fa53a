import { createHash } from 'node:crypto'
import { AccountExport } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { cursorOf } from './storage.cursor.ts'
import { openStorageOperator, pathOf, type StorageOperator } from './storage.fixture.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

describe.each(testBackends)('stored objects on $name', (backend) => {
  let scenario: Scenario
  let operator: StorageOperator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openStorageOperator(scenario.api)
    return () => scenario.dispose()
  })

  it('[H-STO-4] [H-STO-5] stores an object and answers it whole, also when it creates', async () => {
    const path = pathOf('saves', 'slot')
    const made = await operator.put(path, { level: 3, name: 'ä' })
    expect(made).toEqual({
      collection: 'saves',
      user_id: null,
      key: 'slot',
      value: { level: 3, name: 'ä' },
      version: sha('{"level":3,"name":"ä"}'),
      read_permission: 1,
      write_permission: 1,
    })
    expect(await operator.get(path)).toEqual(made)
    const permissions = { read_permission: 2, write_permission: 0 }
    const again = await operator.put(path, { name: 'ä', level: 3 }, permissions)
    expect(again).toEqual({ ...made, ...permissions })
    expect(await operator.get(path)).toEqual(again)
    const reset = await operator.put(path, {}, { read_permission: null, version: null })
    expect(reset).toEqual({ ...made, value: {}, version: sha('{}') })
    expect(await operator.trailOf('saves/slot (system)')).toEqual([
      ['storage.write', `version=${made.version}`],
      ['storage.write', `version=${made.version}`],
      ['storage.write', `version=${sha('{}')}`],
    ])
  })

  it('[H-STO-4] stores each permission by itself, also when nothing else changes', async () => {
    const path = pathOf('permissions', 'k')
    for (const [read_permission, write_permission] of [
      [1, 1],
      [2, 1],
      [2, 0],
      [0, 0],
      [0, 1],
    ]) {
      await operator.put(path, {}, { read_permission, write_permission })
      expect(await operator.get(path)).toMatchObject({ read_permission, write_permission })
    }
  })

  it('[H-STO-5] [H-GEN-16] has one version for one JSON, exact to the last digit', async () => {
    const path = pathOf('exact', 'k')
    const body =
      '{"value":{"b":9223372036854775807, "a":[-9223372036854775808,1.0,{"😀":1,"\uffff":2}]}}'
    const canonical = '{"a":[-9223372036854775808,1,{"\uffff":2,"😀":1}],"b":9223372036854775807}'
    const answer = await operator.write(path, body)
    expect(answer.text).toContain('9223372036854775807')
    expect(JSON.parse(answer.text).version).toBe(sha(canonical))
    const read = await operator.get(path)
    expect(read.version).toBe(sha(canonical))
    expect(read.value).toMatchObject({ b: 2n ** 63n - 1n })
    const members = '{"value":{"__proto__":{"a":1},"constructor":2,"x":1,"x":"\\u0000"}}'
    const odd = await operator.write(path, members)
    expect(odd.status).toBe(200)
    expect((await operator.read(path)).text).toContain('"__proto__":{"a":1}')
    expect((await operator.get(path)).version).toBe(
      sha('{"__proto__":{"a":1},"constructor":2,"x":"\\u0000"}'),
    )
  })

  it('[H-STO-1] keeps the objects of every owner and of the system apart', async () => {
    await operator.put(pathOf('own', 'k'), { of: 'system' })
    await operator.put(pathOf('own', 'k', { user_id: 'nobody' }), { of: 'nobody' })
    expect((await operator.get(pathOf('own', 'k'))).value).toEqual({ of: 'system' })
    const theirs = await operator.get(pathOf('own', 'k', { user_id: 'nobody' }))
    expect(theirs).toMatchObject({ user_id: 'nobody', value: { of: 'nobody' } })
    expect((await operator.read(pathOf('own', 'k', { user_id: 'other' }))).status).toBe(404)
    expect(await operator.trailOf('own/k (user nobody)')).toHaveLength(1)
  })

  it('[H-STO-2] lists the system first, then by user and key, page by page', async () => {
    const expected: string[] = []
    for (const user_id of ['', '\u0001', 'Z', 'a', 'é', '\uffff', '😀']) {
      for (const key of [' ', 'B', 'a', '\uffff', '😀']) {
        await operator.put(pathOf('listed', key, user_id === '' ? {} : { user_id }), {})
        expected.push(`${user_id === '' ? '-' : user_id}/${key}`)
      }
    }
    for (const limit of [1, 7, 34, 35, 200]) {
      const pages = await operator.walk('listed', limit)
      expect(pages.flat()).toEqual(expected)
      expect(pages).toHaveLength(Math.ceil(35 / limit))
    }
    const ofOne = await operator.walk('listed', 2, `&user_id=${encodeURIComponent('😀')}`)
    expect(ofOne).toEqual([['😀/ ', '😀/B'], ['😀/a', '😀/\uffff'], ['😀/😀']])
    const { items } = await operator.list('listed', '?limit=1')
    expect(Object.keys(items[0] ?? {})).not.toContain('value')
    expect(await operator.list('nothing')).toEqual({ collection: 'nothing', items: [] })
  })

  it('[H-STO-2] [H-ID-2] takes a cursor in its own list only, and goes on where its row was', async () => {
    const users = ['ana', 'ö'.repeat(512)]
    for (const user_id of users) {
      for (const key of ['1', '2', '3']) await operator.put(pathOf('paged', key, { user_id }), {})
    }
    const { next = '' } = await operator.list('paged', '?limit=1')
    const { next: long = '' } = await operator.list('paged', '?limit=5')
    expect(long.length).toBeLessThanOrEqual(2048)
    expect((await operator.list('paged', `?cursor=${long}`)).items).toHaveLength(1)
    await operator.remove(pathOf('paged', '1', { user_id: 'ana' }))
    expect((await operator.list('paged', `?limit=1&cursor=${next}`)).items[0]?.key).toBe('2')
    const { next: ofAna = '' } = await operator.list('paged', '?limit=1&user_id=ana')
    const wrong: [string, string][] = [
      ['other', `?cursor=${next}`],
      ['paged', `?cursor=${ofAna}`],
      ['paged', `?user_id=ana&cursor=${next}`],
      ['paged', `?user_id=bob&cursor=${ofAna}`],
      ['paged', '?cursor='],
      ['paged', '?cursor=AAAA'],
      ['paged', `?cursor=${next}=`],
      // Its checksum is right, and its owner is U+0000.
      ['paged', `?cursor=${cursorOf(['list', 'paged'], { user_id: '\0', key: 'k' })}`],
      ['paged', `?cursor=${next}%20`],
      ['paged', `?cursor=${'A'.repeat(3000)}`],
      ['paged', `?cursor=${next.slice(0, -1)}`],
      ['paged', `?cursor=${next.startsWith('A') ? 'B' : 'A'}${next.slice(1)}`],
    ]
    for (const [collection, query] of wrong) {
      const { status } = await operator.send('GET', `/storage/${collection}${query}`)
      expect([collection, query, status]).toEqual([collection, query, 400])
    }
  })

  it('[H-STO-3] counts the objects of each collection over all owners', async () => {
    const before = new Map(await operator.collections())
    await operator.put(pathOf('counted', 'a'), {})
    await operator.put(pathOf('counted', 'a'), { changed: true })
    await operator.put(pathOf('counted', 'a', { user_id: 'ana' }), {})
    await operator.put(pathOf('Counted', 'a', { user_id: 'ana' }), {})
    const now = await operator.collections()
    expect(now.map(([name]) => name)).toEqual([...before.keys(), 'counted', 'Counted'].sort())
    expect(new Map(now).get('counted')).toBe(2)
    for (const query of [{}, { user_id: 'ana' }])
      await operator.remove(pathOf('counted', 'a', query))
    await operator.remove(pathOf('Counted', 'a', { user_id: 'ana' }))
    expect(await operator.collections()).toEqual([...before])
  })

  it('[H-STO-6] holds a write to the version that it names', async () => {
    const path = pathOf('preconditions', 'k')
    const write = async (value: unknown, version: unknown) =>
      (await operator.write(path, { value, version })).status
    expect(await write({ n: 1 }, sha('{}'))).toBe(409)
    expect((await operator.read(path)).status).toBe(404)
    expect(await write({ n: 1 }, '')).toBe(200)
    expect(await write({ n: 2 }, '')).toBe(409)
    expect(await write({ n: 1 }, '')).toBe(409)
    expect(await write({ n: 2 }, sha('{"n":2}'))).toBe(409)
    expect(await write({ n: 2 }, sha('{"n":1}').toUpperCase())).toBe(409)
    expect((await operator.get(path)).value).toEqual({ n: 1 })
    expect(await write({ n: 2 }, sha('{"n":1}'))).toBe(200)
    expect((await operator.get(path)).value).toEqual({ n: 2 })
    expect(await operator.trailOf('preconditions/k (system)')).toHaveLength(2)
  })

  it('[H-STO-7] removes once, and only the version that is named', async () => {
    const path = pathOf('removed', 'k')
    const { version } = await operator.put(path, { n: 1 })
    const remove = async (query: Record<string, string> = {}) =>
      (await operator.remove(pathOf('removed', 'k', query))).status
    expect(await remove({ version: sha('{}') })).toBe(409)
    expect((await operator.get(path)).version).toBe(version)
    expect(await remove({ version })).toBe(204)
    expect(await remove({ version })).toBe(409)
    expect(await remove()).toBe(204)
    await operator.put(path, { n: 2 })
    expect(await remove()).toBe(204)
    expect((await operator.read(path)).status).toBe(404)
    expect((await operator.trailOf('removed/k (system)')).map(([, details]) => details)).toEqual([
      `version=${version}`,
      'removed=true',
      'removed=false',
      `version=${sha('{"n":2}')}`,
      'removed=true',
    ])
  })

  it('[H-STO-8] [H-IDM-1] does a repeated request once, and answers it alike', async () => {
    const path = pathOf('repeated', 'k')
    const headers = { 'idempotency-key': 'once' }
    const body = { value: { n: 1 }, version: '' }
    const first = await operator.write(path, body, headers)
    const second = await operator.write(path, body, headers)
    expect([first.status, second.status, second.text]).toEqual([200, 200, first.text])
    expect(await operator.trailOf('repeated/k (system)')).toHaveLength(1)
    expect((await operator.write(path, body)).status).toBe(409)
  })

  it('[H-ACC-9] shows what an account owns in its export, by collection and key', async () => {
    const { user_id } = await scenario.signUp()
    const owned: [string, string][] = [
      ['b', '1'],
      ['a', '2'],
      ['a', '\uffff'],
      ['a', '😀'],
    ]
    for (const [collection, key] of owned) {
      await operator.put(pathOf(collection, key, { user_id }), { key })
    }
    await operator.put(pathOf('a', 'system'), {})
    const { body } = await operator.send('GET', `/accounts/${user_id}/export`)
    const { storage } = AccountExport().parse(body).related
    expect(storage?.map(({ collection, key }) => `${collection}/${key}`)).toEqual([
      'a/2',
      'a/\uffff',
      'a/😀',
      'b/1',
    ])
    expect(storage?.[3]).toEqual({ collection: 'b', key: '1', version: sha('{"key":"1"}') })
  })

  it.skipIf(backend.name === 'in-memory')('[O-DB-3] keeps objects over a restart', async () => {
    const own = await openScenario(backend)
    const before = await openStorageOperator(own.api)
    const object = await before.put(pathOf('kept', 'k', { user_id: 'ana' }), { n: [1, 2] })
    await own.restart()
    const after = await openStorageOperator(own.api)
    expect(await after.get(pathOf('kept', 'k', { user_id: 'ana' }))).toEqual(object)
    expect(await after.collections()).toEqual([['kept', 1]])
    await own.dispose()
  })
})
