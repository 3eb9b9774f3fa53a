import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { refuse } from '../failure.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import { type Incident, openErrorJournal } from './error-journal.ts'
import { placeOf } from './error-place.ts'

let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'guildhall-journal-'))
  path = join(directory, 'guildhall-errors.jsonl')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const startUnixMs = 1_763_700_000_000
const everything = { offset: 0, limit: 100 }
const incident: Incident = { category: 'request', component: 'http', place: 'a' }

async function open({ max_bytes = 65_536, max_entries = 2000, memoryOnly = false } = {}) {
  const clock = createFakeClock({ startUnixMs })
  const log = createRecordedLog()
  const bounds = { max_bytes, max_entries }
  const where = memoryOnly ? undefined : directory
  const journal = await openErrorJournal({ clock, log, bounds, directory: where })
  return { clock, log, ...journal }
}

async function fileLines(): Promise<Record<string, unknown>[]> {
  const text = await readFile(path, 'utf8')
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []))
}

function lineAt(timestamp_ms: number, fingerprint: string): string {
  const row = { kind: 'error', category: 'task', component: 'retention', message: 'failed' }
  return `${JSON.stringify({ version: 1, timestamp_ms, ...row, fingerprint, count: 1 })}\n`
}

describe('the error journal', () => {
  it('[O-ERR-1] writes one JSON line per incident, without cause, stack or place', async () => {
    const journal = await open()
    const error = new Error('password=hunter2 in /srv/secret')
    journal.record({ category: 'database', component: 'http', error, request_id: 'r1' })
    await journal.close()
    expect(await fileLines()).toEqual([
      {
        version: 1,
        timestamp_ms: startUnixMs,
        kind: 'error',
        category: 'database',
        component: 'http',
        message: 'database operation failed',
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        count: 1,
        request_id: 'r1',
      },
    ])
    expect(await readFile(path, 'utf8')).not.toMatch(/hunter2|secret|error-journal/)
  })

  it('[O-ERR-2] leads by fingerprint and request id to the log line with the cause', async () => {
    const journal = await open({ memoryOnly: true })
    const error = new Error('no such table')
    const fields = { route: '/v1/x' }
    const fingerprint = journal.record({ ...incident, error, request_id: 'r1', fields })
    expect(journal.page(everything).entries[0]?.fingerprint).toBe(fingerprint)
    expect(journal.log.lines).toEqual([
      {
        level: 'error',
        component: 'http',
        message: 'request failed',
        fields: { request_id: 'r1', route: '/v1/x', fingerprint, error },
      },
    ])
  })

  it('[H-ERR-2] distinguishes incidents by kind, category, component and place alone', async () => {
    const journal = await open({ memoryOnly: true })
    const made = () => new Error(String(Math.PI))
    const [one, same] = [made(), made()]
    const other = new Error('elsewhere')
    const base = { category: 'request', component: 'http' } as const
    const first = journal.record({ ...base, error: one })
    expect(journal.record({ ...base, error: same, request_id: 'r2' })).toBe(first)
    const different = [
      journal.record({ ...base, error: other }),
      journal.record({ ...base, component: 'realtime', error: one }),
      journal.record({ ...base, category: 'worker', error: one }),
      journal.record({ ...base, category: 'uncaught_exception', error: one }),
      journal.record({ ...base, place: 'elsewhere', error: one }),
    ]
    expect(new Set([first, ...different]).size).toBe(6)
    const kinds = journal.page(everything).entries.map((entry) => entry.kind)
    expect(kinds.filter((kind) => kind === 'panic')).toHaveLength(1)
  })

  it('[O-ERR-2] shares a line among equal fingerprints within one second', async () => {
    const journal = await open()
    journal.record(incident)
    await journal.clock.advance(999)
    journal.record(incident)
    await journal.clock.advance(1)
    journal.record(incident)
    await journal.close()
    const lines = await fileLines()
    expect(lines.map(({ timestamp_ms, count }) => [timestamp_ms, count])).toEqual([
      [startUnixMs, 2],
      [startUnixMs + 1000, 1],
    ])
  })

  it('[O-ERR-1] writes a panic at once, because the process is about to end', async () => {
    const journal = await open()
    journal.record({ category: 'uncaught_exception', component: 'node', error: new Error('bug') })
    await expect.poll(fileLines).toMatchObject([{ kind: 'panic' }])
  })

  it('[H-ERR-1] groups by fingerprint, last seen first, then by fingerprint', async () => {
    const journal = await open({ memoryOnly: true })
    const a = journal.record({ ...incident, place: 'a' })
    await journal.clock.advance(5000)
    const b = journal.record({ ...incident, place: 'b' })
    const c = journal.record({ ...incident, place: 'c' })
    await journal.clock.advance(5000)
    journal.record({ ...incident, place: 'a' })
    const { entries, total, next_offset } = journal.page(everything)
    expect(entries.map((entry) => entry.fingerprint)).toEqual([a, ...[b, c].sort()])
    expect(entries[0]).toEqual({
      fingerprint: a,
      kind: 'error',
      category: 'request',
      component: 'http',
      message: 'request failed',
      first_seen_ms: startUnixMs,
      last_seen_ms: startUnixMs + 10_000,
      count: 2,
    })
    expect([total, next_offset]).toEqual([3, null])
  })

  it('[H-ERR-1] pages by offset and limit', async () => {
    const journal = await open({ memoryOnly: true })
    for (let place = 0; place < 5; place += 1) journal.record({ ...incident, place: `${place}` })
    const pages = [0, 2, 4, 6].map((offset) => journal.page({ offset, limit: 2 }))
    expect(pages.map((page) => [page.entries.length, page.total, page.next_offset])).toEqual([
      [2, 5, 2],
      [2, 5, 4],
      [1, 5, null],
      [0, 5, null],
    ])
    expect(new Set(pages.flatMap((page) => page.entries.map((e) => e.fingerprint))).size).toBe(5)
  })
})

