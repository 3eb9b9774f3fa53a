import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createSystemClock } from '../../../kernel/clock.ts'
import { statement } from '../../statement.ts'
import { silentLog } from '../../testing/silent-log.ts'
import { openFileDatabase } from '../sqlite-database.ts'

const insertNote = statement({
  name: 'tests.insert-note',
  text: 'INSERT INTO notes (note) VALUES (:note)',
  params: { note: 'text' },
})

it('a file keeps the length of its log, but for what a reader has made of it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'guildhall.db')
  const clock = createSystemClock()
  const bounds = { walFramesMax: 1024 }
  const patience = { interval: 250, timeout: 30_000 }
  const db = await openFileDatabase(path, { clock, log: silentLog, ...bounds })
  await db.schema.transaction((tx) => tx.ddl('CREATE TABLE notes (note TEXT NOT NULL) STRICT'))
  const reader = new DatabaseSync(path, { readOnly: true })
  const length = () => statSync(`${path}-wal`).size
  const note = 'x'.repeat(100_000)
  const write = (text: string) => db.run(insertNote, { note: text })
  const grow = async (bytes: number) => {
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM notes').get()
    while (length() < bytes) await write(note)
    reader.exec('COMMIT')
  }
  /** Counts how often the log was started anew. */
  const beginnings = () => readFileSync(`${path}-wal`).readUInt32BE(12)
  await grow(4_000_000)
  const begun = beginnings()
  await vi.waitFor(async () => {
    await write('x')
    expect(beginnings()).toBeGreaterThan(begun)
  }, patience)
  expect(length()).toBeGreaterThanOrEqual(4_000_000)
  await grow(10_000_000)
  await vi.waitFor(async () => {
    await write('x')
    expect(length()).toBeLessThanOrEqual(1024 * 1.5 * 4120)
  }, patience)
  reader.close()
  await db.close()
})
