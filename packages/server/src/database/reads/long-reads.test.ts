import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rowsAtOnce } from '../../kernel/batching/rows-at-once.ts'
import { countTurns } from '../../kernel/time/turns.fixture.ts'
import { DatabaseUnavailable, type Queries } from '../database.ts'
import { statement } from '../statement.ts'
import { type TestDatabase, testBackends } from '../testing/backends.ts'

const insert = statement({
  name: 'long-reads-test.insert',
  text: 'INSERT INTO deployment_secrets (name, secret) VALUES (:name, :secret)',
  params: { name: 'text', secret: 'bytes' },
})
const names = statement({
  name: 'long-reads-test.names',
  text: 'SELECT name FROM deployment_secrets ORDER BY name',
  row: { name: 'text' },
})
const numbers = statement({
  name: 'long-reads-test.numbers',
  text: `WITH RECURSIVE n (i) AS (SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i < :last)
    SELECT i, CASE WHEN i % 2 = 0 THEN i END AS even FROM n WHERE i <= :last`,
  params: { first: 'integer', last: 'integer' },
  row: { i: 'integer', even: 'bigint?' },
})
/** As many rows as the table has, each so many times. */
const repeated = statement({
  name: 'long-reads-test.repeated',
  text: `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :last)
    SELECT name FROM deployment_secrets CROSS JOIN n`,
  params: { last: 'integer' },
  row: { name: 'text' },
})
const ownPid = statement({
  name: 'long-reads-test.own-pid',
  text: 'SELECT pg_backend_pid() AS pid',
  row: { pid: 'integer' },
})
const terminate = statement({
  name: 'long-reads-test.terminate',
  text: 'SELECT pg_terminate_backend(:pid::integer, 5000)::text AS ended',
  params: { pid: 'integer' },
  row: { ended: 'text' },
})
const openCursors = statement({
  name: 'long-reads-test.open-cursors',
  text: "SELECT count(*) AS cursors FROM pg_cursors WHERE name LIKE 'guildhall%'",
  row: { cursors: 'integer' },
})
const broken = statement({ name: 'long-reads-test.broken', text: 'SELECT 1 FROM missing' })
const secret = new Uint8Array([1])

const rowOf = (i: number) => ({ i, even: i % 2 === 0 ? BigInt(i) : null })
const rowsTo = (last: number) => Array.from({ length: last }, (_, at) => rowOf(at + 1))

