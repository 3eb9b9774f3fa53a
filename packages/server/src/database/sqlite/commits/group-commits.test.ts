import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { atEndOfTurn } from '../../../kernel/clock.ts'
import { DatabaseUnavailable, UniqueViolation } from '../../database.ts'
import { statement } from '../../statement.ts'
import { SqliteConnection } from '../connection.ts'
import { Writer } from '../writer.ts'
import { GroupCommits } from './group-commits.ts'

/** Flushes that end when the test says so. */
type Flush = PromiseWithResolvers<void>

let folder: string
let connection: SqliteConnection
let writer: Writer
let flushes: Flush[]
let failures: unknown[]
/** Commands that fail from now on, and leave the transaction as it was. */
let broken: Set<string>

class BreakableConnection extends SqliteConnection {
  override command(text: string): StatementSync {
    const command = super.command(text)
    const run = () => {
      if (broken.has(text)) throw new Error(`${text} failed`)
      return command.run()
    }
    return { run } as StatementSync
  }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-group-'))
  flushes = []
  failures = []
  broken = new Set()
  connection = new BreakableConnection(join(folder, 'group.db'), { nowUnixMs: () => 0 })
  connection.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id TEXT NOT NULL PRIMARY KEY) STRICT')
  const commits = new GroupCommits({
    connection,
    wal: {
      flush() {
        const flush = Promise.withResolvers<void>()
        flushes.push(flush)
        return flush.promise
      },
      close: async () => {},
    },
    held: () => undefined,
    onCommitted: () => {},
    onDiskFull: () => {},
    onFailure: (error) => failures.push(error),
  })
  writer = new Writer(connection, commits)
})

