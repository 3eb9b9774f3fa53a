import { apiKeysApi, auditApi, databaseApi } from '@guildhall/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import { openTestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'
import { type ExplorerOperator, openExplorer } from './database.fixture.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')
const byId = { column: 'id', direction: 'asc' } as const

describe.each(durable)('the database explorer on $name', (backend) => {
  let at: ExplorerOperator
  beforeAll(async () => {
    at = await openExplorer(backend)
    for (const [name, open] of Object.entries({ red: true, green: false, blue: true })) {
      const body = { name, open, creator_user_id: 'ana' }
      expect((await at.operator.send('POST', '/groups', body)).status).toBe(201)
    }
    await at.ddl(
      `CREATE TABLE "Odd ""table""" ("the id" {{text}} NOT NULL PRIMARY KEY, "a""b" {{bigint}},
        "10" {{bigint}}, "9" {{bytes}}, old_password {{text}})`,
      `INSERT INTO "Odd ""table""" VALUES ('x', 9223372036854775807, NULL, NULL, 'hunter2'),
        ('y''s', NULL, -9223372036854775808, NULL, NULL), ('z%', 5, 1, NULL, NULL),
        ('Z_', NULL, 1, NULL, NULL)`,
      'CREATE VIEW open_groups AS SELECT id, name FROM groups WHERE open = 1',
      'CREATE TABLE keyless (note {{text}})',
      'CREATE TABLE my_totals (id {{bigint}} NOT NULL PRIMARY KEY)',
    )
  })
  afterAll(() => at.dispose())
  const advanceMinute = () => at.clock.advance(60_000)

  it('[H-DBX-2] lists the tables and views of the game and of others, never the hidden ones', async () => {
    await advanceMinute()
    const { body } = await at.operator.send('GET', '/database')
    const { tables } = databaseApi.tables.ok.parse(body)
    const names = tables.map(({ table }) => table.table)
    expect(names).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    expect(new Set(tables.map(({ table }) => table.schema))).toEqual(new Set([at.schema]))
    for (const name of ['groups', 'Odd "table"', 'api_keys', 'my_totals', 'audit_entries']) {
      expect(names).toContain(name)
    }
    expect(tables.find(({ table }) => table.table === 'open_groups')?.kind).toBe('view')
    const hidden = ['deployment_secrets', 'leases', 'schema_migrations', 'schema_lease', 'totals']
    for (const name of [...hidden, 'account_totals', 'leaderboard_blocks', 'sqlite_sequence']) {
      expect(names).not.toContain(name)
      expect((await at.describe(name)).status).toBe(404)
      expect(await at.refusal(name, { sort: byId })).toMatchObject({ status: 404 })
    }
  })

  it('[H-DBX-1] [H-DBX-10] keeps API keys from all but a human admin, and redacts the verifier', async () => {
    await advanceMinute()
    const key = { name: 'ci', scopes: ['database:read'] }
    const { key: made, secret } = apiKeysApi.create.ok.parse(
      (await at.operator.send('POST', '/api-keys', key)).body,
    )
    const machine = {
      ...at.operator,
      send: (method: string, path: string, body?: unknown) =>
        at.api.call(method, `/console/v1${path}`, { token: secret, body }),
    }
    for (const by of [at.eye, machine]) {
      const { tables } = databaseApi.tables.ok.parse((await by.send('GET', '/database')).body)
      expect(tables.map(({ table }) => table.table)).not.toContain('api_keys')
      expect((await at.describe('api_keys', by)).status).toBe(403)
      const elsewhere = { table: { schema: 'elsewhere', table: 'api_keys' }, sort: byId }
      expect((await at.post('rows', elsewhere, by)).status).toBe(403)
      expect((await at.post('rows', { ...elsewhere, limit: 'x' }, by)).status).toBe(400)
      expect((await at.post('row', { table: elsewhere.table, row_ref: 'x' }, by)).status).toBe(403)
      expect((await at.rows('groups', { sort: byId }, by)).rows).toHaveLength(3)
    }
    const { rows } = await at.rows('api_keys', { sort: byId })
    expect(rows[0]?.values).toMatchObject({
      name: { kind: 'text', value: 'ci' },
      secret_digest: { kind: 'redacted' },
      expires_at: { kind: 'null' },
    })
    const received = await at.operator.trailOf('groups')
    expect(received).toContainEqual(['database.rows', 'returned=3'])
    const trail = await at.operator.send('GET', `/audit?limit=500&actor=${made.id}`)
    const { entries } = auditApi.list.ok.parse(trail.body)
    const actions = entries.map(({ action }) => action)
    expect(actions.filter((action) => action === 'console.read')).toHaveLength(6)
    expect(actions.filter((action) => action.startsWith('database.'))).toHaveLength(2)
  })

  it('[H-DBX-3] [H-DBX-9] describes columns, keys, indexes and relations', async () => {
    await advanceMinute()
    const { body } = await at.describe('group_members')
    const received = databaseApi.describe.ok.parse(body)
    expect(received.primary_key).toEqual(['group_id', 'user_id'])
    expect(received.capabilities).toEqual({
      views: true,
      indexes: true,
      foreign_keys: true,
      stable_keyset_pagination: true,
    })
    expect(received.columns.map(({ name }) => name).slice(0, 3)).toEqual([
      'group_id',
      'user_id',
      'role',
    ])
    expect(received.indexes).toContainEqual({
      name: 'group_members_order',
      columns: ['group_id', 'join_order'],
      unique: true,
    })
    expect(received.relations).toEqual([
      {
        name: 'group_members_group_id_fkey',
        columns: ['group_id'],
        referenced_table: { schema: at.schema, table: 'groups' },
        referenced_columns: ['id'],
      },
    ])
    const identities = databaseApi.describe.ok.parse((await at.describe('identities')).body)
    expect(identities.capabilities.stable_keyset_pagination).toBe(false)
    const marked = identities.columns.filter(({ sensitive }) => sensitive).map(({ name }) => name)
    expect(marked).toEqual(['external_id', 'password_verifier'])
    expect(identities.columns.some(({ sortable }) => sortable)).toBe(false)
    const odd = databaseApi.describe.ok.parse((await at.describe('Odd%20%22table%22')).body)
    expect(
      odd.columns.map(({ nullable, sensitive, sortable }) => [nullable, sensitive, sortable]),
    ).toEqual([
      [false, false, true],
      [true, false, true],
      [true, false, true],
      [true, false, true],
      [true, true, false],
    ])
    const view = databaseApi.describe.ok.parse((await at.describe('open_groups')).body)
    expect(view.columns.map(({ name }) => name)).toEqual(['id', 'name'])
    for (const table of ['open_groups', 'keyless', 'identities']) {
      const sort = { column: table === 'keyless' ? 'note' : 'id', direction: 'asc' }
      expect(await at.refusal(table, { sort })).toMatchObject({ status: 400 })
    }
    expect((await at.operator.send('GET', '/database/other/groups')).status).toBe(404)
    expect((await at.describe('x'.repeat(129))).status).toBe(400)
    expect((await at.describe('a%00b')).status).toBe(400)
    expect(await at.operator.trailOf('group_members')).toEqual([
      ['database.describe', 'returned=1'],
    ])
  })

  it('[H-DBX-6] answers typed cells, in text order of their columns', async () => {
    await advanceMinute()
    const { rows } = await at.rows('groups', { sort: { column: 'name', direction: 'asc' } })
    expect(rows.map(({ values }) => values.name?.value)).toEqual(['blue', 'green', 'red'])
    const names = Object.keys(rows[0]?.values ?? {})
    expect(names).toEqual(names.toSorted())
    expect(rows[1]?.values).toMatchObject({
      id: { kind: 'integer', value: 2 },
      open: { kind: 'boolean', value: false },
      description: { kind: 'text', value: '' },
      created_at_unix_ms: { kind: 'integer' },
    })
    const table = { schema: at.schema, table: 'Odd "table"' }
    const sort = { column: 'the id', direction: 'asc' }
    const { text } = await at.post('rows', { table, sort, limit: 1 })
    const value = text.replace(/"(row_ref|next)":"[\w-]{43}"/g, '"$1":""')
    // The second sorts first by bytes.
    const first = text.includes('Z_') ? 'Z_' : 'x'
    expect(first).toBe('Z_')
    expect(value).toBe(
      `{"table":{"schema":"${at.schema}","table":"Odd \\"table\\""},"rows":[{"values":{` +
        '"10":{"kind":"integer","value":1},"9":{"kind":"null"},"a\\"b":{"kind":"null"},' +
        '"old_password":{"kind":"redacted"},"the id":{"kind":"text","value":"Z_"}},"row_ref":""}],' +
        '"next":""}',
    )
    const exact = await at.rows('Odd "table"', {
      sort: { column: 'the id', direction: 'asc' },
      filters: [{ column: 'a"b', operator: 'gt', value: 5 }],
    })
    expect(exact.rows.map(({ values }) => values['a"b'])).toEqual([
      { kind: 'integer', value: 9_223_372_036_854_775_807n },
    ])
  })

  it('[H-DBX-7] pages completely over nulls, in both directions', async () => {
    await advanceMinute()
    const ids = async (column: string, direction: 'asc' | 'desc') => {
      const seen: unknown[] = []
      let cursor: string | undefined
      do {
        const sort = { column, direction }
        const page = await at.rows('Odd "table"', { sort, limit: 1, ...(cursor && { cursor }) })
        seen.push(...page.rows.map(({ values }) => values['the id']?.value))
        cursor = page.next
      } while (cursor !== undefined)
      return seen
    }
    expect(await ids('a"b', 'asc')).toEqual(['Z_', "y's", 'z%', 'x'])
    expect(await ids('a"b', 'desc')).toEqual(['x', 'z%', "y's", 'Z_'])
    expect(await ids('10', 'asc')).toEqual(['x', "y's", 'Z_', 'z%'])
    expect(await ids('the id', 'desc')).toEqual(['z%', "y's", 'x', 'Z_'])
  })

  it.each([
    [{ column: 'the id', operator: 'contains', value: '%' }, ['z%']],
    [{ column: 'the id', operator: 'contains', value: '_' }, ['Z_']],
    [{ column: 'the id', operator: 'contains', value: "'s" }, ["y's"]],
    [{ column: 'the id', operator: 'eq', value: "y's" }, ["y's"]],
    [{ column: 'a"b', operator: 'is_null' }, ['Z_', "y's"]],
    [{ column: 'a"b', operator: 'eq', value: null }, ['Z_', "y's"]],
    [{ column: 'a"b', operator: 'neq', value: null }, ['x', 'z%']],
    [{ column: 'a"b', operator: 'lte', value: 5 }, ['z%']],
    [{ column: '10', operator: 'gte', value: 1 }, ['Z_', 'z%']],
    [{ column: '10', operator: 'neq', value: 1 }, ["y's"]],
  ] as const)('[H-DBX-5] filters by %j', async (filter, expected) => {
    await advanceMinute()
    const sort = { column: 'the id', direction: 'asc' } as const
    const { rows } = await at.rows('Odd "table"', { sort, filters: [filter] })
    expect(rows.map(({ values }) => values['the id']?.value)).toEqual(expected)
  })

  it.each([
    { column: 'nothing', operator: 'eq', value: 1 },
    { column: 'old_password', operator: 'eq', value: 'hunter2' },
    { column: 'a"b', operator: 'eq', value: 'five' },
    { column: 'a"b', operator: 'eq', value: 1.5 },
    { column: 'a"b', operator: 'lt', value: null },
    { column: 'a"b', operator: 'eq' },
    { column: 'a"b', operator: 'is_null', value: 1 },
    { column: 'a"b', operator: 'contains', value: '5' },
    { column: 'the id', operator: 'contains', value: 5 },
    { column: 'the id', operator: 'eq', value: 'x'.repeat(1023) },
    { column: 'the id', operator: 'eq', value: ['x'] },
    { column: 'the id', operator: 'like', value: 'x' },
    { column: '9', operator: 'eq', value: 'not base64' },
  ])('[H-DBX-4] [H-DBX-5] refuses to filter by %j', async (filter) => {
    await advanceMinute()
    const sort = { column: 'the id', direction: 'asc' }
    const refusal = await at.refusal('Odd "table"', { sort, filters: [filter] })
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_request' })
  })

  it('[H-DBX-4] [H-DBX-5] refuses numbers beyond 64 bits, unknown columns and sensitive ones', async () => {
    await advanceMinute()
    const table = { schema: at.schema, table: 'Odd "table"' }
    const huge = `{"table":${JSON.stringify(table)},"sort":{"column":"the id","direction":"asc"},
      "filters":[{"column":"10","operator":"eq","value":9223372036854775808}]}`
    expect((await at.operator.send('POST', '/database/rows', huge)).status).toBe(400)
    for (const column of ['nothing', 'old_password', '"; DROP TABLE groups; --']) {
      const refusal = await at.refusal('Odd "table"', { sort: { column, direction: 'asc' } })
      expect(refusal.status).toBe(400)
    }
    const sort = { column: 'the id', direction: 'asc' } as const
    for (const limit of [-5, 0, 1]) {
      expect((await at.rows('Odd "table"', { sort, limit })).rows).toHaveLength(1)
    }
    expect((await at.rows('Odd "table"', { sort, limit: 1e6 })).rows).toHaveLength(4)
    const filters = Array.from({ length: 9 }, () => ({ column: '10', operator: 'is_null' }))
    expect((await at.refusal('Odd "table"', { sort, filters })).status).toBe(400)
    expect((await at.refusal('Odd "table"', { sort, offset: 1 })).status).toBe(400)
  })

  it('[H-DBX-7] binds cursors and references to caller, table, sort, filters and five minutes', async () => {
    await advanceMinute()
    const sort = byId
    const { rows, next } = await at.rows('groups', { sort, limit: 1 })
    const row_ref = rows[0]?.row_ref ?? ''
    expect([row_ref, next]).toEqual([expect.stringMatching(/^[\w-]{43}$/), expect.any(String)])
    const cursor = next ?? ''
    const other = { ...sort, direction: 'desc' }
    const filters = [{ column: 'name', operator: 'eq', value: 'red' }]
    expect((await at.refusal('groups', { sort: other, cursor })).status).toBe(400)
    expect((await at.refusal('groups', { sort, filters, cursor })).status).toBe(400)
    expect((await at.refusal('groups', { sort, cursor: row_ref })).status).toBe(400)
    expect((await at.refusal('groups', { sort, cursor: 'nonsense' })).status).toBe(400)
    expect((await at.refusal('groups', { sort, cursor }, at.eye)).status).toBe(400)
    expect((await at.refusal('my_totals', { sort, cursor })).status).toBe(400)
    expect((await at.rows('groups', { sort, cursor, limit: 5 })).rows).toHaveLength(2)
    const table = { schema: at.schema, table: 'groups' }
    const elsewhere = { schema: at.schema, table: 'my_totals' }
    const again = await at.post('row', { table, row_ref })
    expect(databaseApi.row.ok.parse(readJson(again.text).value).values.id?.value).toBe(1)
    expect((await at.post('row', { table: elsewhere, row_ref })).status).toBe(400)
    expect((await at.post('row', { table, row_ref }, at.eye)).status).toBe(400)
    expect((await at.post('row', { table, row_ref: cursor })).status).toBe(400)
    await at.clock.advance(5 * 60_000)
    expect((await at.post('row', { table, row_ref })).status).toBe(400)
    expect((await at.refusal('groups', { sort, cursor })).status).toBe(400)
    expect(await at.operator.trailOf('groups')).toContainEqual(['database.row', 'returned=1'])
  })

  it('[H-DBX-7] takes a viewer of the same name for another operator', async () => {
    const password = 'look but do not touch'
    const config = { 'console.viewer_username': 'admin', 'console.viewer_password': password }
    const api = await openTestApi({ db: at.test.db, clock: at.clock, config })
    try {
      const admin = await openOperator(api)
      const viewer = await openOperator(api, { username: 'admin', password })
      const table = { schema: at.schema, table: 'groups' }
      const first = { table, sort: byId, limit: 1 }
      const answer = await admin.send('POST', '/database/rows', first)
      const { rows, next } = databaseApi.rows.ok.parse(readJson(answer.text).value)
      for (const [path, body] of [
        ['/database/rows', { ...first, cursor: next }],
        ['/database/row', { table, row_ref: rows[0]?.row_ref }],
      ] as const) {
        expect((await viewer.send('POST', path, body)).status).toBe(400)
        expect((await admin.send('POST', path, body)).status).toBe(200)
      }
    } finally {
      await api.close()
    }
  })

  it('[H-DBX-7] knows no cursor and no reference of another boot', async () => {
    await advanceMinute()
    const { rows, next } = await at.rows('groups', { sort: byId, limit: 1 })
    const table = { schema: at.schema, table: 'groups' }
    const asked = [
      ['rows', { table, sort: byId, cursor: next }],
      ['row', { table, row_ref: rows[0]?.row_ref }],
    ] as const
    const restarted = await openTestApi({ db: at.test.db, clock: at.clock })
    try {
      const operator = await openOperator(restarted)
      for (const [path, body] of asked) {
        expect((await at.post(path, body)).status).toBe(200)
        expect((await at.post(path, body, operator)).status).toBe(400)
      }
    } finally {
      await restarted.close()
    }
  })

  it('[H-DBX-7] answers 404 for a row that was changed or removed', async () => {
    await advanceMinute()
    const { rows } = await at.rows('groups', { sort: byId })
    const table = { schema: at.schema, table: 'groups' }
    const read = (place: number) => at.post('row', { table, row_ref: rows[place]?.row_ref })
    expect((await at.operator.send('PUT', '/groups/2', { description: 'changed' })).status).toBe(
      200,
    )
    expect((await at.operator.send('DELETE', '/groups/3')).status).toBe(204)
    expect([(await read(0)).status, (await read(1)).status, (await read(2)).status]).toEqual([
      200, 404, 404,
    ])
  })

  it('[H-DBX-1] [H-GEN-9] admits 60 requests a minute and caller, before anything is read', async () => {
    await advanceMinute()
    await at.clock.advance(60_000 - (at.clock.nowUnixMs() % 60_000) + 15_500)
    const send = () => at.operator.send('POST', '/database/rows', 'no json')
    for (let sent = 0; sent < 60; sent += 1) expect((await send()).status).toBe(400)
    const refused = await send()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '45'])
    expect((await at.operator.send('GET', '/database/main/x')).status).toBe(429)
    expect((await at.eye.send('GET', '/database')).status).toBe(200)
    await at.clock.advance(44_500)
    expect((await send()).status).toBe(400)
  })

  it('[H-DBX-8] refuses an answer of more than 1 MiB', async () => {
    await advanceMinute()
    const value = { text: 'x'.repeat(300_000) }
    for (const key of ['a', 'b', 'c', 'd']) {
      const answer = await at.operator.send('PUT', `/storage/bulk/${key}`, { value })
      expect(answer.status).toBe(200)
    }
    const sort = { column: 'key', direction: 'asc' } as const
    expect(await at.refusal('storage_objects', { sort })).toMatchObject({ status: 400 })
    const { rows } = await at.rows('storage_objects', { sort, limit: 2 })
    expect(rows[0]?.values.value).toEqual({ kind: 'json', value })
  })
})

it('[H-DBX-1] [H-DBX-10] answers 400 in memory, behind the 403 of API keys', async () => {
  const memory = testBackends.find(({ name }) => name === 'in-memory')
  if (memory === undefined) throw new Error('there is no memory')
  const at = await openExplorer(memory)
  const table = { schema: 'main', table: 'api_keys' }
  for (const [by, status] of [
    [at.operator, 400],
    [at.eye, 403],
  ] as const) {
    expect((await at.describe('api_keys', by)).status).toBe(status)
    expect((await at.post('rows', { table, sort: byId }, by)).status).toBe(status)
    expect((await by.send('GET', '/database')).status).toBe(400)
    expect((await at.describe('groups', by)).status).toBe(400)
  }
  await at.dispose()
})
