import { beforeAll, describe, expect, it } from 'vitest'
import { DatabaseUnavailable, UniqueViolation } from './database.ts'
import type { OpenedDatabase } from './migrations/schema-access.ts'
import type { TestBackend, TestDatabase } from './testing/backends.ts'
import {
  addToCounters,
  answeredTwice,
  counterById,
  countersBetween,
  countersContaining,
  deleteNumbered,
  findCounter,
  findPair,
  insertCounter,
  insertCounters,
  insertNumbered,
  insertPair,
  insertSecret,
  insertValue,
  insertValues,
  lockCounter,
  misdeclared,
  plainValue,
  raise,
  raiseBetween,
  readNow,
  secretByName,
  setCounter,
  tables,
  valueById,
} from './testing/contract-statements.ts'

/** What every backend does in the same way. */
export function databaseContract({ name, open }: TestBackend): void {
  describe(`the database contract on ${name}`, () => {
    let test: TestDatabase
    let db: OpenedDatabase

    beforeAll(async () => {
      test = await open({ migrated: false, config: { transaction_attempts: 32 } })
      db = test.db
      await db.schema.transaction(async (tx) => {
        for (const step of tables) await tx.ddl(db.schema.render(step))
      })
      return () => test.dispose()
    })

    describe('values', () => {
      it.each([
        [0n, 0],
        [-1n, -1],
        [2n ** 63n - 1n, Number.MAX_SAFE_INTEGER],
        [-(2n ** 63n), Number.MIN_SAFE_INTEGER],
      ])('[O-DB-9] keeps the 64-bit integer %s and the integer %s exact', async (big, count) => {
        const value = { ...plainValue, id: `int-${big}`, big, count }
        await db.run(insertValue, value)
        expect(await db.get(valueById, { id: value.id })).toEqual(value)
      })

      it.each([
        '',
        ' ',
        'it\'s {{rows}} :id $1 \\ " ,{}',
        'Zürich – 東京 – 🏰',
        '\u0001\t\n\u007f',
        'NULL',
      ])('keeps the text %j', async (text) => {
        const value = { ...plainValue, id: `text-${text}`, note: text }
        await db.run(insertValue, value)
        expect(await db.get(valueById, { id: value.id })).toEqual(value)
      })

      it('keeps bytes, all 256 of them and none', async () => {
        const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
        for (const data of [all, new Uint8Array(0)]) {
          const value = { ...plainValue, id: `bytes-${data.length}`, data }
          await db.run(insertValue, value)
          expect(await db.get(valueById, { id: value.id })).toEqual(value)
        }
      })

      it('keeps nulls apart from empty values', async () => {
        const value = { id: 'nulls', big: 1n, count: null, note: null, data: null }
        await db.run(insertValue, value)
        expect(await db.get(valueById, { id: 'nulls' })).toEqual(value)
      })

      it.each([
        ['a number for a text', { note: 5 }],
        ['a fraction for an integer', { count: 1.5 }],
        ['an inexact number for an integer', { count: 2 ** 53 }],
        ['a number for a bigint', { big: 1 }],
        ['a bigint beyond 64 bits', { big: 2n ** 63n }],
        ['null where none is declared', { big: null }],
        ['nothing at all', { note: undefined }],
      ])('refuses %s', async (_case, wrong) => {
        const params = { ...plainValue, id: 'never', ...wrong } as typeof plainValue
        await expect(db.run(insertValue, params)).rejects.toBeInstanceOf(TypeError)
        const two = [params, { ...params, id: 'never-2' }]
        for (const rows of [[params], two]) {
          await expect(db.each(insertValues, rows)).rejects.toBeInstanceOf(TypeError)
        }
        expect(await db.get(valueById, { id: 'never' })).toBeUndefined()
      })

      it('[O-DB-9] sorts text by its UTF-8 bytes', async () => {
        const texts = ['a', 'B', 'Z', 'aa', 'ä', 'z', '_', '-', '0', '\uffee', '🏰', 'é', 'e\u0301']
        await db.each(
          insertCounters,
          texts.map((text) => ({ id: `sort/${text}`, total: 0n })),
        )
        const rows = await db.all(countersBetween, { low: 'sort/', high: 'sort0' })
        const byBytes = texts.map((text) => Buffer.from(`sort/${text}`)).sort(Buffer.compare)
        expect(rows.map((row) => row.id)).toEqual(byBytes.map(String))
      })

      it('[H-GEN-22] finds a text in another by its letters, case and all', async () => {
        const texts = ['50%', '50x', 'a_b', 'axb', 'Äda', 'äda', 'a\\b', "it's", '🏰🏯']
        const ids = texts.map((text) => `part/${text}`)
        await db.each(
          insertCounters,
          ids.map((id) => ({ id, total: 0n })),
        )
        const having = async (part: string) => {
          const rows = await db.all(countersContaining, { part, low: 'part/', high: 'part0' })
          return rows.map((row) => row.id)
        }
        for (const [at, text] of texts.entries()) expect(await having(text)).toEqual([ids[at]])
        expect(await having('🏯')).toEqual(['part/🏰🏯'])
        expect(await having('da')).toHaveLength(2)
        expect(await having('')).toHaveLength(texts.length)
        for (const none of ['PART', '5%', '%%', '__', '*', '.', 'part/50%x']) {
          expect(await having(none)).toEqual([])
        }
      })

      it('counts changed rows', async () => {
        await db.each(insertCounters, [
          { id: 'changes-1', total: 0n },
          { id: 'changes-2', total: 0n },
        ])
        expect(await db.run(raiseBetween, { low: 'changes-', high: 'changes-9' })).toBe(2)
        expect(await db.run(raiseBetween, { low: 'nobody-', high: 'nobody-9' })).toBe(0)
      })

      it('gives the time of the database in Unix milliseconds', async () => {
        const { now } = (await db.get(readNow, {})) ?? { now: 0 }
        expect(Math.abs(now - Date.now())).toBeLessThan(60_000)
      })
    })

    describe('batches', () => {
      it('does nothing for no rows', async () => {
        expect(await db.each(insertCounters, [])).toEqual([])
      })

      it('answers with the rows of all parameter rows', async () => {
        const rows = Array.from({ length: 500 }, (_, at) => {
          return {
            ...plainValue,
            id: `batch-${at}`,
            big: BigInt(at),
            note: at % 2 ? null : `n${at}`,
          }
        })
        const ids = await db.each(insertValues, rows)
        expect(ids.map((row) => row.id).sort()).toEqual(rows.map((row) => row.id).sort())
        expect(await db.get(valueById, { id: 'batch-499' })).toEqual(rows[499])
      })

      it('changes the rows that it names, each by its own parameters', async () => {
        const ids = ['add-1', 'add-2', 'add-3']
        await db.each(
          insertCounters,
          ids.map((id) => ({ id, total: 1n })),
        )
        const rows = [
          { id: 'add-3', total: 30n },
          { id: 'add-1', total: -10n },
          { id: 'add-none', total: 1n },
        ]
        const changed = await db.each(addToCounters, rows)
        expect(changed.map(({ id, total }) => [id, total]).sort()).toEqual([
          ['add-1', -9n],
          ['add-3', 31n],
        ])
        const stored = await db.all(countersBetween, { low: 'add-', high: 'add.' })
        expect(stored.map(({ total }) => total)).toEqual([-9n, 1n, 31n])
      })

      it('is all or nothing', async () => {
        await db.run(insertCounter, { id: 'taken', total: 1n })
        const rows = [
          { id: 'fresh', total: 1n },
          { id: 'taken', total: 2n },
        ]
        await expect(db.each(insertCounters, rows)).rejects.toBeInstanceOf(UniqueViolation)
        expect(await db.get(counterById, { id: 'fresh' })).toBeUndefined()
      })
    })

    describe('find', () => {
      it('answers every question of a turn with its own row, and with none where there is none', async () => {
        const rows = Array.from({ length: 50 }, (_, at) => ({
          id: `find-${at}`,
          total: BigInt(at),
        }))
        await db.each(insertCounters, rows)
        const asked = [...rows.map((row) => row.id), 'find-none', 'find-7', 'find-7']
        const answers = await Promise.all(asked.map((id) => db.find(findCounter, { id })))
        expect(answers.map((row) => row?.total)).toEqual([
          ...rows.map((row) => row.total),
          undefined,
          7n,
          7n,
        ])
      })

      it('finds by bytes and by several parameters, whose values do not run into each other', async () => {
        const pairs = [
          { first: 'a', second: Uint8Array.of(98, 99), answer: 1 },
          { first: 'ab', second: Uint8Array.of(99), answer: 2 },
          { first: '1:a', second: Uint8Array.of(0, 255), answer: 3 },
        ]
        for (const pair of pairs) await db.run(insertPair, pair)
        const found = await Promise.all(
          pairs.map(({ first, second }) => db.find(findPair, { first, second })),
        )
        expect(found.map((row) => row?.answer)).toEqual([1, 2, 3])
      })
    })

    describe('transactions', () => {
      it('keep everything or, when the body throws, nothing', async () => {
        await db.transaction(async (tx) => {
          await tx.run(insertCounter, { id: 'kept-1', total: 1n })
          await tx.run(insertCounter, { id: 'kept-2', total: 2n })
        })
        const failing = db.transaction(async (tx) => {
          await tx.run(insertCounter, { id: 'undone', total: 1n })
          expect(await tx.get(counterById, { id: 'undone' })).toEqual({ id: 'undone', total: 1n })
          throw new Error('changed its mind')
        })
        await expect(failing).rejects.toThrow('changed its mind')
        expect(await db.get(counterById, { id: 'undone' })).toBeUndefined()
        expect(await db.get(counterById, { id: 'kept-1' })).toBeDefined()
        expect(await db.get(counterById, { id: 'kept-2' })).toBeDefined()
      })

      it('answer with what the body answers', async () => {
        expect(await db.transaction(async () => 42)).toBe(42)
      })

      it('cannot be used after their end', async () => {
        let leaked: Parameters<Parameters<typeof db.transaction>[0]>[0] | undefined
        await db.transaction(async (tx) => {
          leaked = tx
        })
        await expect(leaked?.run(insertCounter, { id: 'late', total: 1n })).rejects.toThrow('ended')
        expect(await db.get(counterById, { id: 'late' })).toBeUndefined()
      })

      it('keep nothing once one of their statements failed, even if the body goes on', async () => {
        await db.run(insertCounter, { id: 'broken', total: 1n })
        const going = db.transaction(async (tx) => {
          await tx.run(insertCounter, { id: 'before-broken', total: 1n })
          await tx.run(insertCounter, { id: 'broken', total: 1n }).catch(() => {})
        })
        await expect(going).rejects.toThrow()
        expect(await db.get(counterById, { id: 'before-broken' })).toBeUndefined()
      })

      it('[O-TX-5] report a row whose key exists as a unique violation', async () => {
        await db.run(insertCounter, { id: 'unique', total: 1n })
        await expect(db.run(insertCounter, { id: 'unique', total: 2n })).rejects.toBeInstanceOf(
          UniqueViolation,
        )
        const inside = db.transaction((tx) => tx.run(insertCounter, { id: 'unique', total: 3n }))
        await expect(inside).rejects.toBeInstanceOf(UniqueViolation)
        expect(await db.get(counterById, { id: 'unique' })).toEqual({ id: 'unique', total: 1n })
      })

      it('that are refused may read at once what they were refused for', async () => {
        const row = { id: 'raced', total: 1n }
        const insertOrRead = () =>
          db
            .transaction(async (tx) => {
              if ((await tx.get(counterById, { id: 'raced' })) !== undefined)
                throw new Error('taken')
              return tx.run(insertCounter, row)
            })
            .catch(() => db.get(counterById, { id: 'raced' }))
        // On PostgreSQL either may be the first.
        const outcomes = await Promise.all([insertOrRead(), insertOrRead()])
        expect(new Set(outcomes)).toEqual(new Set([1, row]))
      })

      it('are not seen by others before their end', async () => {
        await db.run(insertCounter, { id: 'hidden', total: 1n })
        const seen: unknown[] = []
        await expect(
          db.transaction(async (tx) => {
            await tx.run(setCounter, { id: 'hidden', total: 99n })
            seen.push(db.get(counterById, { id: 'hidden' }), db.find(findCounter, { id: 'hidden' }))
            await tx.get(counterById, { id: 'hidden' })
            throw new Error('undo')
          }),
        ).rejects.toThrow('undo')
        const expected = { id: 'hidden', total: 1n }
        expect(await Promise.all(seen)).toEqual([expected, expected])
      })

      it('run side by side without losing an update', async () => {
        await db.run(insertCounter, { id: 'shared', total: 0n })
        await Promise.all(Array.from({ length: 200 }, () => db.run(raise, { id: 'shared' })))
        expect((await db.get(counterById, { id: 'shared' }))?.total).toBe(200n)
      })

      it('[O-TX-2] [O-TX-3] are run again when they met, so that reading and then writing is exact', async () => {
        await db.run(insertCounter, { id: 'read-write', total: 0n })
        let bodies = 0
        const raiseByReading = () =>
          db.transaction(async (tx) => {
            bodies += 1
            const { total } = (await tx.get(counterById, { id: 'read-write' })) ?? { total: 0n }
            await tx.run(setCounter, { id: 'read-write', total: total + 1n })
          })
        await Promise.all(Array.from({ length: 6 }, raiseByReading))
        expect((await db.get(counterById, { id: 'read-write' }))?.total).toBe(6n)
        expect(bodies).toBeGreaterThanOrEqual(6)
      })

      it('that lock the row they decide on take turns', async () => {
        await db.run(insertCounter, { id: 'locked', total: 0n })
        const raiseLocked = () =>
          db.transaction(
            async (tx) => {
              const { total } = (await tx.get(lockCounter, { id: 'locked' })) ?? { total: 0n }
              await tx.run(setCounter, { id: 'locked', total: total + 1n })
            },
            { isolation: 'read committed' },
          )
        await Promise.all(Array.from({ length: 50 }, raiseLocked))
        expect((await db.get(counterById, { id: 'locked' }))?.total).toBe(50n)
      })
    })

    it('[O-ID-1] never issues an id of an identity column again', async () => {
      const first = await db.get(insertNumbered, { note: 'a' })
      const second = await db.get(insertNumbered, { note: 'b' })
      await db.run(deleteNumbered, { id: second?.id ?? 0n })
      const third = await db.get(insertNumbered, { note: 'c' })
      expect(second?.id).toBe((first?.id ?? 0n) + 1n)
      expect(third?.id).toBe((second?.id ?? 0n) + 1n)
    })

    it('refuses a statement that does not answer with the columns it declares', async () => {
      await expect(db.all(misdeclared, {})).rejects.toThrow('total')
      // Also where no row comes that would show it.
      await expect(db.all(answeredTwice, {})).rejects.toThrow('total is answered twice')
    })

    it('is up, answers probes, and refuses everything once it is closed', async () => {
      const other = await open({ migrated: false })
      expect(other.db.state()).toBe('up')
      expect(await other.db.probe()).toBe(true)
      await other.db.close()
      await other.db.close()
      const refused = [
        other.db.get(readNow, {}),
        other.db.all(readNow, {}),
        other.db.run(insertCounter, { id: 'x', total: 0n }),
        other.db.each(insertCounters, [{ id: 'x', total: 0n }]),
        other.db.find(findCounter, { id: 'x' }),
        other.db.transaction(async () => 1),
      ]
      for (const each of refused) await expect(each).rejects.toBeInstanceOf(DatabaseUnavailable)
      expect(await other.db.probe()).toBe(false)
      await other.dispose()
    })

    it('keeps what was committed when it is durable, and nothing otherwise', async () => {
      const other = await open()
      await other.db.run(insertSecret, { name: 'kept', secret: Uint8Array.of(1, 2, 3) })
      const again = await other.reopen()
      const kept = await again.get(secretByName, { name: 'kept' })
      expect(kept !== undefined).toBe(again.durable)
      expect(again.durable).toBe(name !== 'in-memory')
      await other.dispose()
    })
  })
}
