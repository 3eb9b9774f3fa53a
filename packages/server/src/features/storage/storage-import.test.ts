import { storageApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import { type Operator, openViewer, viewerKeys } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { openStorageOperator, pathOf, type StorageOperator } from './storage.fixture.ts'

const none = { created: 0, replaced: 0, unchanged: 0, kept: 0, refused: [] }
const save = (key: string, value: unknown = { level: 1 }, more: object = {}) => {
  return { collection: 'saves', user_id: 'ana', key, value, ...more }
}

describe.each(testBackends)('an import of objects on $name', (backend) => {
  let scenario: Scenario
  let operator: StorageOperator
  let viewer: Operator
  beforeEach(async () => {
    scenario = await openScenario(backend, viewerKeys)
    operator = await openStorageOperator(scenario.api)
    viewer = await openViewer(scenario.api)
    return () => scenario.dispose()
  })
  const send = (body: unknown, headers?: Record<string, string>) =>
    operator.send('POST', '/storage-import', body, headers)
  const imported = async (body: unknown, headers?: Record<string, string>) => {
    const answer = await send(body, headers)
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    return storageApi.import.ok.parse(answer.body)
  }
  const pathOfSave = (key: string) => pathOf('saves', key, { user_id: 'ana' })
  const audited = () => scenario.countRows('audit_unsealed')
  const values = async (query = '') => {
    const answer = await operator.send('GET', `/storage-values/saves${query}`)
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    return storageApi.values.ok.parse(readJson(answer.text).value)
  }

  it('[H-STO-4] [H-STO-8] stores objects with their permissions, each with its audit entry', async () => {
    const system = { collection: 'rules', key: 'day', value: { rate: 1.5 } }
    const objects = [save('one'), save('two', { level: 2 }, { read_permission: 2 }), system]
    expect(await imported({ objects })).toEqual({ ...none, created: 3 })
    expect(await operator.get(pathOfSave('two'))).toMatchObject({
      user_id: 'ana',
      value: { level: 2 },
      read_permission: 2,
      write_permission: 1,
    })
    expect(await operator.collections()).toEqual([
      ['rules', 1],
      ['saves', 2],
    ])
    const { version } = await operator.get(pathOfSave('one'))
    expect(await operator.trailOf('saves/one (user ana)')).toEqual([
      ['storage.write', `version=${version}`],
    ])
    expect(await operator.trailOf('rules/day (system)')).toHaveLength(1)
  })

  it('takes what an export gives, integers exact, and changes nothing by it', async () => {
    const text = '{"collection":"saves","key":"big","value":{"n":9223372036854775807,"a":[]}}'
    expect(await imported(`{"objects":[${text}]}`)).toEqual({ ...none, created: 1 })
    const exported = (await operator.send('GET', '/storage-values/saves')).text
    expect(exported).toContain('9223372036854775807')
    const body = exported.replace('"items"', '"objects"')
    expect(await imported(body)).toEqual({ ...none, unchanged: 1 })
    await operator.remove(pathOf('saves', 'big'))
    expect(await imported(body)).toEqual({ ...none, created: 1 })
    expect((await operator.send('GET', '/storage-values/saves')).text).toBe(exported)
  })

  it('refuses, keeps or replaces what is there and differs', async () => {
    await imported({ objects: [save('one'), save('two')] })
    const changed = [save('one'), save('two', { level: 9 }), save('three')]
    const refused = await send({ objects: changed })
    expect([refused.status, refused.body]).toEqual([
      409,
      { code: 'conflict', message: 'objects[1]: the object exists' },
    ])
    expect((await operator.list('saves')).items).toHaveLength(2)
    const kept = { ...none, created: 1, unchanged: 1, kept: 1 }
    expect(await imported({ objects: changed, existing: 'keep' })).toEqual(kept)
    expect((await operator.get(pathOfSave('two'))).value).toEqual({ level: 1 })
    const replaced = { ...none, replaced: 1, unchanged: 2 }
    expect(await imported({ objects: changed, existing: 'replace' })).toEqual(replaced)
    expect((await operator.get(pathOfSave('two'))).value).toEqual({ level: 9 })
    expect(await operator.trailOf('saves/two (user ana)')).toHaveLength(2)
    expect(await operator.trailOf('saves/one (user ana)')).toHaveLength(1)
  })

  it('says in a dry run what would become of each, and changes nothing', async () => {
    await imported({ objects: [save('one'), save('two')] })
    const before = [await values(), await operator.collections(), await audited()]
    const objects = [
      save('one'),
      save('two', { level: 9 }),
      save('three'),
      save('three'),
      { collection: 'saves', key: 'x' },
      save('four', { level: 4 }, { version: '0123456789abcdef' }),
      save('five', { level: 5 }, { read_permission: 3 }),
      save('six', { level: 6 }, { colour: 'red' }),
      save('seven', { text: 'x'.repeat(524_288) }),
      save('', {}),
    ]
    const outcome = await imported({ objects, dry_run: true })
    expect(outcome).toMatchObject({ created: 1, replaced: 0, unchanged: 1, kept: 0 })
    expect(outcome.refused.map(({ index, code }) => [index, code])).toEqual([
      [1, 'conflict'],
      ...[3, 4, 5, 6, 7, 8, 9].map((index) => [index, 'invalid_request']),
    ])
    expect(outcome.refused.map(({ message }) => message)).toEqual([
      'the object exists',
      'the object stands in the import twice',
      'value must be an object',
      'version must be that of the value, or absent',
      'read_permission must be at most 2',
      'the object has an unknown field',
      'value must be at most 524288 bytes as JSON',
      expect.stringContaining('key must be 1..128 bytes'),
    ])
    const wanted = { objects: objects.slice(0, 3), existing: 'replace', dry_run: true }
    expect(await imported(wanted)).toEqual({ ...none, created: 1, replaced: 1, unchanged: 1 })
    expect([await values(), await operator.collections(), await audited()]).toEqual(before)
    expect((await send({ objects })).status).toBe(400)
    expect(await values()).toEqual(before[0])
  })

  it('is whole or nothing, whichever object is refused', async () => {
    const good = Array.from({ length: 20 }, (_, index) => save(`k-${index}`))
    for (const bad of [save('k-1'), save('bad', [1]), save('bad', {}, { version: 'x' })]) {
      const answer = await send({ objects: [...good, bad] })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('objects[20]: ')
    }
    expect((await values()).items).toEqual([])
    expect(await imported({ objects: good })).toEqual({ ...none, created: 20 })
  })

  it('[H-IDM-2] is done once under one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'import-1' }
    const first = await imported({ objects: [save('one')] }, headers)
    await operator.remove(pathOfSave('one'))
    expect(await imported({ objects: [save('one')] }, headers)).toEqual(first)
    expect((await operator.list('saves')).items).toEqual([])
    expect((await send({ objects: [save('two')] }, headers)).status).toBe(409)
  })

  it('[H-STO-6] does not lose against others who add the same objects', async () => {
    const other = await openStorageOperator(await scenario.openNode())
    const objects = Array.from({ length: 30 }, (_, index) => save(`k-${index}`))
    const outcomes = await Promise.all(
      [operator, other, operator, other].map((each, index) =>
        each.send('POST', '/storage-import', {
          objects: index % 2 === 0 ? objects : objects.toReversed(),
          existing: 'replace',
        }),
      ),
    )
    expect(outcomes.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const created = outcomes.map(({ body }) => storageApi.import.ok.parse(body).created)
    expect(created.toSorted((a, b) => a - b)).toEqual([0, 0, 0, 30])
    expect(await operator.collections()).toEqual([['saves', 30]])
  })

  it.each([
    ['no objects', { objects: [] }],
    ['201 objects', { objects: Array.from({ length: 201 }, (_, index) => save(`k-${index}`)) }],
    ['what is no object', { objects: [1] }],
    ['another mode', { objects: [save('one')], existing: 'merge' }],
    ['an unknown field', { objects: [save('one')], version: 'x' }],
    ['no list', { objects: save('one') }],
  ])('[H-GEN-13] refuses %s', async (_case, body) => {
    expect((await send(body)).status).toBe(400)
    expect((await values()).items).toEqual([])
  })

  it('[H-AUTH-5] is for admins; values are for viewers too', async () => {
    const body = { objects: [save('one')], dry_run: true }
    expect((await viewer.send('POST', '/storage-import', body)).status).toBe(403)
    expect((await viewer.send('GET', '/storage-values/saves')).status).toBe(200)
  })

  it('[H-STO-2] values come page by page in the order of the list, of one owner or all', async () => {
    const owners = [undefined, 'ana', 'bob']
    const objects = owners.flatMap((user_id) =>
      ['b', 'a', 'c'].map((key) => ({ collection: 'saves', user_id, key, value: { key } })),
    )
    await imported({ objects })
    const all = (await operator.walk('saves', 200)).flat()
    const walk = async (query: string) => {
      const found: string[] = []
      let cursor = ''
      for (;;) {
        const { items, next } = await values(`?limit=2${query}${cursor}`)
        for (const { user_id, key, value } of items) {
          expect(value).toEqual({ key })
          found.push(`${user_id ?? '-'}/${key}`)
        }
        if (next === undefined) return found
        cursor = `&cursor=${next}`
      }
    }
    expect(await walk('')).toEqual(all)
    expect(await walk('&user_id=bob')).toEqual(['bob/a', 'bob/b', 'bob/c'])
    const { next = '' } = await operator.list('saves', '?limit=2')
    const foreign = await operator.send('GET', `/storage-values/saves?cursor=${next}`)
    expect(foreign.status).toBe(400)
  })

  it('a page of values has at most a mebibyte, or one object', async () => {
    const large = { text: 'x'.repeat(400_000) }
    for (const key of ['a', 'b', 'c', 'd', 'e']) await operator.put(pathOfSave(key), large)
    const sizes: number[] = []
    let cursor = ''
    for (;;) {
      const { items, next } = await values(`?limit=200${cursor}`)
      sizes.push(items.length)
      if (next === undefined) break
      cursor = `&cursor=${next}`
    }
    expect(sizes).toEqual([2, 2, 1])
  })
})