describe('its bounds', () => {
  it.each([{ memoryOnly: true }, { memoryOnly: false }])(
    '[H-ERR-3] keeps the newest entries: %j',
    async (where) => {
      const journal = await open({ ...where, max_entries: 3 })
      const made: string[] = []
      for (let place = 0; place < 7; place += 1) {
        made.push(journal.record({ ...incident, place: `${place}` }))
        await journal.clock.advance(2000)
      }
      const kept = journal.page(everything).entries.map((entry) => entry.fingerprint)
      expect(kept).toEqual(made.slice(-3).reverse())
      await journal.close()
      if (where.memoryOnly) return
      const inFile = (await fileLines()).map((line) => line.fingerprint)
      expect(inFile.length).toBeLessThanOrEqual(3)
      expect(inFile.at(-1)).toBe(made.at(-1))
    },
  )

  it('[H-ERR-3] keeps the file below its bytes while the newest lines stay', async () => {
    const journal = await open({ max_bytes: 2000 })
    let last = ''
    for (let place = 0; place < 40; place += 1) {
      last = journal.record({ ...incident, place: `${place}` })
      await journal.clock.advance(1000)
    }
    await journal.close()
    const text = await readFile(path, 'utf8')
    expect(text.length).toBeLessThanOrEqual(2000)
    expect(text.length).toBeGreaterThan(1000)
    expect(text.trimEnd().split('\n').at(-1)).toContain(last)
  })

  it('[H-ERR-3] cuts a file that an earlier run with larger bounds left', async () => {
    const lines = Array.from({ length: 100 }, (_, n) => lineAt(n, `f${n}`))
    await writeFile(path, lines.join(''))
    const journal = await open({ max_entries: 8 })
    expect(journal.page(everything).entries.map((entry) => entry.fingerprint)[0]).toBe('f99')
    expect(journal.page(everything).total).toBe(8)
    await journal.close()
    expect(await fileLines()).toHaveLength(7)
  })
})

