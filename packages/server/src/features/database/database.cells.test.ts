import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type ExplorerOperator, openExplorer } from './database.fixture.ts'

const backendNamed = (wanted: string) => {
  const backend = testBackends.find(({ name }) => name === wanted)
  if (backend === undefined) throw new Error(`there is no backend ${wanted}`)
  return backend
}

type Rows = { rows: { values: Record<string, unknown> }[] }

/** Types of PostgreSQL that no table of the game has, with what is there and what is shown. */
const columns: [type: string, given: string, cell: object][] = [
  ['bytea', `'\\x00ff10'`, { kind: 'binary_base64', value: 'AP8Q' }],
  ['bytea', `''`, { kind: 'binary_base64', value: '' }],
  ['smallint', '-32768', { kind: 'integer', value: -32_768 }],
  ['numeric', '12345678901234567890.123400', kindOf('decimal', '12345678901234567890.123400')],
  ['numeric', `'NaN'`, kindOf('decimal', 'NaN')],
  ['numeric', `'-Infinity'`, kindOf('decimal', '-Infinity')],
  ['numeric(4,2)', '-0.5', kindOf('decimal', '-0.50')],
  ['float8', `'NaN'`, kindOf('decimal', 'NaN')],
  ['float8', `'Infinity'`, kindOf('decimal', 'Infinity')],
  ['float8', '1e-300', kindOf('decimal', '1e-300')],
  ['float4', '0.1', kindOf('decimal', '0.1')],
  ['boolean', 'false', { kind: 'boolean', value: false }],
  ['jsonb', `'{"b": [1, null], "a": 9007199254740993}'`, { kind: 'json' }],
  ['json', `'null'`, { kind: 'json', value: null }],
  ['timestamptz', `'2026-11-22 12:00:00.5+02'`, kindOf('timestamp', '2026-11-22T10:00:00.5Z')],
  ['timestamp', `'2026-11-22 12:00:00'`, kindOf('timestamp', '2026-11-22T12:00:00Z')],
  ['timestamptz', `'infinity'`, kindOf('text', 'infinity')],
  ['timestamptz', `'0044-03-15 12:00:00+00 BC'`, kindOf('text', '0044-03-15 12:00:00+00 BC')],
  ['date', `'2026-02-28'`, kindOf('text', '2026-02-28')],
  ['interval', `'1 year 2 days 03:04:05'`, kindOf('text', '1 year 2 days 03:04:05')],
  ['bigint[]', `'{1,NULL,-9223372036854775808}'`, kindOf('text', '{1,NULL,-9223372036854775808}')],
  ['text[]', `ARRAY['a"b', 'c,d', '']`, kindOf('text', '{"a\\"b","c,d",""}')],
  ['uuid', `'7d444840-9dc0-11d1-b245-5ffdce74fad2'`, { kind: 'text' }],
  ['inet', `'10.0.0.1/8'`, kindOf('text', '10.0.0.1/8')],
  ['char(3)', `'a'`, kindOf('text', 'a  ')],
  ['int4range', `'[1,5)'`, kindOf('text', '[1,5)')],
]

function kindOf(kind: string, value: string) {
  return { kind, value }
}

