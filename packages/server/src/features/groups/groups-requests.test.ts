import { beforeAll, describe, expect, it } from 'vitest'
import { batchStatement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { totals } from '../../database/writes/totals.ts'
import { type Operator, openViewer, viewerKeys } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { detailOf, type GroupOperator, membersOf, openGroupOperator } from './groups.fixture.ts'

const bytes1024 = 'é'.repeat(512)
const bytes4096 = '🏯'.repeat(1024)

const insertGroups = batchStatement({
  name: 'tests.insert-groups',
  text: `INSERT INTO groups (name, description, open, max_size, member_count, members_joined,
      created_at_unix_ms)
    SELECT r.name, '', 1, 0, 0, 0, 0 FROM {{rows}} AS r`,
  params: { name: 'text' },
})

describe.each(testBackends)('requests about groups on $name', (backend) => {
  let scenario: Scenario
  let operator: GroupOperator
  let viewer: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend, viewerKeys)
    operator = await openGroupOperator(scenario.api)
    viewer = await openViewer(scenario.api)
    return () => scenario.dispose()
  })

  describe('bounds', () => {
    it('[H-GRP-1] [H-GEN-18] takes every text at its last byte', async () => {
      const group = await operator.make({
        name: ` ${bytes1024} `,
        description: bytes4096,
        creator_user_id: ` ${bytes1024}\n`,
        max_size: 4_294_967_295,
      })
      expect(group).toMatchObject({
        name: bytes1024,
        description: bytes4096,
        max_size: 4_294_967_295,
      })
      expect(membersOf(group)).toEqual([`${bytes1024}:superadmin`])
      const member = '🏰'.repeat(256)
      await operator.add(group.id, member)
      expect((await operator.move(group.id, member, 'promote')).status).toBe(200)
      expect((await operator.move(group.id, member, 'kick')).status).toBe(200)
      expect(await operator.get(group.id)).toMatchObject({
        description: bytes4096,
        member_count: 1,
      })
    })

    it('[H-GEN-21] takes control characters but U+0000 in names, ids and descriptions', async () => {
      const group = await operator.make({ name: 'a\u0001\u0085b', description: '\u0007\n' })
      expect(group).toMatchObject({ name: 'a\u0001\u0085b', description: '\u0007\n' })
      expect((await operator.add(group.id, 'x\u0002y')).status).toBe(200)
      expect(await operator.trailOf(String(group.id))).toEqual([['groups.create', 'name=a??b']])
      expect(await operator.trailOf(`${group.id}/x?y`)).toHaveLength(1)
    })

    it.each([
      ['no name', {}],
      ['a null name', { name: null }],
      ['a number for a name', { name: 7 }],
      ['an empty name', { name: '' }],
      ['a blank name', { name: ' \t\u00a0' }],
      ['a name of 1,025 bytes', { name: `${bytes1024}x` }],
      ['a name with U+0000', { name: 'a\u0000b' }],
      ['a description of 4,097 bytes', { name: 'x', description: `${bytes4096}x` }],
      ['a description with U+0000', { name: 'x', description: '\u0000' }],
      ['an open flag that is text', { name: 'x', open: 'true' }],
      ['a max_size below 0', { name: 'x', max_size: -1 }],
      ['a max_size above 2^32 - 1', { name: 'x', max_size: 4_294_967_296 }],
      ['a fraction for max_size', { name: 'x', max_size: 1.5 }],
      ['text for max_size', { name: 'x', max_size: '3' }],
      ['an empty creator', { name: 'x', creator_user_id: '' }],
      ['a blank creator', { name: 'x', creator_user_id: '\n ' }],
      ['a creator of 1,025 bytes', { name: 'x', creator_user_id: `${bytes1024}x` }],
      ['a creator with U+0000', { name: 'x', creator_user_id: '\u0000' }],
      ['an unknown field', { name: 'x', id: 7 }],
      ['an array', []],
      ['broken JSON', '{"name":'],
      ['a literal with an exponent', '{"name":"x","max_size":1e1}'],
      ['a repeated field', '{"name":"x","name":"y"}'],
    ])('[H-GRP-1] refuses to found a group with %s', async (_case, body) => {
      const before = await operator.list()
      const answer = await operator.send('POST', '/groups', body)
      expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_request' }])
      expect(await operator.list()).toEqual(before)
    })

    it.each([
      ['a name', { name: 'new' }],
      ['a creator', { creator_user_id: 'x' }],
      ['a description of 4,097 bytes', { description: `${bytes4096}x` }],
      ['a max_size above 2^32 - 1', { max_size: 4_294_967_296 }],
      ['a negative max_size', { max_size: -1 }],
      ['a number for the open flag', { open: 1 }],
      ['an array', []],
    ])('[H-GRP-3] refuses to change %s', async (_case, body) => {
      const group = await operator.make()
      const answer = await operator.send('PUT', `/groups/${group.id}`, body)
      expect(answer.status).toBe(400)
      expect(await operator.get(group.id)).toEqual(group)
      expect(await operator.trailOf(String(group.id))).toHaveLength(1)
    })

    it('[H-GRP-4] refuses a member without an id, or with one out of bounds', async () => {
      const group = await operator.make()
      for (const user_id of ['', '  ', `${bytes1024}x`, 'a\u0000', null, undefined, 7, ['x']]) {
        expect((await operator.add(group.id, user_id)).status).toBe(400)
      }
      for (const user_id of [' ', '%09', encodeURIComponent(`${bytes1024}x`), 'a%00', '%ff']) {
        for (const move of ['promote', 'demote', 'kick']) {
          const path = `/groups/${group.id}/members/${user_id}/${move}`
          expect((await operator.send('POST', path)).status).toBe(400)
        }
      }
      expect(await operator.get(group.id)).toEqual(group)
    })

    it.each([
      '9007199254740992',
      '00000000000000001',
      '-1',
      '+1',
      '1.0',
      '1e3',
      '0x1',
      'a',
      '%20',
      '1%20',
      '%D9%A1',
    ])('[H-GEN-24] refuses the group id %s on every route', async (id) => {
      for (const [method, rest] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/members'],
        ['POST', '/members/x/promote'],
        ['POST', '/members/x/demote'],
        ['POST', '/members/x/kick'],
      ] as const) {
        const body = rest === '/members' ? { user_id: 'x' } : method === 'PUT' ? {} : undefined
        const answer = await operator.send(method, `/groups/${id}${rest}`, body)
        expect([method, rest, answer.status]).toEqual([method, rest, 400])
      }
    })

    it('[H-GEN-24] takes 0 and 2^53 - 1 as unknown, and leading zeros within 16 digits', async () => {
      expect((await operator.read('0')).status).toBe(404)
      expect((await operator.read('9007199254740991')).status).toBe(404)
      const group = await operator.make()
      expect((await operator.read(String(group.id).padStart(16, '0'))).body).toEqual(group)
    })
  })

  describe('order of checks', () => {
    const routes = [
      ['POST', '/groups'],
      ['PUT', '/groups/x'],
      ['DELETE', '/groups/x'],
      ['POST', '/groups/x/members'],
      ['POST', '/groups/x/members/%20/promote'],
      ['POST', '/groups/x/members/%20/demote'],
      ['POST', '/groups/x/members/%20/kick'],
    ] as const

    it.each(routes)('[H-GEN-6] [H-GEN-7] 401, then 403, then 400: %s %s', async (method, path) => {
      const stranger = await scenario.api.call(method, `/console/v1${path}`, { body: '{broken' })
      expect([stranger.status, stranger.body]).toMatchObject([
        401,
        { code: 'authentication_failed' },
      ])
      const looker = await viewer.send(method, path, '{broken')
      expect([looker.status, looker.body]).toMatchObject([403, { code: 'forbidden' }])
      expect((await operator.send(method, path, '{broken')).status).toBe(400)
    })

    it('[H-GEN-6] 400 comes before 404, and 404 before 409', async () => {
      expect((await operator.send('PUT', '/groups/999999', { max_size: -1 })).status).toBe(400)
      expect((await operator.send('PUT', '/groups/999999', {})).status).toBe(404)
      expect((await operator.add(999_999, '')).status).toBe(400)
      expect((await operator.add(999_999, 'admin')).status).toBe(404)
      const { id } = await operator.make({ max_size: 1 })
      expect((await operator.add(id, ' ')).status).toBe(400)
      expect((await operator.add(id, 'x')).status).toBe(409)
    })

    it('[H-AUTH-5] a viewer reads what the admin reads', async () => {
      const group = await operator.make()
      expect((await viewer.send('GET', `/groups/${group.id}`)).body).toEqual(group)
      expect((await viewer.send('GET', '/groups?limit=200')).body).toEqual(
        await operator.list('?limit=200'),
      )
    })
  })

  describe('the same request again', () => {
    it('[H-IDM-3] gets the same answer, and does and records nothing', async () => {
      const key = { 'idempotency-key': 'once' }
      const founded = await operator.send('POST', '/groups', { name: 'repeated' }, key)
      const { id } = detailOf(founded)
      const again = await operator.send('POST', '/groups', { name: 'repeated' }, key)
      expect([again.status, again.text]).toEqual([201, founded.text])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      const other = await operator.send('POST', '/groups', { name: 'repeated ' }, key)
      expect(other.status).toBe(409)
      expect(await operator.trailOf(String(id))).toHaveLength(1)

      const added = await operator.add(id, 'ada', key)
      const up = await operator.move(id, 'ada', 'promote', key)
      for (const request of [
        () => operator.add(id, 'ada', key),
        () => operator.move(id, 'ada', 'promote', key),
      ]) {
        expect((await request()).headers.get('idempotency-replayed')).toBe('true')
      }
      expect((await operator.add(id, 'ada', key)).text).toBe(added.text)
      expect((await operator.move(id, 'ada', 'promote', key)).text).toBe(up.text)
      expect(membersOf(await operator.get(id))).toEqual(['admin:superadmin', 'ada:admin'])

      const ended = await operator.send('DELETE', `/groups/${id}`, undefined, key)
      const endedAgain = await operator.send('DELETE', `/groups/${id}`, undefined, key)
      expect([ended.status, endedAgain.status]).toEqual([204, 204])
      expect(await operator.trailOf(String(id))).toHaveLength(2)
    })

    it('[H-IDM-4] is tried again when it was refused', async () => {
      const { id } = await operator.make({ max_size: 1 })
      const key = { 'idempotency-key': 'until it fits' }
      expect((await operator.add(id, 'x', key)).status).toBe(400)
      const fine = { 'idempotency-key': 'until-it-fits' }
      expect((await operator.add(id, 'x', fine)).status).toBe(409)
      await operator.send('PUT', `/groups/${id}`, { max_size: 2 })
      const added = await operator.add(id, 'x', fine)
      expect([added.status, added.headers.get('idempotency-replayed')]).toEqual([200, null])
    })
  })
})

