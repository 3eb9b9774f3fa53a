import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'

const moduleUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)

/** Writes to a new file, and a byte to standard output whenever a write was acknowledged. */
const writer = `
  import { randomBytes } from 'node:crypto'
  import { writeSync } from 'node:fs'
  import { createSystemClock } from ${moduleUrl('../../../kernel/clock.ts')}
  import { openDatabase } from ${moduleUrl('../../open.ts')}
  import { statement } from ${moduleUrl('../../statement.ts')}
  import { silentLog } from ${moduleUrl('../../testing/silent-log.ts')}

  const deps = { clock: createSystemClock(), log: silentLog, randomness: randomBytes }
  const db = await openDatabase({ url: 'sqlite:flushed.db', ...deps })
  await db.schema.transaction((tx) => tx.ddl('CREATE TABLE t (id INTEGER NOT NULL) STRICT'))
  const insert = statement({
    name: 'flushes.insert',
    text: 'INSERT INTO t (id) VALUES (:id)',
    params: { id: 'integer' },
  })
  for (let id = 0; id < 20; id += 1) {
    if (id % 2 === 0) await db.run(insert, { id })
    else await db.transaction((tx) => tx.run(insert, { id }))
    writeSync(1, '.')
  }
  await db.close()
`

const Trace = z.object({
  traceEvents: z.array(
    z.object({
      name: z.string(),
      ph: z.string(),
      ts: z.number(),
      args: z.object({ result: z.number().optional() }).optional(),
    }),
  ),
})

/** What a process asked of the file system, as Node.js itself reports it, in order. */
function traced(program: string): { name: string; ended: boolean }[] {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-flushes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'writer.mjs'), program)
  const tracing = ['node.fs.sync,node.fs.async', '--trace-event-file-pattern', 'trace.json']
  const args = ['--trace-event-categories', ...tracing, 'writer.mjs']
  execFileSync(process.execPath, args, { cwd: folder })
  const trace = Trace.parse(JSON.parse(readFileSync(join(folder, 'trace.json'), 'utf8')))
  return trace.traceEvents
    .toSorted((a, b) => a.ts - b.ts)
    .map(({ name, ph, args: seen }) => {
      return { name, ended: ph === 'E' || (ph === 'e' && seen?.result === 0) }
    })
}

it('[O-DB-6] flushes the log to disk before it acknowledges a write, and the names of files', () => {
  const steps = traced(writer).flatMap(({ name, ended }) => {
    if (name === 'fdatasync' && ended) return ['flushed']
    if (name === 'fs.sync.fsync' && ended) return ['names']
    return name === 'fs.sync.write' && ended ? ['acknowledged'] : []
  })
  const seen = steps.join(' ').split('acknowledged').slice(0, -1)
  expect(seen).toHaveLength(20)
  for (const before of seen) expect(before).toContain('flushed')
  if (process.platform !== 'win32') expect(seen[0]).toContain('names')
})
