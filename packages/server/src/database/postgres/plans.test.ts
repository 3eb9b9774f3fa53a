import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import { openDatabase } from '../open.ts'
import { batchStatement, statement } from '../statement.ts'
import { testBackends } from '../testing/backends.ts'
import { silentLog } from '../testing/silent-log.ts'

const postgres = testBackends.filter(({ name }) => name === 'postgres')

describe.each(postgres)('plans on $name', ({ open }) => {
  // One connection alone lends it to everybody; the other reads through a lane of their own.
  it.each([1, 4])('become those of a table that has grown, of %i connections', async (size) => {
    const { db, clock, dispose } = await openSmall({ max_connections: size })
    for (let read = 0; read < 150; read += 1) await db.get(noteById, { id: '1' })
    await db.schema.transaction((tx) => tx.ddl(grow))
    clock.pass(1999)
    expect(await planOfRead(db)).toContain('Seq Scan')
    clock.pass(1)
    expect(await planOfRead(db)).toContain('Index Only Scan')
    await dispose()
  })

  it('stay on a connection that has little to do', async () => {
    const { db, clock, dispose } = await openSmall({ max_connections: 1 })
    // One command came at its start.
    for (let sent = 1; sent < 99; sent += 1) await db.get(noteById, { id: '1' })
    await db.schema.transaction((tx) => tx.ddl(grow))
    clock.pass(600_000)
    expect(await planOfRead(db)).toContain('Seq Scan')
    expect(await planOfRead(db)).toContain('Index Only Scan')
    await dispose()
  })

  it('are made once for batches of any size', async () => {
    const { db, dispose } = await openSmall({ max_connections: 1 })
    for (let batch = 0; batch < 40; batch += 1) {
      const ids = Array.from({ length: 2 + (batch % 7) }, (_, at) => ({ id: String(at) }))
      await db.each(notesById, ids)
    }
    const plans = await db.get(plansOf, { name: notesById.name })
    expect(plans).toEqual({ custom: 5, generic: 35 })
    await dispose()
  })

  type Opened = Awaited<ReturnType<typeof openSmall>>['db']

  async function planOfRead(db: Opened): Promise<string> {
    return (await db.get(planOf, { name: noteById.name }))?.plan ?? ''
  }

  /** A table of three rows that autovacuum has just seen, and a clock that stands still. */
  async function openSmall(config: { max_connections: number }) {
    const test = await open({ migrated: false })
    await test.db.schema.transaction(async (tx) => {
      for (const command of small) await tx.ddl(command)
    })
    let nowMs = 0
    const clock = {
      ...createSystemClock(),
      monotonicMs: () => nowMs,
      pass(durationMs: number) {
        nowMs += durationMs
      },
    }
    const { url } = test
    const db = await openDatabase({ url, config, clock, log: silentLog, randomness: randomBytes })
    return {
      db,
      clock,
      async dispose() {
        await db.close()
        await test.dispose()
      },
    }
  }
})

const small = [
  'CREATE TABLE notes (id text NOT NULL PRIMARY KEY) WITH (autovacuum_enabled = off)',
  "INSERT INTO notes (id) VALUES ('1'), ('2'), ('3')",
  'ANALYZE notes',
  `CREATE FUNCTION plan_of(name text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE line text; plan text := '';
    BEGIN
      FOR line IN EXECUTE format('EXPLAIN EXECUTE %I (''1'')', name) LOOP
        plan := plan || line;
      END LOOP;
      RETURN plan;
    END $$`,
]

const grow = 'INSERT INTO notes (id) SELECT i::text FROM generate_series(4, 20000) AS i'

const noteById = statement({
  name: 'plans-test.note-by-id',
  text: 'SELECT id FROM notes WHERE id = :id',
  params: { id: 'text' },
  row: { id: 'text' },
})

const notesById = batchStatement({
  name: 'plans-test.notes-by-id',
  text: 'SELECT n.id FROM {{rows}} AS r JOIN notes n ON n.id = r.id',
  params: { id: 'text' },
  row: { id: 'text' },
})

const plansOf = statement({
  name: 'plans-test.plans-of',
  text: `SELECT custom_plans AS custom, generic_plans AS generic
    FROM pg_prepared_statements WHERE name = :name`,
  params: { name: 'text' },
  row: { custom: 'integer', generic: 'integer' },
})

/** How this connection would run one of its prepared statements now. */
const planOf = statement({
  name: 'plans-test.plan-of',
  text: 'SELECT plan_of(:name) AS plan',
  params: { name: 'text' },
  row: { plan: 'text' },
})