describe.each(testBackends)('the list of groups on $name', (backend) => {
  let scenario: Scenario
  let operator: GroupOperator
  const names = ['50% off', '50x off', 'a_b', 'axb', 'Äda', 'äda', '🏰🏯', 'Order']
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openGroupOperator(scenario.api)
    for (const name of names) await operator.make({ name })
    const many = Array.from({ length: 1300 }, (_, index) => ({ name: `many ${index}` }))
    await scenario.db.transaction(async (tx) => {
      await tx.each(insertGroups, many)
      for (const _ of many) await totals.grow(tx, 'groups')
    })
    return () => scenario.dispose()
  })
  const filtered = async (filter: string, rest = '') =>
    operator.list(`?filter=${encodeURIComponent(filter)}${rest}`)

  it('[H-GRP-2] is ordered by id, pages by limit and offset, and counts all', async () => {
    const page = await operator.list()
    expect([page.items.length, page.total]).toEqual([50, 1308])
    const ids = page.items.map(({ id }) => id)
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
    expect(page.items.slice(0, 8).map(({ name }) => name)).toEqual(names)
    expect(page.items[0]).not.toHaveProperty('members')
    for (const [offset, first] of [
      [1000, 'many 992'],
      [1001, 'many 993'],
    ] as const) {
      const { items } = await operator.list(`?limit=1&offset=${offset}`)
      expect(items.map(({ name }) => name)).toEqual([first])
    }
    const last = await operator.list('?limit=200&offset=1200')
    expect([last.items.length, last.total]).toEqual([108, 1308])
    expect(await operator.list('?offset=1308')).toEqual({ items: [], total: 1308 })
    expect(await operator.list('?offset=9007199254740991')).toEqual({ items: [], total: 1308 })
  })

  it('[H-GEN-26] clamps the limit to 1..200', async () => {
    for (const [limit, length] of [
      ['0', 1],
      ['1', 1],
      ['200', 200],
      ['201', 200],
      ['99999999999999999999', 200],
    ] as const) {
      expect((await operator.list(`?limit=${limit}`)).items).toHaveLength(length)
    }
  })

  it('[H-GRP-2] [H-GEN-22] filters by a substring of the name, letter by letter', async () => {
    const found = async (filter: string) => {
      const { items, total } = await filtered(filter)
      expect(total).toBe(items.length)
      return items.map(({ name }) => name)
    }
    for (const name of names) expect(await found(name)).toEqual([name])
    expect(await found('0% o')).toEqual(['50% off'])
    expect((await found('50')).slice(0, 4)).toEqual(['50% off', '50x off', 'many 50', 'many 150'])
    expect(await found('🏯')).toEqual(['🏰🏯'])
    for (const none of ['order', 'ORDER', '%%', '__', '*', 'a.b', "'", '\\']) {
      expect(await found(none)).toEqual([])
    }
  })

  it('[H-GRP-2] counts after the filter and before the page; an empty filter matches all', async () => {
    const page = await filtered('many', '&limit=3&offset=1')
    expect([page.items.map(({ name }) => name), page.total]).toEqual([
      ['many 1', 'many 2', 'many 3'],
      1300,
    ])
    expect(await filtered('many', '&offset=1300')).toEqual({ items: [], total: 1300 })
    expect(await filtered('')).toEqual(await operator.list())
  })

  it.each([
    'unknown=1',
    'Filter=x',
    'filter=a&filter=b',
    'limit=',
    'limit=-1',
    'limit=+1',
    'limit=1.0',
    'offset=',
    'offset=-1',
    'offset=9007199254740992',
    'filter=%00',
    `filter=${'x'.repeat(1025)}`,
    'filter=%ff',
  ])('[H-GEN-25] [H-GEN-26] refuses the query %.30s', async (query) => {
    expect((await operator.send('GET', `/groups?${query}`)).status).toBe(400)
  })

  it('[H-GEN-25] routes that declare no query ignore it', async () => {
    const { id } = (await operator.list()).items[0] ?? { id: 0 }
    expect((await operator.send('GET', `/groups/${id}?limit=x&unknown`)).status).toBe(200)
  })
})
