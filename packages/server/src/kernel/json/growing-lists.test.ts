import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { beginning, preceded } from './growing-lists.ts'
import { JsonPieces } from './json-pieces.ts'
import { compileWriter } from './json-writer.ts'

const Row = z.strictObject({ seq: z.int(), note: z.string() })
type Row = z.input<typeof Row>

const step = fc.record({
  /** Which of the lists so far the next one grows from: the newest one most of the time. */
  from: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(6)),
  /** To how many rows it is cut before that, if at all. */
  cut: fc.option(fc.nat(6), { freq: 4 }),
  note: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\0'), fc.string({ minLength: 40 })),
  /** Who writes which of the lists so far. */
  writes: fc.array(fc.tuple(fc.nat(6), fc.boolean()), { maxLength: 3 }),
})

describe('a list that grows', () => {
  it('[H-GEN-1] is written like any other, whatever was written before', () => {
    const whole = compileWriter(z.strictObject({ before: z.string(), rows: z.array(Row) }))
    const part = compileWriter(z.array(z.strictObject({ note: z.string() })))
    const lengths = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.nat(6))
    fc.assert(
      fc.property(
        lengths,
        fc.array(step, { maxLength: 60, size: 'max' }),
        ([max, initial], steps) => {
          const rows = Array.from({ length: initial }, (_, seq): Row => ({ seq, note: 'é' }))
          const lists = [{ list: rows.slice(0, max), plain: rows.slice(0, max) }]
          const at = (from: number) => lists[from % lists.length] ?? { list: [], plain: [] }
          const answers: (() => void)[] = []
          for (const [seq, { from, cut, note, writes }] of steps.entries()) {
            if (cut !== null) {
              const { list, plain } = at(from)
              lists.unshift({ list: beginning(list, cut), plain: plain.slice(0, cut) })
            }
            const { list, plain } = at(cut === null ? from : 0)
            const row = { seq, note }
            lists.unshift({
              list: preceded(list, { ...row }, max),
              plain: [row, ...plain].slice(0, max),
            })
            for (const [which, isWhole] of writes) {
              const { list, plain } = at(which)
              const before = note
              const text = isWhole ? whole({ before, rows: list }) : part(list)
              const notes = plain.map(({ note }) => ({ note }))
              const expected = JSON.stringify(isWhole ? { before, rows: plain } : notes)
              // Also later, when others have been written behind and in front of it.
              answers.push(() => expect(String(text)).toBe(expected))
              if (text instanceof JsonPieces) {
                expect(text.byteLength).toBe(Buffer.byteLength(expected))
              }
            }
          }
          for (const check of answers) check()
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each([0, 1, 30])('asks once for each row, written %s rows later', (later) => {
    const write = compileWriter(z.array(Row))
    let reads = 0
    const counted = (seq: number) => ({
      seq,
      get note() {
        reads += 1
        return 'a'
      },
      token: 'SECRET',
    })
    const lists: Row[][] = [[]]
    for (let seq = 0; seq < 300; seq += 1) {
      lists.push(preceded(lists.at(-1) ?? [], counted(seq), 50))
      const due = lists[lists.length - 1 - later]
      if (due !== undefined) expect(String(write(due))).not.toContain('SECRET')
    }
    // And once more to know how much of the text it was, when it falls out of the list.
    expect(reads).toBe(300 - later + (250 - later))
  })

  it('cannot be changed any more, and neither can its rows', () => {
    const list = preceded([{ seq: 1, note: 'old' }], { seq: 2, note: 'new' }, 100)
    expect([list, ...list].every(Object.isFrozen)).toBe(true)
  })

  it('[H-GEN-1] of rows with parts is written anew, since these may change', () => {
    const write = compileWriter(z.array(z.strictObject({ tags: z.array(z.string()) })))
    const list = preceded([], { tags: ['a'] }, 100)
    expect(write(list)).toBe('[{"tags":["a"]}]')
    list[0]?.tags.push('b')
    expect(write(list)).toBe('[{"tags":["a","b"]}]')
  })

  it('[H-GEN-1] stands in its place among others', () => {
    const Lists = z.strictObject({ a: z.array(Row), b: z.array(Row).nullable(), c: z.array(Row) })
    const grown = preceded([], { seq: 1, note: 'x' }, 100)
    const values = { a: grown, b: null, c: preceded(grown, { seq: 2, note: '\0' }, 100) }
    expect(String(compileWriter(Lists)(values))).toBe(JSON.stringify(values))
    const byName = compileWriter(z.record(z.string(), z.array(Row)))
    expect(String(byName({ '\0': grown, b: grown }))).toBe(
      JSON.stringify({ '\0': grown, b: grown }),
    )
  })
})
