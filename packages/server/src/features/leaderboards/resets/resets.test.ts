import { parseCron } from '@guildhall/contract'
import { afterEach, describe, expect, it } from 'vitest'
import { databaseNow } from '../../../database/reads/stored-time.ts'
import { statement } from '../../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../../database/testing/backends.ts'
import { createFakeClock, type FakeClock } from '../../../kernel/clock.fake.ts'
import { addBoards, cursorsOf, epochsOf, openResetNode, type TestBoard } from './resets.fixture.ts'

const opened: TestDatabase[] = []

afterEach(async () => {
  for (const test of opened.splice(0)) await test.dispose()
})

const minute = 60_000
const day = 24 * 60 * minute
const midnight = '0 0 * * *'
const cronOf = (text: string) => {
  const cron = parseCron(text)
  if (cron === undefined) throw new Error(`not a schedule: ${text}`)
  return cron
}
/** The last midnight that had passed, `days` before `nowUnixMs`. */
const midnightBefore = (nowUnixMs: number, days = 0) => (Math.floor(nowUnixMs / day) - days) * day
const board = (id: string, cursor: number | null, reset_schedule: string | null = midnight) => ({
  id,
  reset_schedule,
  cursor,
})

describe.each(testBackends)('resets on $name', ({ open }) => {
  async function setUp(boards: (nowUnixMs: number) => readonly TestBoard[]) {
    const clock: FakeClock = createFakeClock()
    // Not on a minute, so that what is due and what is not does not hang on a millisecond.
    clock.setWall(clock.nowUnixMs() + 12 * 60 * minute + 30_000)
    const test = await open({ clock })
    opened.push(test)
    const nowUnixMs = await databaseNow(test.db)
    await addBoards(test.db, boards(nowUnixMs))
    return { db: test.db, clock, nowUnixMs, today: midnightBefore(nowUnixMs) }
  }

  it('[O-SCH-4] [O-SCH-5] resets a board once, however long everybody was away', async () => {
    const { db, clock, today } = await setUp((now) => [
      board('months', midnightBefore(now, 100)),
      board('today', midnightBefore(now)),
      board('tomorrow', midnightBefore(now, -1)),
      board('never', null, null),
    ])
    const node = openResetNode({ db, clock })
    await node.run()
    const expected = [
      { board_id: 'months', due_at_unix_ms: today, occurrences: 101 },
      { board_id: 'today', due_at_unix_ms: today, occurrences: 1 },
    ]
    expect(await epochsOf(db)).toEqual(expected)
    const tomorrow = today + day
    const after = { months: tomorrow, today: tomorrow, tomorrow, never: null }
    expect(await cursorsOf(db)).toEqual(after)
    await node.run()
    expect(await epochsOf(db)).toEqual(expected)
    expect(await cursorsOf(db)).toEqual(after)
  })

  it('[O-SCH-5] ten years of minutes are one reset', async () => {
    let first = 0
    const { db, clock } = await setUp((now) => {
      first = Math.floor((now - 3650 * day) / minute) * minute
      return [board('b', first, '* * * * *')]
    })
    await openResetNode({ db, clock }).run()
    const [epoch] = await epochsOf(db)
    const due = epoch?.due_at_unix_ms ?? 0
    expect(due - first).toBeGreaterThanOrEqual(3650 * day)
    expect(epoch?.occurrences).toBe((due - first) / minute + 1)
    expect(await cursorsOf(db)).toEqual({ b: due + minute })
  })

  it('[O-SCH-3] [H-LDB-6] sets cursors for the schedules it can use, and clears them when off', async () => {
    const garbage = ['', 'weekly', '0 0 30 2 *', '60 * * * *', '0 0 * *', "'; DROP TABLE x; --"]
    const { db, clock, nowUnixMs, today } = await setUp(() => [
      board('daily', null),
      board('yearly', null, '0 0 1 jan *'),
      board('none', null, null),
      ...garbage.map((text, index) => board(`garbage-${index}`, null, text)),
    ])
    const on = openResetNode({ db, clock })
    await on.resets.prepare()
    const expected: Record<string, number | null> = {
      daily: today + day,
      yearly: cronOf('0 0 1 jan *').next(nowUnixMs) ?? null,
      none: null,
      ...Object.fromEntries(garbage.map((_, index) => [`garbage-${index}`, null])),
    }
    expect(await cursorsOf(db)).toEqual(expected)
    await on.run()
    expect(await epochsOf(db)).toEqual([])
    const off = openResetNode({ db, clock, execute: false })
    await off.resets.prepare()
    expect(Object.values(await cursorsOf(db)).every((cursor) => cursor === null)).toBe(true)
  })

  it('[O-SCH-3] a start leaves the cursors that are there: what fell due stays due', async () => {
    const { db, clock, today } = await setUp((now) => [board('b', midnightBefore(now, 3))])
    const node = openResetNode({ db, clock })
    await node.resets.prepare()
    expect(await cursorsOf(db)).toEqual({ b: today - 3 * day })
  })

  it('[O-SCH-3] sets the cursors of more boards than a page has', async () => {
    const ids = Array.from({ length: 250 }, (_, index) => `b-${index}`)
    const { db, clock } = await setUp(() =>
      ids.map((id, index) => board(id, null, index % 3 === 0 ? 'garbage' : midnight)),
    )
    await openResetNode({ db, clock }).resets.prepare()
    const unset = Object.values(await cursorsOf(db)).filter((cursor) => cursor === null)
    expect(unset).toHaveLength(84)
  })

  it('[H-LDB-6] executes nothing while the switch is off, not even what has a cursor', async () => {
    const { db, clock, today } = await setUp((now) => [board('b', midnightBefore(now))])
    const node = openResetNode({ db, clock, execute: false })
    await node.run()
    expect(await node.resets.resetDue('b')).toBeUndefined()
    expect([await epochsOf(db), await cursorsOf(db)]).toEqual([[], { b: today }])
    expect(node.resets.cursorAfter(midnight, today)).toBeNull()
  })

  it('[O-SCH-8] a cursor whose schedule is none is dropped without a reset', async () => {
    const { db, clock } = await setUp((now) => [
      board('garbage', midnightBefore(now), 'garbage'),
      board('missing', midnightBefore(now), null),
    ])
    const node = openResetNode({ db, clock })
    await node.run()
    expect(await epochsOf(db)).toEqual([])
    expect(await cursorsOf(db)).toEqual({ garbage: null, missing: null })
    expect(node.pass.status().failing).toBe(0)
  })

  it('[O-CLK-2] a time that comes again, because the clock was wrong, is not executed again', async () => {
    const { db, clock, today } = await setUp((now) => [board('b', midnightBefore(now))])
    const node = openResetNode({ db, clock })
    await node.run()
    const epochs = await epochsOf(db)
    await db.run(setCursor, { next_due_at_unix_ms: today - day })
    await node.run()
    expect(await epochsOf(db)).toEqual(epochs)
    expect(await cursorsOf(db)).toEqual({ b: today + day })
    expect(node.pass.status().failing).toBe(0)
  })

  it('[O-CLK-2] takes no cursor from a clock on hold, and sets what is missing after it', async () => {
    const { db, clock, nowUnixMs, today } = await setUp(() => [board('b', null)])
    const node = openResetNode({ db, clock })
    clock.setWall(clock.nowUnixMs() + 400 * day)
    await node.resets.prepare()
    expect(node.resets.cursorAfter(midnight, nowUnixMs + 400 * day)).toBeNull()
    await node.run()
    expect(await cursorsOf(db)).toEqual({ b: null })
    clock.setWall(clock.nowUnixMs() - 400 * day)
    await node.run()
    expect(await cursorsOf(db)).toEqual({ b: null })
    await clock.advance(10 * minute)
    await node.run()
    expect(await cursorsOf(db)).toEqual({ b: today + day })
    // Nothing is missing any more, so nobody looks again.
    await addBoards(db, [board('left', null)])
    await node.run()
    expect((await cursorsOf(db)).left).toBeNull()
  })

  it('[O-SCH-7] resets all that is due in one pass, the oldest first', async () => {
    const order: number[] = []
    const { db, clock, today } = await setUp((now) =>
      Array.from({ length: 230 }, (_, index) =>
        board(`b-${index}`, midnightBefore(now, (index * 7) % 230)),
      ),
    )
    const node = openResetNode({
      db,
      clock,
      periodClosed: async (_tx, epoch) => void order.push(epoch.occurrences),
    })
    await node.run()
    expect(await epochsOf(db)).toHaveLength(230)
    expect(new Set(Object.values(await cursorsOf(db)))).toEqual(new Set([today + day]))
    // Four at a time, so one may pass another by three places.
    order.forEach((occurrences, index) => {
      expect(Math.abs(230 - index - occurrences)).toBeLessThan(4)
    })
  })

  it('[O-SCH-6] a submission executes what is due of its board, once, and nothing else', async () => {
    const { db, clock, today } = await setUp((now) => [
      board('due', midnightBefore(now, 2)),
      board('other', midnightBefore(now)),
      board('later', midnightBefore(now, -1)),
    ])
    const { resets, log } = openResetNode({ db, clock })
    const epoch = { leaderboard_id: 'due', due_at_unix_ms: today, occurrences: 3 }
    expect(await resets.resetDue('due')).toMatchObject({ epoch })
    for (const id of ['due', 'later', 'unknown']) {
      expect(await resets.resetDue(id)).toEqual({ epoch: undefined })
    }
    const lines = log.lines.filter(({ message }) => message === 'reset a board')
    expect(lines.map(({ fields }) => fields)).toMatchObject([epoch])
    expect(await epochsOf(db)).toHaveLength(1)
  })

  it('[O-SCH-4] [O-SCH-7] a board that fails keeps everything, stops no other, and backs off', async () => {
    const { db, clock, today } = await setUp((now) => [
      board('bad', midnightBefore(now, 9)),
      board('good', midnightBefore(now)),
    ])
    let broken = true
    let attempts = 0
    const node = openResetNode({
      db,
      clock,
      async periodClosed(_tx, { leaderboard_id }) {
        if (leaderboard_id !== 'bad') return
        attempts += 1
        if (broken) throw new Error('no such luck')
      },
    })
    await node.run()
    expect(await epochsOf(db)).toMatchObject([{ board_id: 'good' }])
    expect((await cursorsOf(db)).bad).toBe(today - 9 * day)
    expect(node.pass.status()).toMatchObject({ leader: true, boards: 2, failing: 1 })
    // 1 s, then 2, 4 and so on up to 5 min; before that it is left alone.
    for (const delayMs of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((it) => it * 1000)) {
      const before = attempts
      expect(node.pass.dueInMs()).toBeLessThanOrEqual(delayMs)
      await node.clock.advance(delayMs - 1)
      await node.run()
      expect(attempts).toBe(before)
      await node.clock.advance(1)
      await node.run()
      expect(attempts).toBe(before + 1)
    }
    broken = false
    await node.clock.advance(300_000)
    await node.run()
    expect(await epochsOf(db)).toMatchObject([{ board_id: 'bad' }, { board_id: 'good' }])
    expect(node.pass.status()).toMatchObject({ boards: 2, failing: 0 })
    expect(node.log.lines.filter(({ level }) => level === 'error')).toHaveLength(attempts - 1)
  })

  it('[O-SCH-7] forgets a failing board that somebody else has reset', async () => {
    const { db, clock } = await setUp((now) => [board('bad', midnightBefore(now))])
    const node = openResetNode({
      db,
      clock,
      periodClosed: () => Promise.reject(new Error('no such luck')),
    })
    await node.run()
    expect(node.pass.status().failing).toBe(1)
    await openResetNode({ db, clock }).resets.resetDue('bad')
    await node.run()
    expect(node.pass.status().failing).toBe(0)
  })

  it('[O-SCH-2] a holder that was paused, and does not know who holds the lease now, commits nothing', async () => {
    const { db, today } = await setUp((now) => [board('b', midnightBefore(now))])
    const late = openResetNode({ db, clock: createFakeClock(), holder: 'bt1-late' })
    expect(await late.leases.of('boards').keep()).toBe(true)
    await db.run(expireLease, {})
    const next = openResetNode({ db, clock: createFakeClock(), holder: 'bt1-next' })
    expect(await next.leases.of('boards').keep()).toBe(true)
    // It has not noticed yet, and its fence stops it.
    expect(late.leases.of('boards').held()).toBe(true)
    await late.run()
    expect([await epochsOf(db), await cursorsOf(db)]).toEqual([[], { b: today }])
    expect(late.pass.status()).toMatchObject({ leader: false, failing: 0 })
    await next.run()
    expect(await epochsOf(db)).toHaveLength(1)
  })

  it('[O-SCH-1] renews the lease in a pass that takes longer than it lives', async () => {
    const { db, today } = await setUp((now) =>
      Array.from({ length: 20 }, (_, index) => board(`b-${index}`, midnightBefore(now))),
    )
    // Whoever looks at this clock takes a while.
    let lookedMs = 0
    const monotonicMs = () => {
      lookedMs += 200
      return lookedMs
    }
    const node = openResetNode({ db, clock: { ...createFakeClock(), monotonicMs } })
    await node.run()
    expect(lookedMs).toBeGreaterThan(15_000)
    expect(await epochsOf(db)).toHaveLength(20)
    expect(new Set(Object.values(await cursorsOf(db)))).toEqual(new Set([today + day]))
  })

  it('[O-SCH-1] a node without the lease executes nothing', async () => {
    const { db, clock } = await setUp((now) => [board('b', midnightBefore(now))])
    const holder = openResetNode({ db, clock, holder: 'bt1-holder' })
    await holder.leases.of('boards').keep()
    const other = openResetNode({ db, clock, holder: 'bt1-other' })
    await other.run()
    expect(await epochsOf(db)).toEqual([])
    expect(other.pass.status()).toMatchObject({ leader: false, boards: 1 })
  })

  it('[O-SCH-3] [O-SCH-6] nodes and submissions that race reset once', async () => {
    const { db, today } = await setUp((now) =>
      Array.from({ length: 12 }, (_, index) => board(`b-${index}`, midnightBefore(now, index))),
    )
    let closed = 0
    const periodClosed = async () => {
      closed += 1
    }
    const nodes = ['a', 'b', 'c'].map((holder) =>
      openResetNode({ db, clock: createFakeClock(), holder, periodClosed }),
    )
    const ids = Array.from({ length: 12 }, (_, index) => `b-${index}`)
    const submissions = nodes.flatMap(({ resets }) => ids.map((id) => resets.resetDue(id)))
    await Promise.all([...nodes.map((node) => node.run()), ...submissions])
    const found = await epochsOf(db)
    expect(found).toHaveLength(12)
    for (const { board_id, due_at_unix_ms, occurrences } of found) {
      expect(due_at_unix_ms).toBe(today)
      expect(occurrences).toBe(Number(board_id.slice(2)) + 1)
    }
    expect(closed).toBeGreaterThanOrEqual(12)
  })

  it('[O-CLK-2] resets wait after a jump forward, and then happen once', async () => {
    const { db, clock } = await setUp((now) => [board('b', midnightBefore(now))])
    const node = openResetNode({ db, clock })
    clock.setWall(clock.nowUnixMs() + 30 * day)
    await node.run()
    expect(await node.resets.resetDue('b')).toBeUndefined()
    expect([await epochsOf(db), node.pass.dueInMs()]).toEqual([[], undefined])
    await clock.advance(10 * minute)
    await node.run()
    expect(await epochsOf(db)).toHaveLength(1)
  })
})

