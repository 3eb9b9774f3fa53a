import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CombinedResult } from '../../kernel/batching/combiner.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { DatabaseUnavailable, StatementTimeout, type Transaction } from '../database.ts'
import { openDatabase } from '../open.ts'
import { batchStatement, statement } from '../statement.ts'
import { type TestDatabase, testBackends } from '../testing/backends.ts'
import { onServer } from '../testing/postgres-server.ts'
import { silentLog } from '../testing/silent-log.ts'
import { mergedTransactions } from './merged-writes.ts'

/** The first commit of notes ends its connection; a sequence is not rolled back, so it stops. */
const dieDuringFirstCommit = `CREATE SEQUENCE commits;
  CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('commits') <= 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER die AFTER INSERT ON notes
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()`

describe.each(testBackends.filter(({ name }) => name === 'postgres'))(
  'merged transactions on $name',
  ({ open }) => {
    let test: TestDatabase
    beforeEach(async () => {
      test = await open({ config: { statement_timeout_ms: 3000 } })
      await onServer(test.url, 'CREATE TABLE notes (id text PRIMARY KEY, written integer NOT NULL)')
    })
    afterEach(() => test.dispose())

    /** A kind that adds notes, and does something else in front of its commit. */
    const writer = (more: (tx: Transaction) => Promise<unknown> = async () => {}) =>
      mergedTransactions<string, string>(test.db, {
        itemsMax: 100,
        run: (items) =>
          test.db.transaction(
            async (tx) => {
              const added = await tx.each(
                addNotes,
                items.map((id) => ({ id })),
              )
              await more(tx)
              return added.map(({ id }): CombinedResult<string> => ({ ok: true, value: id }))
            },
            { isolation: 'read committed' },
          ),
      })

    /** How often each note was written. */
    async function notes(): Promise<[id: string, written: number][]> {
      return (await test.db.all(allNotes, {})).map(({ id, written }) => [id, written])
    }

    it('[O-TX-1] are written once when the connection ends before the commit', async () => {
      let runs = 0
      const write = writer(async (tx) => {
        runs += 1
        if (runs === 1) await tx.get(endThisConnection, {})
      })
      expect(await Promise.all([write('a'), write('b')])).toEqual(['a', 'b'])
      expect(runs).toBe(2)
      expect(await notes()).toEqual([
        ['a', 1],
        ['b', 1],
      ])
    })

    it('[O-TX-1] are refused, each once, when it ends with the commit; others go on', async () => {
      await onServer(test.url, dieDuringFirstCommit)
      const write = writer()
      const [a, b] = await Promise.allSettled([write('a'), write('b')])
      for (const one of [a, b]) {
        expect(one).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailable) })
      }
      expect(await write('c')).toBe('c')
      expect(await notes()).toEqual([['c', 1]])
    })

    it('[O-TX-1] of three kinds that wait for a row are refused in time, and a fourth goes on', async () => {
      await onServer(test.url, `INSERT INTO notes (id, written) VALUES ('held', 1)`)
      const blocked = [writer(), writer(), writer()]
      const free = Promise.withResolvers<void>()
      const locked = Promise.withResolvers<void>()
      // With a limit of its own: it holds the row for longer than the others may wait.
      const patient = await openDatabase({
        url: test.url,
        clock: createSystemClock(),
        randomness: randomBytes,
        log: silentLog,
      })
      const holder = patient.transaction(async (tx) => {
        await tx.get(lockNote, { id: 'held' })
        locked.resolve()
        await free.promise
      })
      await locked.promise
      const waiting = Promise.allSettled(blocked.map((write) => write('held')))
      const fourth = writer()('d')
      for (const one of await waiting) {
        expect(one).toMatchObject({ status: 'rejected', reason: expect.any(StatementTimeout) })
      }
      expect(await fourth).toBe('d')
      free.resolve()
      await holder
      await patient.close()
      expect(await Promise.all(blocked.map((write, at) => write(`again ${at}`)))).toHaveLength(3)
      expect(await notes()).toHaveLength(5)
    })
  },
)

const addNotes = batchStatement({
  name: 'merged-test.add',
  text: `INSERT INTO notes (id, written) SELECT r.id, 1 FROM {{rows}} AS r
    ON CONFLICT (id) DO UPDATE SET written = notes.written + 1 RETURNING id`,
  params: { id: 'text' },
  row: { id: 'text' },
})

const allNotes = statement({
  name: 'merged-test.all',
  text: 'SELECT id, written FROM notes ORDER BY id',
  row: { id: 'text', written: 'integer' },
})

const lockNote = statement({
  name: 'merged-test.lock',
  text: 'SELECT id FROM notes WHERE id = :id {{for update of notes}}',
  params: { id: 'text' },
  row: { id: 'text' },
})

const endThisConnection = statement({
  name: 'merged-test.end',
  text: 'SELECT pg_terminate_backend(pg_backend_pid())::text AS ended',
  row: { ended: 'text' },
})
