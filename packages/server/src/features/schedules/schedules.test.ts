import { parseCron } from '@guildhall/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { databaseNow } from '../../database/reads/stored-time.ts'
import { statement } from '../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { createOutbox } from '../outbox/outbox.service.ts'
import { createSchedules, type SchedulesDeps } from './schedules.jobs.ts'
import { schedulesStore } from './schedules.store.ts'

const hour = 3_600_000
const day = 24 * hour
const minute = 60_000
const hourly = '0 * * * *'

const setTimes = statement({
  name: 'schedules-test.set-times',
  text: `UPDATE script_schedules SET next_due_at_unix_ms = :due, seen_at_unix_ms = :seen
    WHERE name = :name`,
  params: { name: 'text', due: 'integer', seen: 'integer' },
})
const events = statement({
  name: 'schedules-test.events',
  text: "SELECT payload FROM outbox WHERE kind = 'schedule' ORDER BY id",
  row: { payload: 'text' },
})

const run = { signal: new AbortController().signal, progress() {} }

describe.each(testBackends)('schedules of scripts on $name', (backend) => {
  let test: TestDatabase
  const clock = createFakeClock()
  const log = createRecordedLog()
  beforeEach(async () => {
    test = await backend.open()
  })
  afterEach(() => test.dispose())

  function openNode(options: Partial<SchedulesDeps> = {}) {
    const { db } = test
    const leave = createOutbox({ db, clock, log }).add
    const own = { db, clock, log, intervalMs: 1000, mayRun: true, onHold: () => false, leave }
    const schedules = createSchedules({ ...own, ...options })
    return { ...schedules, run: () => Promise.resolve(schedules.task.run(run as never)) }
  }
  async function open(names: Record<string, string>, options?: Partial<SchedulesDeps>) {
    const node = openNode(options)
    node.serve(Object.entries(names).map(([name, cron]) => ({ name, cron })))
    await node.run()
    return node
  }
  const rowOf = async (name: string) =>
    (await schedulesStore.all(test.db)).find((row) => row.name === name)
  const set = async (name: string, { due = day, seen = 0 }: { due?: number; seen?: number }) => {
    const now = await databaseNow(test.db)
    await test.db.run(setTimes, { name, due: now + due, seen: now - seen })
  }
  const left = async (): Promise<Record<string, unknown>[]> =>
    (await test.db.all(events, {})).map(({ payload }) => JSON.parse(payload))

  it('[S-API-35] are due for the first time after they were first registered', async () => {
    const before = await databaseNow(test.db)
    await open({ cup: hourly })
    const next = parseCron(hourly)?.next(before)
    expect((await rowOf('cup'))?.next_due_at_unix_ms).toBe(next)
    expect(await left()).toEqual([])
    // The same script on another node, or again after a restart, changes nothing about that.
    await set('cup', { due: 5 * day })
    const due = (await rowOf('cup'))?.next_due_at_unix_ms
    await open({ cup: hourly })
    expect((await rowOf('cup'))?.next_due_at_unix_ms).toBe(due)
    // Another expression does.
    await open({ cup: '30 * * * *' })
    const row = await rowOf('cup')
    expect(row?.cron).toBe('30 * * * *')
    expect(row?.next_due_at_unix_ms).toBeLessThan(before + 2 * hour)
  })

  it('[S-API-35] have one event for each due time, however many nodes find it', async () => {
    const nodes = await Promise.all([1, 2, 3, 4].map(() => open({ cup: hourly })))
    for (let round = 1; round <= 5; round += 1) {
      await set('cup', { due: -hour })
      await Promise.all(nodes.map((node) => node.run()))
      const found = await left()
      expect(found).toHaveLength(round)
    }
    const tokens = (await left()).map(({ fencing_token }) => Number(fencing_token))
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
  })

  it('[S-API-35] run once after a standstill, for the last due time', async () => {
    const node = await open({ cup: hourly })
    await set('cup', { due: -3 * day })
    await node.run()
    const now = await databaseNow(test.db)
    const newest = parseCron(hourly)?.between(now - day, now)?.newest
    expect(await left()).toEqual([
      { name: 'cup', due_at_unix_ms: newest, fencing_token: expect.any(Number) },
    ])
    expect((await rowOf('cup'))?.next_due_at_unix_ms).toBeGreaterThan(now)
    await node.run()
    expect(await left()).toHaveLength(1)
  })

  it('[S-API-35] go on where a cursor is no time of the expression', async () => {
    const node = await open({ cup: '0 0 1 1 *' })
    await set('cup', { due: -1 })
    await node.run()
    expect(await left()).toEqual([])
    expect((await rowOf('cup'))?.next_due_at_unix_ms).toBeGreaterThan(await databaseNow(test.db))
  })

  it('[S-API-35] are not run by who may not, has them not, or serves no script', async () => {
    const idle = await open({ cup: hourly }, { mayRun: false })
    const held = openNode({ onHold: () => true })
    held.serve([{ name: 'cup', cron: hourly }])
    const other = await open({ other: hourly })
    const gone = await open({ cup: hourly })
    gone.serve(undefined)
    await set('cup', { due: -hour })
    for (const node of [idle, held, other, gone]) await node.run()
    expect(await left()).toEqual([])
    gone.serve([{ name: 'cup', cron: hourly }])
    await gone.run()
    expect(await left()).toMatchObject([{ name: 'cup' }])
  })

  it('[S-API-35] of which one fails are run all the same', async () => {
    const failing = new Error('on purpose')
    const { add } = createOutbox({ db: test.db, clock, log })
    const node = await open(
      { bad: hourly, good: hourly },
      {
        async leave(tx, given) {
          if (given.some(({ payload }) => payload.includes('bad'))) throw failing
          await add(tx, given)
        },
      },
    )
    await set('bad', { due: -2 * hour })
    await set('good', { due: -hour })
    await node.run()
    expect(await left()).toMatchObject([{ name: 'good' }])
    expect((await rowOf('bad'))?.next_due_at_unix_ms).toBeLessThan(await databaseNow(test.db))
  })

  it('[S-API-35] that no script has any more are forgotten, and nothing is left of them', async () => {
    const node = await open({ kept: hourly, gone: hourly })
    await set('gone', { due: -hour })
    await node.run()
    const [event] = await left()
    expect(await node.isOver(JSON.stringify(event))).toBe(false)
    node.serve([{ name: 'kept', cron: hourly }])
    await node.run()
    await set('gone', { seen: hour })
    await set('kept', { seen: hour })
    // Another node may have them, and was as busy with a lost database.
    for (let minutes = 0; minutes < 9; minutes += 1) {
      await clock.advance(minute)
      await node.run()
    }
    expect(await rowOf('gone')).toBeDefined()
    await clock.advance(minute)
    await node.run()
    expect([await rowOf('gone'), (await rowOf('kept'))?.name]).toEqual([undefined, 'kept'])
    expect(await node.isOver(JSON.stringify(event))).toBe(true)
  })

  it('[S-API-35] of another node are kept while it has them', async () => {
    const node = await open({ own: hourly })
    const other = await open({ other: hourly })
    for (let minutes = 0; minutes < 20; minutes += 1) {
      await set('other', { seen: hour })
      await clock.advance(minute)
      await other.run()
      await node.run()
    }
    expect((await rowOf('other'))?.name).toBe('other')
  })
})