describe('its file', () => {
  it('[H-ERR-3] survives a restart', async () => {
    const first = await open()
    const fingerprint = first.record(incident)
    await first.close()
    const second = await open()
    second.record(incident)
    const [entry] = second.page(everything).entries
    expect(entry).toMatchObject({ fingerprint, count: 2, first_seen_ms: startUnixMs })
    await second.close()
    expect(await fileLines()).toHaveLength(2)
  })

  it('[H-ERR-3] passes over a torn last line, and does not write onto it', async () => {
    await writeFile(path, lineAt(1, 'whole') + lineAt(2, 'torn').slice(0, 50))
    const journal = await open()
    expect(journal.page(everything).entries.map((entry) => entry.fingerprint)).toEqual(['whole'])
    const added = journal.record(incident)
    await journal.close()
    const again = await open()
    const found = again.page(everything).entries.map((entry) => entry.fingerprint)
    expect(found).toEqual([added, 'whole'])
  })

  it.each([
    ['bytes', Buffer.from([0, 255, 10, 128, 10, 254])],
    ['other JSON', '1\nnull\n[]\n{}\n{"version":2}\n"text"\n'],
    ['a line of wrong types', lineAt(1, 'x').replace('"count":1', '"count":"many"')],
    ['nothing', ''],
  ])('[H-ERR-3] is an empty page when it holds %s', async (_name, content) => {
    await writeFile(path, content)
    const journal = await open()
    expect(journal.page(everything)).toEqual({ entries: [], total: 0, next_offset: null })
    journal.record(incident)
    await journal.close()
    expect((await open()).page(everything).total).toBe(1)
  })

  it('[O-ERR-2] [O-DSK-2] stays in memory while it cannot be written, and recovers', async () => {
    // A folder stands where the file should be; this stops even a privileged user.
    await mkdir(join(path, 'occupied'), { recursive: true })
    const journal = await open({ max_entries: 2 })
    expect(journal.writable()).toBe(false)
    for (const place of ['a', 'b', 'c']) journal.record({ ...incident, place })
    await journal.clock.advance(2000)
    expect(journal.page(everything).total).toBe(2)
    expect(journal.log.lines.filter((line) => line.level === 'warn')).toHaveLength(1)

    await rm(path, { recursive: true })
    await journal.clock.advance(5000)
    await expect.poll(() => journal.writable()).toBe(true)
    expect(await fileLines()).toHaveLength(2)
  })

  it('[O-ERR-2] is writable as long as nothing speaks against it', async () => {
    expect((await open()).writable()).toBe(true)
    expect((await open({ memoryOnly: true })).writable()).toBe(true)
  })
})

describe('the place of an error', () => {
  it('[H-ERR-2] is a file and line of this project', () => {
    expect(placeOf(new Error('here'))).toMatch(
      /^packages\/server\/src\/kernel\/errors\/error-journal\.test\.ts:\d+$/,
    )
  })

  it('[H-ERR-2] is where a refusal was thrown, not where refusals are built', () => {
    expect(placeOf(refuse.internal('reason'))).toContain('error-journal.test.ts')
  })

  it('[H-ERR-2] passes over frames of libraries and of the runtime', () => {
    const error = new TypeError('in a library')
    const here = error.stack?.split('\n')[1] ?? ''
    const library = here.replace(/packages\/.*test\.ts/, 'node_modules/pg/lib/client.js')
    error.stack = ['TypeError: x', '    at f (node:fs:1:1)', library, here].join('\n')
    expect(placeOf(error)).toContain('error-journal.test.ts')
    error.stack = ['TypeError: x', '    at f (node:fs:1:1)', library].join('\n')
    expect(placeOf(error)).toBe('TypeError')
  })

  it('[H-ERR-2] is not read from the message', () => {
    const error = new Error('at packages/server/src/kernel/log/log.ts:1:1')
    expect(placeOf(error)).toContain('error-journal.test.ts')
    expect(placeOf('thrown text')).toBe('unknown')
    expect(placeOf(undefined)).toBe('unknown')
  })
})