// Only a server ends statements that take long.
it('[O-SCH-4] resets on postgres what takes longer than a statement may', async () => {
  const backend = testBackends.find(({ name }) => name === 'postgres')
  const test = await backend?.open({ config: { statement_timeout_ms: 250 } })
  if (test === undefined) throw new Error('there is no PostgreSQL')
  opened.push(test)
  const { db } = test
  const node = openResetNode({ db, periodClosed: async (tx) => void (await tx.all(sleepOn, {})) })
  const yesterday = midnightBefore(await databaseNow(db), 1)
  await addBoards(db, [board('passed', yesterday), board('submitted', yesterday)])
  expect(await node.resets.resetDue('submitted')).toMatchObject({ epoch: { occurrences: 2 } })
  await node.run()
  expect((await epochsOf(db)).map(({ board_id }) => board_id)).toEqual(['passed', 'submitted'])
})

const sleepOn = statement({
  name: 'resets-test.sleep-on',
  text: 'SELECT 1 AS one FROM pg_sleep(0.5)',
  row: { one: 'integer' },
})
const setCursor = statement({
  name: 'resets-test.set-cursor',
  text: 'UPDATE leaderboards SET next_due_at_unix_ms = :next_due_at_unix_ms',
  params: { next_due_at_unix_ms: 'integer' },
})
const expireLease = statement({
  name: 'resets-test.expire-lease',
  text: "UPDATE leases SET expires_at_unix_ms = {{now}} WHERE name = 'boards'",
})
