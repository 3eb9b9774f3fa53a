import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { batchStatement, oneOf, type Row, statement } from '../statement.ts'
import { type TestDatabase, testBackends } from '../testing/backends.ts'

const columns = {
  id: 'text',
  open: 'flag',
  seen: 'flag?',
  side: oneOf('left', 'right', null),
  content: 'json',
  notes: 'json?',
  big: 'bigint',
} as const
const names = Object.keys(columns)

const insert = batchStatement({
  name: 'declared-test.insert',
  text: `INSERT INTO declared (${names.join(', ')}) {{given}}`,
  params: columns,
})
const all = statement({
  name: 'declared-test.all',
  text: `SELECT ${names.join(', ')} FROM declared ORDER BY id`,
  row: columns,
})
const stored = statement({
  name: 'declared-test.stored',
  text: 'SELECT open, seen, content FROM declared ORDER BY id',
  row: { open: 'integer', seen: 'integer?', content: 'text' },
})
const spoil = statement({
  name: 'declared-test.spoil',
  text: 'UPDATE declared SET side = :side, content = :content',
  params: { side: 'text', content: 'text' },
})

const first: Row<typeof columns> = {
  id: 'a',
  open: true,
  seen: null,
  side: 'left',
  content: { int64: 9_223_372_036_854_775_807n, list: [1, 'two', null] },
  notes: null,
  big: 1n,
}
const second: Row<typeof columns> = {
  ...first,
  id: 'b',
  open: false,
  seen: true,
  side: null,
  notes: {},
}

describe.each(testBackends)('declared values on $name', ({ open }) => {
  let test: TestDatabase
  beforeEach(async () => {
    test = await open()
    await test.db.schema.transaction((tx) =>
      tx.ddl(
        test.db.schema.render(`CREATE TABLE declared (id {{text}} NOT NULL, open {{bigint}} NOT NULL,
          seen {{bigint}}, side {{text}}, content {{text}} NOT NULL, notes {{text}},
          big {{bigint}} NOT NULL)`),
      ),
    )
  })
  afterEach(() => test.dispose())

  it('[O-DB-9] come back as they were written, alone and in a batch', async () => {
    await test.db.each(insert, [first])
    await test.db.each(insert, [second, { ...second, id: 'c' }])
    expect(await test.db.all(all, {})).toEqual([first, second, { ...second, id: 'c' }])
    expect((await test.db.all(stored, {})).slice(0, 2)).toEqual([
      { open: 1, seen: null, content: '{"int64":9223372036854775807,"list":[1,"two",null]}' },
      { open: 0, seen: 1, content: '{"int64":9223372036854775807,"list":[1,"two",null]}' },
    ])
  })

  it.each([
    { open: 1 },
    { open: null },
    { side: 'middle' },
    { content: 'text' },
    { content: [] },
    { content: null },
  ])('refuse to be of another type: %j', async (wrong) => {
    const row = { ...first, ...wrong } as unknown as Row<typeof columns>
    await expect(test.db.each(insert, [row])).rejects.toThrow(TypeError)
    await expect(test.db.each(insert, [row, second])).rejects.toThrow(TypeError)
    expect(await test.db.all(all, {})).toEqual([])
  })

  it.each([
    { side: 'middle', content: '{}', says: 'side holds none of its values' },
    { side: 'left', content: '[]', says: 'a stored value is no object' },
  ])('are an error where others wrote something else: $says', async ({ says, ...wrong }) => {
    await test.db.each(insert, [first])
    await test.db.run(spoil, wrong)
    await expect(test.db.all(all, {})).rejects.toThrow(says)
  })
})
