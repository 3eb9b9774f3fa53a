import { defineApi } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { openTestApi } from '../../testing/api.ts'
import { rowsAtOnce } from '../batching/rows-at-once.ts'
import { afterOthers } from '../clock.ts'
import { JsonPieces } from '../json/json-pieces.ts'
import { compileWriter } from '../json/json-writer.ts'
import { countTurns } from '../time/turns.fixture.ts'

const Row = z.strictObject({ seq: z.int(), note: z.string() })
const Lists = z.strictObject({
  before: z.string(),
  rows: z.array(Row),
  groups: z.array(z.strictObject({ name: z.string(), members: z.array(Row).nullable() })),
  after: z.array(z.string()),
})
const write = compileWriter(Lists)

const rowsTo = (count: number) => Array.from({ length: count }, (_, seq) => ({ seq, note: 'a' }))

/** A route with a long list, and the turns of the event loop in which its rows are read. */
function longRoute(length = 2 * rowsAtOnce) {
  const turns = countTurns()
  const readIn: number[] = []
  const { list } = defineApi({
    list: {
      method: 'GET',
      path: '/v1/long',
      access: 'public',
      summary: 'A long list',
      ok: () => z.array(Row),
    },
  })
  const rows = rowsTo(length).map((row) => ({
    ...row,
    get note() {
      readIn.push(turns.count)
      return row.note
    },
  }))
  return { turns, readIn, route: { route: list, handle: async () => rows } }
}

async function memoryDatabase(): Promise<TestDatabase> {
  const memory = testBackends.find(({ name }) => name === 'in-memory')
  if (memory === undefined) throw new Error('there is no in-memory backend')
  return memory.open()
}

describe('a long list', () => {
  it('[H-GEN-1] is written like any other, at once and in turns', async () => {
    const length = fc.oneof(
      fc.constantFrom(0, 1, rowsAtOnce, rowsAtOnce + 1, 2 * rowsAtOnce, 2 * rowsAtOnce + 1),
      fc.nat(3 * rowsAtOnce),
    )
    const note = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\0', 'é', '😀'))
    const property = fc.asyncProperty(length, length, length, note, async (a, b, c, note) => {
      const rows = (count: number) => Array.from({ length: count }, (_, seq) => ({ seq, note }))
      const values = {
        before: note,
        rows: rows(a),
        groups: Array.from({ length: b }, (_, at) => ({
          name: note,
          members: at === 0 ? rows(c) : null,
        })),
        after: rows(c).map((row) => row.note),
      }
      const expected = JSON.stringify(values)
      const [atOnce, inTurns] = [write(values), write(values)]
      if (inTurns instanceof JsonPieces) await inTurns.written(() => true)
      for (const text of [atOnce, inTurns]) {
        expect(String(text)).toBe(expected)
        if (text instanceof JsonPieces) expect(text.byteLength).toBe(Buffer.byteLength(expected))
      }
    })
    await fc.assert(property, { numRuns: 60 })
  })

  it('lets others go on behind every so many rows', async () => {
    const turns = countTurns()
    const readIn: number[] = []
    const rows = Array.from({ length: 3 * rowsAtOnce + 1 }, (_, seq) => ({
      get seq() {
        readIn.push(turns.count)
        return seq
      },
      note: 'a',
    }))
    const text = write({ before: '', rows, groups: [], after: [] })
    if (!(text instanceof JsonPieces)) throw new Error('it was written at once')
    await text.written(() => true)
    turns.stop()
    const atOnce = Map.groupBy(readIn, (turn) => turn)
    expect([...atOnce.values()].map((rows) => rows.length)).toEqual([
      ...Array(3).fill(rowsAtOnce),
      1,
    ])
    // And is kept: to send it asks for nothing again.
    expect(text.byteLength).toBe(Buffer.byteLength(String(text)))
    expect(readIn).toHaveLength(rows.length)
  })

  it('[H-GEN-1] lets others go on while it is made into an answer', async () => {
    const { route, turns, readIn } = longRoute()
    const { db, dispose } = await memoryDatabase()
    const api = await openTestApi({ db, routes: [route] })
    const answer = await api.call('GET', '/v1/long')
    turns.stop()
    await api.close()
    await dispose()
    expect(answer.text).toBe(JSON.stringify(rowsTo(2 * rowsAtOnce)))
    expect(answer.headers.get('content-length')).toBe(String(answer.text.length))
    expect(new Set(readIn).size).toBe(2)
  })

  it('is not written to its end for a client that has left', async () => {
    const leaving = new AbortController()
    const { route, turns, readIn } = longRoute(400 * rowsAtOnce)
    const handle = async () => {
      const rows = await route.handle()
      leaving.abort()
      return rows
    }
    const { db, dispose } = await memoryDatabase()
    const api = await openTestApi({ db, routes: [{ ...route, handle }] })
    const { signal } = leaving
    await expect(fetch(`${api.url}/v1/long`, { signal })).rejects.toThrow()
    await api.close()
    for (let seen = -1; seen < readIn.length; ) {
      seen = readIn.length
      for (let turn = 0; turn < 10; turn += 1) await afterOthers()
    }
    turns.stop()
    await dispose()
    expect(readIn.length).toBeLessThan(200 * rowsAtOnce)
  })

  it('[H-GEN-1] shows declared members only, and fails for a missing one', async () => {
    const rows = Array.from({ length: rowsAtOnce + 1 }, (_, seq) => ({ seq, note: '', token: 'S' }))
    const written = async (rows: unknown) => {
      const text = write({ before: '', rows, groups: [], after: [] })
      if (text instanceof JsonPieces) await text.written(() => true)
      return String(text)
    }
    expect(await written(rows)).not.toContain('token')
    await expect(written(rows.with(rowsAtOnce, { seq: 1 } as never))).rejects.toThrow('note')
  })
})
