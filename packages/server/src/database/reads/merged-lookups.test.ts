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
    expect(answers).toMatchObject([[{ n: 0 }], [{ n: 1 }], [{ n: 0 }], [{ n: 0 }]])
    await merged.find(find, first)
    expect(asked.length).toBe(3)
  })

  it('gather while two queries of their kind are under way, and share the next', async () => {
    const asked: { names: unknown[]; end: () => void }[] = []
    const merged = new MergedLookups(async (_lookup, rows) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      asked.push({ names: rows.map(({ a }) => a), end: resolve })
      await promise
      return rows.map((row, n) => ({ ...row, n }))
    })
    const question = (a: string) => ({ a, b: new Uint8Array() })
    const turn = () => new Promise(setImmediate)
    const answers = [merged.find(find, question('1'))]
    await turn()
    for (const a of ['2', '3', '4']) {
      answers.push(merged.find(find, question(a)))
      await turn()
    }
    answers.push(merged.find(other, question('5')))
    await turn()
    expect(asked.map(({ names }) => names)).toEqual([['1'], ['2'], ['5']])
    asked[0]?.end()
    expect(await answers[0]).toMatchObject([{ a: '1' }])
    await turn()
    expect(asked.map(({ names }) => names)).toEqual([['1'], ['2'], ['5'], ['3', '4']])
    for (const { end } of asked) end()
    expect(await Promise.all(answers)).toMatchObject(['1', '2', '3', '4', '5'].map((a) => [{ a }]))
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
    expect(answers).toMatchObject(questions.map((_, n) => [{ n }]))
  })

  it('give each question all of its rows, in their order', async () => {
    const merged = new MergedLookups(async (_lookup, rows) =>
      [1, 2].flatMap((n) => rows.slice(n - 1).map((row) => ({ ...row, n }))),
    )
    const asked = ['a', 'b'].map((a) => merged.find(find, { a, b: new Uint8Array() }))
    expect(await Promise.all(asked)).toMatchObject([[{ n: 1 }], [{ n: 1 }, { n: 2 }]])
  })

  it('answer with nothing where there is no row, and fail together', async () => {
    const empty = new MergedLookups(async () => [])
    expect(await empty.find(find, { a: 'a', b: new Uint8Array() })).toEqual([])
    const failing = new MergedLookups(() => Promise.reject(new Error('gone')))
    for (let time = 0; time < 2; time += 1) {
      const asked = ['a', 'b'].map((a) => failing.find(find, { a, b: new Uint8Array() }))
      for (const each of asked) await expect(each).rejects.toThrow('gone')
    }
  })
})
