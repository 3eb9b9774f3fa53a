import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ExplorerDeadline, explorerDeadlineMs } from '../../database/explorer/explorer.ts'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { type ExplorerOperator, openExplorer } from './database.fixture.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')
const sort = { column: 'id', direction: 'asc' }

/** How often PostgreSQL has read `many` by its indexes, and whole. */
const readsOfMany = statement({
  name: 'tests.reads-of-many',
  text: `SELECT COALESCE(idx_scan, 0) AS by_index, COALESCE(seq_scan, 0) AS whole
    FROM pg_stat_user_tables WHERE relname = 'many'`,
  row: { by_index: 'integer', whole: 'integer' },
})

/** A table whose filter finds nothing among a great many rows, and a view that fails. */
describe.each(durable)('the deadline of the explorer on $name', (backend) => {
  const isPostgres = backend.name === 'postgres'
  let at: ExplorerOperator
  beforeEach(async () => {
    at = await openExplorer(backend)
  })
  afterEach(() => at.dispose())
  const clock = createSystemClock()

  /** More rows than are sorted without an index; the first have no mark. */
  async function makeMany(): Promise<void> {
    const mark = 'CASE WHEN i > 3 THEN i END'
    const rows = isPostgres
      ? `SELECT i, repeat('x', 200), ${mark} FROM generate_series(1, 110000) AS i`
      : `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 110000)
        SELECT i, hex(zeroblob(100)), ${mark} FROM n`
    await at.ddl(
      `CREATE TABLE many
        (id {{bigint}} NOT NULL PRIMARY KEY, note {{text}} NOT NULL, mark {{bigint}})`,
      `INSERT INTO many (id, note, mark) ${rows}`,
    )
  }

  /** Others write and read. */
  async function expectServed(): Promise<void> {
    const body = { name: 'owls', creator_user_id: 'ana' }
    expect((await at.operator.send('POST', '/groups', body)).status).toBe(201)
    expect((await at.operator.send('GET', '/groups/1')).status).toBe(200)
  }

  it.skipIf(isPostgres)('[H-DBX-8] answers 504 once its time is over, and goes on', async () => {
    await makeMany()
    const filters = Array.from({ length: 8 }, () => {
      return { column: 'note', operator: 'contains', value: 'nothing like it' }
    })
    let ended = false
    const asked = at.refusal('many', { sort, filters }).finally(() => {
      ended = true
    })
    while (!ended) {
      await clock.sleep(10)
      await at.clock.advance(explorerDeadlineMs)
    }
    expect(await asked).toMatchObject({ status: 504, code: 'deadline_exceeded' })
    expect(at.api.failures).toEqual([])
    const said = at.api.log.lines.map(({ message }) => message)
    expect(said).toContain('a request passed its deadline')
    expect((await at.rows('groups', { sort: { column: 'id', direction: 'asc' } })).rows).toEqual([])
  })

  it.runIf(isPostgres)(
    '[H-DBX-8] has the server end what takes longer, and those behind, and holds up nobody else',
    async () => {
      await at.ddl(
        'CREATE VIEW slow AS SELECT CAST(1 AS bigint) AS id, CAST(pg_sleep(60) AS text) AS note',
      )
      const { explorer } = at.test.db
      const slow = await explorer?.begin().describe('slow')
      if (explorer === undefined || slow === undefined) throw new Error('there is no view')
      const order = { columns: ['id'], direction: 'asc' } as const
      const query = { filters: [], order, after: undefined, limit: 1 }
      const page = () => explorer.begin().page(slow, query)
      const begun = explorer.begin()
      const startedMs = clock.monotonicMs()
      await Promise.all([
        expect(page()).rejects.toThrow(ExplorerDeadline),
        expect(page()).rejects.toThrow(ExplorerDeadline),
        expectServed(),
      ])
      expect(clock.monotonicMs() - startedMs).toBeLessThan(2 * explorerDeadlineMs)
      await expect(begun.relations()).rejects.toThrow(ExplorerDeadline)
      expect(await explorer.begin().relations()).toContainEqual({ name: 'slow', kind: 'view' })
    },
  )

  it.skipIf(isPostgres)('[H-DBX-8] gives all reads of a request one deadline', async () => {
    const { explorer } = at.test.db
    if (explorer === undefined) throw new Error('there is no explorer')
    const reads = explorer.begin()
    const groups = await reads.describe('groups')
    await at.clock.advance(explorerDeadlineMs - 1)
    expect(groups && (await reads.isSmaller(groups, 10))).toBe(true)
    await at.clock.advance(1)
    await expect(reads.describe('groups')).rejects.toThrow(ExplorerDeadline)
    expect(await explorer.begin().describe('groups')).toEqual(groups)
  })

  it.skipIf(isPostgres)('[H-DBX-8] holds up nobody while a query runs', async () => {
    await at.ddl(
      `CREATE VIEW endless AS WITH RECURSIVE n (id) AS
        (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n`,
    )
    const { explorer } = at.test.db
    const endless = await explorer?.begin().describe('endless')
    if (explorer === undefined || endless === undefined) throw new Error('there is no view')
    const order = { columns: ['id'], direction: 'asc' } as const
    const filters = [{ column: 'id', operator: '<', value: 0n }] as const
    let ended = false
    const page = explorer
      .begin()
      .page(endless, { filters, order, after: undefined, limit: 1 })
      .catch((error: unknown) => error)
      .finally(() => {
        ended = true
      })
    await expectServed()
    expect(ended).toBe(false)
    await at.clock.advance(explorerDeadlineMs)
    expect(await page).toBeInstanceOf(ExplorerDeadline)
  })

  it('[H-DBX-4] sorts a long table by its indexes only', async () => {
    await makeMany()
    expect(await at.refusal('many', { sort: { column: 'note', direction: 'asc' } })).toMatchObject({
      status: 400,
      message: 'column cannot be sorted',
    })
    const described = await at.describe('many')
    expect(described.text).toContain('"name":"note"')
    expect(described.text).toMatch(/"name":"note"[^}]*"sortable":false/)
    await at.ddl('CREATE INDEX many_note ON many (note)')
    const question = { sort: { column: 'note', direction: 'desc' } } as const
    expect((await at.rows('many', { ...question, limit: 2 })).rows).toHaveLength(2)
  })

  it.runIf(isPostgres)(
    '[H-DBX-4] [H-DBX-7] serves nulls by an index of a long table, like the rest',
    async () => {
      await makeMany()
      await at.ddl('CREATE INDEX many_mark ON many (mark)')
      const idsOf = async (direction: 'asc' | 'desc', after: readonly (string | null)[]) => {
        const reads = at.test.db.explorer?.begin()
        const many = await reads?.describe('many')
        if (many === undefined) throw new Error('there is no table')
        const order = { columns: ['mark', 'id'], direction }
        const rows = await reads?.page(many, { filters: [], order, after, limit: 3 })
        return rows?.map(([id]) => Number(id))
      }
      const before = await at.test.db.get(readsOfMany, {})
      const asc = { column: 'mark', direction: 'asc' } as const
      const first = await at.rows('many', { sort: asc, limit: 5 })
      expect(first.rows.map(({ values }) => values.id?.value)).toEqual([1, 2, 3, 4, 5])
      expect(await idsOf('asc', [null, '2'])).toEqual([3, 4, 5])
      expect(await idsOf('asc', ['100', '100'])).toEqual([101, 102, 103])
      expect(await idsOf('desc', ['5', '5'])).toEqual([4, 3, 2])
      expect(await idsOf('desc', [null, '3'])).toEqual([2, 1])
      // The server reports what a connection has read a second later, with its next transaction.
      const after = await vi.waitFor(
        async () => {
          await idsOf('asc', [null, '1'])
          const seen = await at.test.db.get(readsOfMany, {})
          expect(seen?.by_index).toBeGreaterThan(Number(before?.by_index) + 10)
          return seen
        },
        { interval: 1000 },
      )
      // Making the index reads the table too, and may be reported late.
      expect(Number(after?.whole) - Number(before?.whole)).toBeLessThan(5)
    },
  )

  it.runIf(isPostgres)('[H-DBX-3] refuses to read a view that fails, and goes on', async () => {
    await at.ddl(
      'CREATE TABLE base (id {{bigint}})',
      'INSERT INTO base VALUES (0)',
      'CREATE VIEW broken AS SELECT 1 / id AS id FROM base',
    )
    const { explorer } = at.test.db
    const broken = await explorer?.begin().describe('broken')
    if (explorer === undefined || broken === undefined) throw new Error('there is no view')
    const order = { columns: ['id'], direction: 'asc' } as const
    const page = explorer.begin().page(broken, { filters: [], order, after: undefined, limit: 1 })
    await expect(page).rejects.toMatchObject({
      name: 'ExplorerRefusal',
      cause: { message: 'division by zero' },
    })
    expect((await at.refusal('broken', { sort })).status).toBe(400)
    expect((await at.describe('broken')).status).toBe(200)
    expect(at.api.failures).toEqual([])
  })

  it.skipIf(isPostgres)('[H-DBX-3] answers 400 for a view that fails', async () => {
    await at.ddl('CREATE TABLE base (id {{bigint}})', 'CREATE VIEW broken AS SELECT id FROM base')
    await at.ddl('PRAGMA legacy_alter_table = ON', 'ALTER TABLE base RENAME TO gone')
    expect((await at.describe('broken')).status).toBe(400)
    expect((await at.operator.send('GET', '/database')).status).toBe(200)
  })
})
