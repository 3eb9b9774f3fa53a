import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ExplorerDeadline, explorerDeadlineMs } from '../../database/explorer/explorer.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { type ExplorerDesk, openExplorer } from './database.fixture.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')
const sort = { column: 'id', direction: 'asc' }

/** A table whose filter finds nothing among a great many rows, and a view that fails. */
describe.each(durable)('the deadline of the explorer on $name', (backend) => {
  const isPostgres = backend.name === 'postgres'
  let at: ExplorerDesk
  beforeEach(async () => {
    at = await openExplorer(backend)
  })
  afterEach(() => at.dispose())
  const clock = createSystemClock()

  async function makeMany(): Promise<void> {
    const rows = isPostgres
      ? `SELECT i, repeat('x', 200) FROM generate_series(1, 200000) AS i`
      : `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        SELECT i, hex(zeroblob(100)) FROM n`
    await at.ddl(
      'CREATE TABLE many (id {{bigint}} NOT NULL PRIMARY KEY, note {{text}} NOT NULL)',
      `INSERT INTO many (id, note) ${rows}`,
    )
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
    '[H-DBX-8] has the server end what takes longer, and those behind',
    async () => {
      await at.ddl(
        'CREATE VIEW slow AS SELECT CAST(1 AS bigint) AS id, CAST(pg_sleep(60) AS text) AS note',
      )
      const { explorer } = at.test.db
      const slow = await explorer?.describe('slow')
      if (explorer === undefined || slow === undefined) throw new Error('there is no view')
      const order = { columns: ['id'], direction: 'asc' } as const
      const page = () => explorer.page(slow, { filters: [], order, after: undefined, limit: 1 })
      const startedMs = clock.monotonicMs()
      await Promise.all([
        expect(page()).rejects.toThrow(ExplorerDeadline),
        expect(page()).rejects.toThrow(ExplorerDeadline),
      ])
      expect(clock.monotonicMs() - startedMs).toBeLessThan(explorerDeadlineMs + 2000)
      expect(await explorer.relations()).toContainEqual({ name: 'slow', kind: 'view' })
    },
  )

  it('[H-DBX-8] holds up nobody while a query runs', async () => {
    await makeMany()
    const filters = [{ column: 'note', operator: 'contains', value: 'nothing like it' }]
    let ended = false
    const asked = at.refusal('many', { sort, filters }).finally(() => {
      ended = true
    })
    let answered = 0
    while (!ended && answered < 1000) {
      expect((await at.api.call('GET', '/status')).status).toBeLessThan(500)
      answered += 1
    }
    expect((await asked).status).toBe(200)
    expect(answered).toBeGreaterThan(1)
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

  it.skipIf(isPostgres)('[H-DBX-3] answers 400 for a view that fails', async () => {
    await at.ddl('CREATE TABLE base (id {{bigint}})', 'CREATE VIEW broken AS SELECT id FROM base')
    await at.ddl('PRAGMA legacy_alter_table = ON', 'ALTER TABLE base RENAME TO gone')
    expect((await at.describe('broken')).status).toBe(400)
    expect((await at.desk.send('GET', '/database')).status).toBe(200)
  })
})