describe('cells of types that only PostgreSQL has', () => {
  let at: ExplorerOperator
  let asked = 0
  beforeAll(async () => {
    at = await openExplorer(backendNamed('postgres'))
    const declared = columns.map(([type], index) => `c${index} ${type}`)
    const values = columns.map(([type, given]) => `CAST(${given} AS ${type})`)
    await at.ddl(
      `CREATE TABLE odd_types (id bigint PRIMARY KEY, ${declared.join(', ')})`,
      `INSERT INTO odd_types VALUES (1, ${values.join(', ')})`,
      'INSERT INTO odd_types (id) VALUES (2)',
    )
  })
  afterAll(() => at.dispose())

  const ask = async (question: object) => {
    // A minute has 60 requests, and the operator's token an hour.
    asked += 1
    if (asked % 50 === 0) await at.clock.advance(60_000)
    const table = { schema: at.schema, table: 'odd_types' }
    const sort = { column: 'id', direction: 'asc' }
    return at.post('rows', { table, sort, ...question })
  }

  it('[H-DBX-6] are shown by their kind, and as text where there is none', async () => {
    const answer = await ask({})
    expect(answer.status).toBe(200)
    const [first, second] = (answer.body as Rows).rows
    for (const [index, [type, given, cell]] of columns.entries()) {
      expect(first?.values[`c${index}`], `${type} ${given}`).toMatchObject(cell)
      expect(second?.values[`c${index}`]).toEqual({ kind: 'null' })
    }
    // Unrounded, as no number of JavaScript is.
    expect(answer.text).toContain('9007199254740993')
  })

  it('[H-DBX-4] [H-DBX-7] sort and page, but for those without an order', async () => {
    for (const [index, [type]] of columns.entries()) {
      const sort = { column: `c${index}`, direction: 'asc' }
      const answer = await ask({ sort, limit: 1 })
      if (type === 'json' || type === 'jsonb') {
        expect(answer.status, type).toBe(400)
        continue
      }
      expect(answer.status, `${type} ${answer.text}`).toBe(200)
      // The row without a value comes first; the cursor leads to the other one.
      const { rows, next } = answer.body as Rows & { next?: string }
      expect(rows[0]?.values.id).toEqual({ kind: 'integer', value: 2 })
      const rest = await ask({ sort, limit: 1, cursor: next })
      expect((rest.body as Rows).rows[0]?.values.id, type).toEqual({ kind: 'integer', value: 1 })
      const back = await ask({ sort: { ...sort, direction: 'desc' }, limit: 1 })
      const cursor = (back.body as { next?: string }).next
      const last = await ask({ sort: { ...sort, direction: 'desc' }, limit: 1, cursor })
      expect((last.body as Rows).rows[0]?.values.id, type).toEqual({ kind: 'integer', value: 2 })
    }
  })

  it.each([
    ['bytea', { operator: 'eq', value: 'AP8Q' }, 1],
    ['bytea', { operator: 'gt', value: 'AP8R' }, 0],
    ['bytea', { operator: 'eq', value: 'AP8' }, undefined],
    ['numeric', { operator: 'eq', value: '12345678901234567890.1234' }, 1],
    ['numeric', { operator: 'eq', value: 'NaN' }, undefined],
    ['float4', { operator: 'gt', value: 0.05 }, 1],
    ['timestamptz', { operator: 'lte', value: '2026-11-22T10:00:00.5Z' }, 1],
    ['timestamptz', { operator: 'eq', value: 'infinity' }, undefined],
    ['jsonb', { operator: 'eq', value: '{}' }, undefined],
    ['interval', { operator: 'gt', value: '1 year' }, 1],
    ['interval', { operator: 'gt', value: 'no interval' }, undefined],
    ['uuid', { operator: 'eq', value: '7D444840-9DC0-11D1-B245-5FFDCE74FAD2' }, 1],
    ['uuid', { operator: 'eq', value: "x'; DROP TABLE groups; --" }, undefined],
    ['bigint[]', { operator: 'eq', value: '{1,NULL,-9223372036854775808}' }, 1],
  ] as const)('[H-DBX-5] a filter of %s by %j', async (type, filter, found) => {
    const column = `c${columns.findIndex(([each]) => each === type)}`
    const answer = await ask({ filters: [{ column, ...filter }] })
    if (found === undefined) expect(answer.status).toBe(400)
    else expect((answer.body as Rows).rows, answer.text).toHaveLength(found)
    expect(at.api.failures).toEqual([])
  })
})

it.each(testBackends.filter(({ name }) => name !== 'in-memory'))(
  '[H-DBX-4] orders by columns that are called like a part of the query, on $name',
  async (backend) => {
    const at = await openExplorer(backend)
    const names = ['id', 'c0', 'part', 'place', 'bytes', 'c1', 'p', 'r', 't', 'w']
    await at.ddl(
      `CREATE TABLE alike (${names.map((name) => `${name} {{bigint}}`)}, PRIMARY KEY (id))`,
      `INSERT INTO alike VALUES (1, 9, 8, 7, 6, 5, 4, 3, 2, 1), (2, 1, 2, 3, 4, 5, 6, 7, 8, 9)`,
    )
    for (const column of names) {
      const sort = { column, direction: 'asc' } as const
      const first = await at.rows('alike', { sort, limit: 1 })
      const rest = await at.rows('alike', { sort, limit: 1, cursor: first.next ?? '' })
      const seen = [first, rest].map(({ rows }) => rows[0]?.values[column]?.value)
      expect(seen, column).toEqual(seen.toSorted((a, b) => Number(a) - Number(b)))
      expect([first, rest].map(({ rows }) => rows[0]?.values.id?.value).toSorted()).toEqual([1, 2])
    }
    await at.dispose()
  },
)

describe('cells of a file', () => {
  it('[H-DBX-6] have the type of the value, whatever the column was declared as', async () => {
    const at = await openExplorer(backendNamed('sqlite'))
    await at.ddl(
      'CREATE TABLE loose (id INTEGER PRIMARY KEY, whole INTEGER, real REAL, bytes BLOB, free)',
      `INSERT INTO loose VALUES (1, 'not a number', 9e999, x'00ff', 'text'),
        (2, 9223372036854775807, -0.5, 'text', x''), (3, NULL, NULL, NULL, 1.5)`,
    )
    const { rows } = await at.rows('loose', { sort: { column: 'id', direction: 'asc' } })
    const cells = rows.map(({ values }) => [values.whole, values.real, values.bytes, values.free])
    expect(cells).toEqual([
      [
        { kind: 'text', value: 'not a number' },
        { kind: 'decimal', value: 'Infinity' },
        { kind: 'binary_base64', value: 'AP8=' },
        { kind: 'text', value: 'text' },
      ],
      [
        { kind: 'integer', value: 9_223_372_036_854_775_807n },
        { kind: 'decimal', value: '-0.5' },
        { kind: 'text', value: 'text' },
        { kind: 'binary_base64', value: '' },
      ],
      [{ kind: 'null' }, { kind: 'null' }, { kind: 'null' }, { kind: 'decimal', value: '1.5' }],
    ])
    await at.dispose()
  })
})
