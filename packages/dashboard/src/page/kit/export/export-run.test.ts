import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type Exported, type Format, nothingYet, type Progress, runExport } from './export-run.ts'

type Row = {
  rank: number
  user_id: string
  score: bigint
  updated_at_unix_ms: number
  metadata: object | null
}

const rowOf = (index: number): Row => ({
  rank: index + 1,
  user_id: `user-${index % 7}`,
  score: 9_007_199_254_740_993n + BigInt(index),
  updated_at_unix_ms: 1_763_700_000_000 + index,
  metadata: index % 2 === 0 ? { note: `=HYPERLINK("x"), ${index}` } : null,
})

/** A list of so many rows, in pages of 200. */
function listOf(total: number): Exported<Row> & { asked: unknown[] } {
  const asked: unknown[] = []
  return {
    file: 'ranks',
    noun: ['record', 'records'],
    words: 'All of them.',
    columns: ['rank', 'user_id', 'score', 'updated_at_unix_ms', 'metadata'],
    asked,
    async read(cursor) {
      asked.push(cursor)
      const from = Number(cursor ?? 0)
      const count = Math.min(200, total - from)
      const items = Array.from({ length: count }, (_, index) => rowOf(from + index))
      return { items, next: from + count < total ? from + count : undefined }
    },
  }
}

const namesOf = async (ids: readonly string[]) =>
  new Map(ids.filter((id) => id !== 'user-1').map((id) => [id, `+name of ${id}`]))

async function run(exported: Exported<Row>, format: Format, from = nothingYet, pages = Infinity) {
  const controller = new AbortController()
  let text = ''
  let progress: Progress = from
  let taken = 0
  await runExport({
    exported,
    format,
    namesOf,
    from,
    signal: controller.signal,
    onPage(page, now) {
      text += page
      progress = now
      taken += 1
      if (taken >= pages) controller.abort()
    },
  })
  return { text, progress }
}

describe('an export of a list', () => {
  it('[H-OPS-1] has times and names that people read, and nothing that a spreadsheet runs', async () => {
    const { text } = await run(listOf(2), 'csv')
    expect(text.split('\r\n')).toEqual([
      'rank,username,user_id,score,updated_at,updated_at_unix_ms,metadata',
      "1,'+name of user-0,user-0,9007199254740993,2025-11-21T04:40:00.000Z,1763700000000," +
        '"{""note"":""=HYPERLINK(\\""x\\""), 0""}"',
      '2,,user-1,9007199254740994,2025-11-21T04:40:00.001Z,1763700000001,',
      '',
    ])
  })

  it('has the rows as they are in JSON lines, integers exact', async () => {
    const { text, progress } = await run(listOf(450), 'jsonl')
    const lines = text.trimEnd().split('\n')
    expect(lines).toHaveLength(450)
    expect(lines[0]).toContain('"score":9007199254740993,')
    expect(progress).toMatchObject({ count: 450, isWhole: true })
  })

  it('goes on where it was stopped, with no row twice', async () => {
    for (const format of ['csv', 'jsonl'] as const) {
      const list = listOf(1_000)
      const whole = (await run(listOf(1_000), format)).text
      const first = await run(list, format, nothingYet, 3)
      expect(first.progress.isWhole).toBe(false)
      const rest = await run(list, format, first.progress)
      expect(first.text + rest.text).toBe(whole)
      expect(list.asked).toEqual([undefined, 200, 400, 600, 800])
    }
  })

  it('keeps what it has when a page fails, and can go on', async () => {
    const list = listOf(600)
    const { read } = list
    let failures = 1
    list.read = async (cursor) => {
      if (cursor === 400 && failures-- > 0) throw new Error('gone')
      return read(cursor)
    }
    let kept: Progress = nothingYet
    const options = { exported: list, format: 'jsonl', namesOf } as const
    const signal = new AbortController().signal
    const onPage = (_: string, now: Progress) => {
      kept = now
    }
    await expect(runExport({ ...options, from: kept, signal, onPage })).rejects.toThrow('gone')
    expect(kept).toMatchObject({ count: 400, cursor: 400, isWhole: false })
    await runExport({ ...options, from: kept, signal, onPage })
    expect(kept).toMatchObject({ count: 600, isWhole: true })
  })

  it('has nothing while its first page fails, and one header behind that', async () => {
    const list = listOf(1)
    const { read } = list
    let failures = 1
    list.read = async (cursor) => {
      if (failures-- > 0) throw new Error('gone')
      return read(cursor)
    }
    const parts: string[] = []
    const signal = new AbortController().signal
    const onPage = (text: string) => void parts.push(text)
    const options = { exported: list, format: 'csv', namesOf, from: nothingYet } as const
    await expect(runExport({ ...options, signal, onPage })).rejects.toThrow('gone')
    expect(parts).toEqual([])
    await runExport({ ...options, signal, onPage })
    expect(parts.join('')).toBe((await run(listOf(1), 'csv')).text)
  })

  it('has one header when it is stopped at a first page without rows', async () => {
    const list = listOf(1)
    const { read } = list
    list.read = async (cursor) => (cursor === undefined ? { items: [], next: 0 } : read(cursor))
    const first = await run(list, 'csv', nothingYet, 1)
    const rest = await run(list, 'csv', first.progress)
    expect(first.text + rest.text).toBe((await run(listOf(1), 'csv')).text)
  })

  it('has each row once of a list that moves, and says how many came again', async () => {
    const list: Exported<Row> = { ...listOf(1_000), keyOf: ({ rank }) => String(rank) }
    const { read } = list
    // Whoever signs up meanwhile moves all that is behind.
    const moved = (cursor: unknown) => (Number(cursor ?? 0) > 400 ? Number(cursor) - 3 : cursor)
    list.read = async (cursor) => {
      const page = await read(moved(cursor))
      return { ...page, next: page.next === undefined ? undefined : Number(cursor ?? 0) + 200 }
    }
    const first = await run(list, 'csv', nothingYet, 3)
    const rest = await run(list, 'csv', first.progress)
    expect(rest.progress).toMatchObject({ count: 1_000, repeated: 3, isWhole: true })
    expect(first.text + rest.text).toBe((await run(listOf(1_000), 'csv')).text)
  })

  it('of 100,000 rows keeps none of them in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const heap = () => {
      collect()
      return process.memoryUsage().heapUsed
    }
    for (const format of ['csv', 'jsonl'] as const) {
      let written = 0
      let pages = 0
      let most = 0
      const before = heap()
      await runExport({
        exported: { ...listOf(100_000) },
        format,
        namesOf,
        from: nothingYet,
        signal: new AbortController().signal,
        onPage(text) {
          written += text.length
          pages += 1
          if (pages % 100 === 0) most = Math.max(most, heap() - before)
        },
      })
      expect(written).toBeGreaterThan(8_000_000)
      expect(most).toBeLessThan(2_000_000)
    }
  })
})