afterEach(() => {
  connection.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('group commits', () => {
  it('[O-DB-6] acknowledge nothing before the flush that covers it has ended', async () => {
    const acknowledged: string[] = []
    void insert('a').then(() => acknowledged.push('a'))
    await turns(5)
    expect([acknowledged, flushes.length]).toEqual([[], 1])
    flushes[0]?.resolve()
    await turns(1)
    expect(acknowledged).toEqual(['a'])
  })

  it('[O-DB-6] answer who only read after the flush of what it may have seen', async () => {
    const acknowledged: string[] = []
    const first = insert('a').then(() => acknowledged.push('a'))
    await turns(2)
    const reader = writer.transaction(async (tx) => {
      expect(await tx.all(ids, {})).toHaveLength(1)
    })
    const read = reader.then(() => acknowledged.push('read'))
    await turns(2)
    const second = insert('b').then(() => acknowledged.push('b'))
    await turns(5)
    expect([acknowledged, flushes.length]).toEqual([[], 2])
    flushes[1]?.resolve()
    await turns(2)
    expect(acknowledged).toEqual([])
    flushes[0]?.resolve()
    await Promise.all([first, read, second])
    expect(acknowledged).toEqual(['a', 'read', 'b'])
    await writer.transaction((tx) => tx.all(ids, {}))
    expect(flushes.length).toBe(2)
  })

  it('[O-DB-6] let writers that come while two flushes run share the next one', async () => {
    const first = [insert('a')]
    await turns(2)
    first.push(insert('b'))
    await turns(2)
    const later = ['c', 'd'].map(insert)
    await turns(2)
    later.push(insert('e'))
    await turns(2)
    expect(flushes.length).toBe(2)
    flushes[0]?.resolve()
    await first[0]
    await turns(2)
    expect(flushes.length).toBe(3)
    flushes[1]?.resolve()
    flushes[2]?.resolve()
    await Promise.all([...first, ...later])
    expect(flushes.length).toBe(3)
  })

  it('[O-DB-6] acknowledge a commit only with those before it, whichever flush ends first', async () => {
    const acknowledged: string[] = []
    void insert('a').then(() => acknowledged.push('a'))
    await turns(2)
    void insert('b').then(() => acknowledged.push('b'))
    await turns(2)
    flushes[1]?.resolve()
    await turns(2)
    expect(acknowledged).toEqual([])
    flushes[0]?.resolve()
    await turns(2)
    expect(acknowledged).toEqual(['a', 'b'])
  })

  it('[O-DB-6] fail a commit that has landed when one before it has not', async () => {
    const [first, second] = [insert('a'), turns(2).then(() => insert('b'))]
    const settled = Promise.allSettled([first, second])
    await turns(4)
    flushes[1]?.resolve()
    await turns(1)
    flushes[0]?.reject(new Error('input/output error'))
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(failures.length).toBe(1)
  })

  it('commit the units of one turn together, and undo a failing one alone', async () => {
    const written = [
      insert('a'),
      writer.transaction(async (tx) => {
        await tx.run(insertId, { id: 'undone' })
        await tx.run(insertId, { id: 'a' })
      }),
      insert('a'),
      insert('b'),
    ]
    const settled = Promise.allSettled(written)
    await turns(2)
    expect(flushes.length).toBe(1)
    flushes[0]?.resolve()
    const outcomes = (await settled).map((each) => each.status)
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    await expect(written[1]).rejects.toBeInstanceOf(UniqueViolation)
    expect(storedIds()).toEqual(['a', 'b'])
  })

  it('undo the first unit of a turn alone as well, also when it is the only one', async () => {
    const refused = () =>
      writer.transaction(async (tx) => {
        await tx.run(insertId, { id: 'undone' })
        await tx.run(insertId, { id: 'undone' })
      })
    await expect(refused()).rejects.toBeInstanceOf(UniqueViolation)
    expect([connection.inTransaction, flushes.length]).toEqual([false, 0])
    const settled = Promise.allSettled([refused(), insert('a'), refused(), insert('b')])
    await turns(2)
    expect(flushes.length).toBe(1)
    flushes[0]?.resolve()
    const outcomes = (await settled).map((each) => each.status)
    expect(outcomes).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect([storedIds(), failures]).toEqual([['a', 'b'], []])
  })

  it('end with their own turn also where a group before them was undone', async () => {
    const later: Promise<unknown>[] = []
    for (const id of ['a', 'b', 'c']) {
      const refused = writer.transaction(async () => {
        throw new Error('no')
      })
      await expect(refused).rejects.toThrow('no')
      atEndOfTurn(() => later.push(insert(id)))
    }
    await turns(3)
    expect(flushes.length).toBe(1)
    flushes[0]?.resolve()
    await Promise.all(later)
    expect(storedIds()).toEqual(['a', 'b', 'c'])
  })

  it('show nothing to another connection before they are committed', async () => {
    const other = new DatabaseSync(join(folder, 'group.db'), { readOnly: true })
    const count = other.prepare('SELECT count(*) AS n FROM t')
    const written = insert('a')
    expect(count.get()).toEqual({ n: 0 })
    await turns(2)
    expect(count.get()).toEqual({ n: 1 })
    flushes[0]?.resolve()
    await written
    other.close()
  })

  it('fail everything that a failed flush was to cover, and take no more work', async () => {
    const covered = [insert('a'), insert('b')]
    await turns(2)
    const waiting = [insert('c')]
    await turns(2)
    waiting.push(insert('d'))
    await turns(2)
    flushes[0]?.reject(new Error('input/output error'))
    for (const each of [...covered, ...waiting, insert('e')]) {
      await expect(each).rejects.toBeInstanceOf(DatabaseUnavailable)
    }
    expect([failures.length, flushes.length]).toEqual([1, 2])
  })

  it.each([
    ['the first of its group', 'ROLLBACK', 0],
    ['one behind others', 'ROLLBACK TO unit', 1],
  ])('lose the group when a unit cannot be undone: %s', async (_, command, before) => {
    broken.add(command)
    const others = Array.from({ length: before }, (_, at) => insert(`other-${at}`))
    const undone = writer.transaction(async (tx) => {
      await tx.run(insertId, { id: 'half' })
      throw new Error('the caller gives up')
    })
    await expect(undone).rejects.toThrow('the caller gives up')
    for (const each of [...others, insert('later')]) {
      await expect(each).rejects.toBeInstanceOf(DatabaseUnavailable)
    }
    await turns(3)
    expect([failures.length, flushes.length]).toEqual([1, 0])
  })

  it('take no more work when neither COMMIT nor ROLLBACK succeeds', async () => {
    broken.add('COMMIT').add('ROLLBACK')
    await expect(insert('a')).rejects.toBeInstanceOf(DatabaseUnavailable)
    await expect(insert('b')).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect([failures.length, flushes.length]).toEqual([1, 0])
  })

  it('do not flush for a transaction that only read', async () => {
    await writer.transaction((tx) => tx.all(ids, {}))
    expect(flushes.length).toBe(0)
  })
})

function insert(id: string): Promise<number> {
  return writer.do('statement', true, (on) => on.run(insertId, { id }))
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => atEndOfTurn(resolve))
  }
}

function storedIds(): string[] {
  return connection.all(ids, {}).map((row) => row.id)
}

const insertId = statement({
  name: 'group-test.insert',
  text: 'INSERT INTO t (id) VALUES (:id)',
  params: { id: 'text' },
})

const ids = statement({
  name: 'group-test.ids',
  text: 'SELECT id FROM t ORDER BY id',
  row: { id: 'text' },
})