describe.each(testBackends)('a long read on $name', ({ name: backend, open }) => {
  let test: TestDatabase
  beforeEach(async () => {
    test = await open()
    await test.db.run(insert, { name: 'a', secret })
  })
  afterEach(() => test.dispose())

  const put = (name: string) => test.db.run(insert, { name, secret })

  it.each([0, 1, rowsAtOnce - 1, rowsAtOnce, rowsAtOnce + 1, 2 * rowsAtOnce, 2 * rowsAtOnce + 1])(
    'answers %s rows in their order, also to two that ask at once',
    async (last) => {
      const answers = await test.db.longRead((state) =>
        Promise.all([
          state.all(numbers, { first: 1, last }),
          state.all(numbers, { first: 1, last: 2 }),
          state.get(numbers, { first: last, last }),
        ]),
      )
      expect(answers).toEqual([rowsTo(last), rowsTo(2), rowOf(last)])
    },
  )

  it('lets others go on behind every so many rows', async () => {
    const turns = countTurns()
    await test.db.longRead((state) => state.all(numbers, { first: 1, last: 4 * rowsAtOnce }))
    turns.stop()
    expect(turns.count).toBeGreaterThanOrEqual(4)
  })

  it.skipIf(backend === 'in-memory')(
    '[H-ACC-8] [O-DOC-1] shows one state, while others write and are not kept waiting',
    async () => {
      const seen = await test.db.longRead(async (state) => {
        const before = await state.all(names, {})
        await put('b')
        await test.db.transaction((tx) => tx.run(insert, { name: 'c', secret }))
        return [before, await state.all(names, {})]
      })
      expect(seen).toEqual([[{ name: 'a' }], [{ name: 'a' }]])
      const later = await test.db.longRead((state) => state.all(names, {}))
      expect(later).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
    },
  )

  it.runIf(backend === 'in-memory')(
    '[H-ACC-8] shows one state in memory, where all others wait for its end',
    async () => {
      const ended: string[] = []
      const end = (name: string) => () => void ended.push(name)
      const begun = Promise.withResolvers<void>()
      const read = test.db.longRead(async (state) => {
        const before = await state.all(names, {})
        await state.all(numbers, { first: 1, last: rowsAtOnce })
        begun.resolve()
        await state.all(numbers, { first: 1, last: 2 * rowsAtOnce })
        const after = await state.all(names, {})
        return { before, after, endedMeanwhile: [...ended] }
      })
      await begun.promise
      const others = [
        put('b').then(end('write')),
        test.db.transaction((tx) => tx.run(insert, { name: 'c', secret })).then(end('transaction')),
        test.db.all(names, {}).then(end('read')),
      ]
      const state = [{ name: 'a' }]
      expect(await read).toEqual({ before: state, after: state, endedMeanwhile: [] })
      await Promise.all(others)
      expect(ended).toHaveLength(3)
    },
  )

  it.runIf(backend === 'postgres')('fetches its rows from a cursor', async () => {
    const open = await test.db.longRead(async (state) => {
      await state.all(names, {})
      return state.get(openCursors, {})
    })
    expect(open).toEqual({ cursors: 1 })
  })

  it('[O-DOC-1] changes nothing', async () => {
    const change = test.db.longRead((state) => state.run(insert, { name: 'c', secret }))
    await expect(change).rejects.toThrow()
    expect(await test.db.all(names, {})).toEqual([{ name: 'a' }])
  })

  it('passes on what fails in it, and leaves nothing behind', async () => {
    await expect(test.db.longRead((state) => state.all(broken, {}))).rejects.toThrow('missing')
    const failing = test.db.longRead(async () => {
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    await put('b')
    expect(await test.db.longRead((state) => state.all(names, {}))).toHaveLength(2)
  })

  it('refuses what is asked, or still read, after its end', async () => {
    let late: Queries | undefined
    let left: Promise<unknown> | undefined
    await test.db.longRead(async (state) => {
      late = state
      left = state.all(numbers, { first: 1, last: 10 * rowsAtOnce })
      left.catch(() => {})
      await state.get(numbers, { first: 1, last: 1 })
      left = state.all(numbers, { first: 1, last: 10 * rowsAtOnce })
      left.catch(() => {})
    })
    await expect(left).rejects.toThrow('has ended')
    await expect(late?.all(names, {})).rejects.toThrow('has ended')
    expect(await test.db.all(names, {})).toHaveLength(1)
  })

  it.runIf(backend === 'sqlite')(
    'leaves no statement behind that holds on to its state',
    async () => {
      // As many as there may be at a time, so that those behind them take over their connections.
      const left = Array.from({ length: 4 }, () =>
        test.db.longRead(async (state) => {
          state.all(repeated, { last: 1000 * rowsAtOnce }).catch(() => {})
          await state.get(names, {}).catch(() => {})
        }),
      )
      await Promise.all(left)
      await put('b')
      const later = left.map(() => test.db.longRead((state) => state.all(names, {})))
      for (const rows of await Promise.all(later)) expect(rows).toContainEqual({ name: 'b' })
    },
  )

  it.skipIf(backend === 'in-memory')('lets a short one overtake', async () => {
    const ended: string[] = []
    const read = async (name: string, last: number) => {
      await test.db.longRead((state) => state.all(numbers, { first: 1, last }))
      ended.push(name)
    }
    const last = 100 * rowsAtOnce
    await Promise.all([read('long', last), read('long', last), read('short', 3)])
    expect(ended).toEqual(['short', 'long', 'long'])
  })

  it.runIf(backend === 'in-memory')('lets others go on between two in memory', async () => {
    const ended: string[] = []
    const reads = ['first', 'second', 'third'].map(async (name) => {
      await test.db.longRead((state) => state.all(numbers, { first: 1, last: 4 * rowsAtOnce }))
      ended.push(name)
    })
    await put('b')
    ended.push('write')
    await Promise.all(reads)
    expect(ended.indexOf('write')).toBeLessThan(2)
  })

  it.runIf(backend === 'postgres')('is run again when its connection dies at its end', async () => {
    let runs = 0
    const seen = await test.db.longRead(async (state) => {
      runs += 1
      const { pid } = (await state.get(ownPid, {})) ?? { pid: 0 }
      if (runs === 1) await test.db.get(terminate, { pid })
      return runs
    })
    expect(seen).toBe(2)
  })

  it.runIf(backend === 'postgres')('leaves others a connection, however many ask', async () => {
    await opened({ max_connections: 10, acquire_timeout_ms: 1000 })
    const gate = Promise.withResolvers<void>()
    let reading = 0
    const reads = Array.from({ length: 12 }, () =>
      test.db.longRead(async (state) => {
        await state.all(numbers, { first: 1, last: rowsAtOnce })
        reading += 1
        await gate.promise
      }),
    )
    const outcome = Promise.all(reads)
    while (reading < 4) await new Promise((resolve) => setTimeout(resolve, 5))
    await Promise.all(['b', 'c', 'd'].map(put))
    expect(await test.db.all(names, {})).toHaveLength(3)
    expect(reading).toBe(4)
    gate.resolve()
    await outcome
    expect(reading).toBe(12)
  })

  it.runIf(backend === 'postgres')(
    'keeps nobody waiting for it when the database closes',
    async () => {
      await opened({ max_connections: 1 })
      const begun = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      const read = test.db.longRead(async () => {
        begun.resolve()
        await gate.promise
      })
      await begun.promise
      const waiting = expect(put('b')).rejects.toThrow('the database is closed')
      await test.db.close()
      await waiting
      gate.resolve()
      await read
    },
  )

  it('ends when the database closes, which refuses those behind it and later ones', async () => {
    const { db } = await opened({ max_connections: 1 })
    const begun = Promise.withResolvers<void>()
    const long = { first: 1, last: 100 * rowsAtOnce }
    const read = db.longRead(async (state) => {
      await state.all(numbers, { first: 1, last: rowsAtOnce })
      begun.resolve()
      return state.all(numbers, long)
    })
    const behind = db.longRead((state) => state.all(numbers, long))
    const outcomes = Promise.allSettled([read, behind])
    await begun.promise
    await db.close()
    // PostgreSQL answers what it was asked; the others end at the rows that they have.
    const refused = {
      status: 'rejected',
      reason: new DatabaseUnavailable('the database is closed'),
    }
    const [ended, turnedAway] = await outcomes
    expect(turnedAway).toEqual(refused)
    if (backend === 'postgres') expect(ended).toMatchObject({ status: 'fulfilled' })
    else expect(ended).toEqual(refused)
    // The last connection to close moves the log into the file.
    expect(existsSync(`${test.url.slice('sqlite:'.length)}-wal`)).toBe(false)
    await expect(db.longRead((state) => state.all(names, {}))).rejects.toBeInstanceOf(
      DatabaseUnavailable,
    )
  })

  async function opened(config: { max_connections: number; acquire_timeout_ms?: number }) {
    await test.dispose()
    test = await open({ config })
    return test
  }
})
