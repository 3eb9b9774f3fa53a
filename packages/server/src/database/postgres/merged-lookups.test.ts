import { describe, expect, it } from 'vitest'
import { lookup, type Row } from '../statement.ts'
import { MergedLookups } from './merged-lookups.ts'

const params = { a: 'text?', b: 'bytes' } as const
const find = lookup({ name: 'x', text: '{{rows}}', params, row: { ...params, n: 'integer' } })
const other = lookup({ name: 'y', text: '{{rows}}', params, row: { ...params, n: 'integer' } })

type Question = Row<typeof params>

describe('merged lookups', () => {
  it('ask once per statement and turn, and each question once', async () => {
    const asked: Question[][] = []
    const merged = new MergedLookups(async (_lookup, rows) => {
      asked.push(rows as Question[])
      return rows.map((row, n) => ({ ...row, n })).reverse()
    })
    const first = { a: 'k', b: Uint8Array.of(1) }
    const second = { a: 'k', b: Uint8Array.of(2) }
    const answers = await Promise.all([
      merged.find(find, first),
      merged.find(find, second),
      merged.find(find, { a: 'k', b: Uint8Array.of(1) }),
      merged.find(other, first),
    ])
    expect(asked).toEqual([[first, second], [first]])
    expect(answers).toMatchObject([{ n: 0 }, { n: 1 }, { n: 0 }, { n: 0 }])
    await merged.find(find, first)
    expect(asked.length).toBe(3)
  })

  it('distinguish questions whose values look alike when put together', async () => {
    const questions: Question[] = [
      { a: null, b: new Uint8Array() },
      { a: 'null', b: new Uint8Array() },
      { a: '', b: Uint8Array.of(0) },
      { a: '1:a', b: Uint8Array.of(98) },
      { a: '1', b: Uint8Array.of(58, 97, 98) },
    ]
    const merged = new MergedLookups(async (_lookup, rows) => rows.map((row, n) => ({ ...row, n })))
    const answers = await Promise.all(questions.map((question) => merged.find(find, question)))
    expect(answers).toMatchObject(questions.map((_, n) => ({ n })))
  })

  it('answer undefined where there is no row, and fail together', async () => {
    const empty = new MergedLookups(async () => [])
    expect(await empty.find(find, { a: 'a', b: new Uint8Array() })).toBeUndefined()
    const failing = new MergedLookups(() => Promise.reject(new Error('gone')))
    const asked = ['a', 'b'].map((a) => failing.find(find, { a, b: new Uint8Array() }))
    for (const each of asked) await expect(each).rejects.toThrow('gone')
  })
})
