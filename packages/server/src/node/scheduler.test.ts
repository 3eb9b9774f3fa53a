import { Health, Readiness, Status } from '@guildhall/contract'
import { afterEach, describe, expect, it } from 'vitest'
import { databaseNow } from '../database/reads/stored-time.ts'
import { statement } from '../database/statement.ts'
import { type TestDatabase, testBackends } from '../database/testing/backends.ts'
import { addBoards, cursorsOf, epochsOf } from '../features/leaderboards/resets/resets.fixture.ts'
import { createFakeClock } from '../kernel/clock.fake.ts'
import { createRecordedLog } from '../kernel/log/log.fake.ts'
import { createSupervisor } from '../kernel/tasks/supervisor.ts'
import { createCaller, openTestApi } from '../testing/api.ts'
import { type NodeProcess, spawnNodeProcess, startNodeProcess } from '../testing/node-process.ts'

const minute = 60_000
const day = 24 * 60 * minute
const midnight = '0 0 * * *'
const execute = { 'leaderboards.execute_reset_schedules': 'true' }
/** The shortest that may be configured: a killed holder keeps its leases for so long. */
const shortLease = { 'scheduler.lease_ttl_ms': '3000', 'scheduler.interval_ms': '100' }

const opened: TestDatabase[] = []
const nodes: NodeProcess[] = []

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.kill()
  for (const test of opened.splice(0)) await test.dispose()
})

async function open(name: TestDatabase['db']['backend'], clock = createFakeClock()) {
  const backend = testBackends.find((it) => it.name === name)
  if (backend === undefined) throw new Error(`there is no backend ${name}`)
  const test = await backend.open(name === 'in-memory' ? { clock } : {})
  opened.push(test)
  return test
}

async function start(test: TestDatabase, keys: Record<string, string>): Promise<NodeProcess> {
  const node = await startNodeProcess({ 'database.url': test.url, ...keys })
  nodes.push(node)
  return node
}

async function statusOf({ url }: NodeProcess): Promise<Status> {
  return Status().parse((await createCaller(url)('GET', '/status')).body)
}

/** Boards that were due at midnight for the last time, and this many days before for the first. */
async function addDueBoards(test: TestDatabase, count: number, days = 0): Promise<number> {
  const today = Math.floor((await databaseNow(test.db)) / day) * day
  const boards = Array.from({ length: count }, (_, index) => ({
    id: `b-${index}`,
    reset_schedule: midnight,
    cursor: today - days * day,
  }))
  await addBoards(test.db, boards)
  return today
}

describe('the task that executes schedules', () => {
  async function setUp(keys: Record<string, string>) {
    const clock = createFakeClock()
    const { db } = await open('in-memory', clock)
    const log = createRecordedLog()
    const api = await openTestApi({ db, clock, config: { ...execute, ...keys } })
    const { leaderboards } = api.features
    const supervisor = createSupervisor({ clock, log, journal: { record: () => '' } })
    await api.close()
    return {
      clock,
      db,
      supervisor,
      async catchUp() {
        await leaderboards.catchUp?.(new AbortController().signal)
      },
      start() {
        for (const task of leaderboards.tasks ?? []) {
          task.started?.(supervisor.every(task.name, task.intervalMs, task.run))
        }
      },
      status: leaderboards.schedules,
    }
  }

  it('[O-SCH-3] [O-SCH-10] wakes for the boundary, however long it may sleep', async () => {
    const { clock, db, supervisor, catchUp, start, status } = await setUp({
      'scheduler.interval_ms': '60000',
      'scheduler.lease_ttl_ms': '600000',
    })
    await clock.advance(20_000)
    const due = clock.nowUnixMs() + 40_000
    await addBoards(db, [{ id: 'b', reset_schedule: '* * * * *', cursor: null }])
    await catchUp()
    expect(status()).toEqual({
      leader: true,
      boards_scheduled: 1,
      boards_failing: 0,
      next_due_at_unix_ms: due,
    })
    start()
    await clock.advance(39_999)
    expect(await epochsOf(db)).toEqual([])
    await clock.advance(1)
    const first = { board_id: 'b', due_at_unix_ms: due, occurrences: 1 }
    expect(await epochsOf(db)).toEqual([first])
    await clock.advance(2 * minute)
    expect(await epochsOf(db)).toEqual([
      first,
      { ...first, due_at_unix_ms: due + minute },
      { ...first, due_at_unix_ms: due + 2 * minute },
    ])
    expect(status().next_due_at_unix_ms).toBe(due + 3 * minute)
    await supervisor.stop(1000)
    await clock.advance(10 * minute)
    expect(await epochsOf(db)).toHaveLength(3)
  })

  it('[O-SCH-1] never takes the lease where it is switched off, and still shows what is due', async () => {
    const { clock, db, supervisor, catchUp, start, status } = await setUp({
      'scheduler.enabled': 'false',
    })
    await addBoards(db, [{ id: 'b', reset_schedule: '* * * * *', cursor: clock.nowUnixMs() }])
    await catchUp()
    start()
    await clock.advance(3 * minute)
    expect(await epochsOf(db)).toEqual([])
    expect(status()).toMatchObject({ leader: false, boards_scheduled: 1 })
    await supervisor.stop(1000)
  })
})

describe('a node with schedules', () => {
  it('[O-STA-2] [O-SCH-5] [O-HLT-5] has caught up when it lets the first request in', async () => {
    const test = await open('sqlite')
    const today = await addDueBoards(test, 150, 90)
    await test.db.close()
    const node = await start(test, execute)
    const { scheduler, tasks } = await statusOf(node)
    expect(scheduler).toEqual({
      leader: true,
      boards_scheduled: 150,
      boards_failing: 0,
      next_due_at_unix_ms: today + day,
    })
    expect(tasks.map(({ name }) => name)).toContain('scheduler')
    expect(await node.stop()).toBe(0)
    const epochs = await epochsOf(await test.reopen())
    expect(epochs).toHaveLength(150)
    expect(new Set(epochs.map(({ occurrences }) => occurrences))).toEqual(new Set([91]))
  })

  it('[O-SCH-3] [H-LDB-6] clears the cursors when the switch is off', async () => {
    const test = await open('sqlite')
    await addDueBoards(test, 3)
    await test.db.close()
    const node = await start(test, {})
    const idle = { boards_scheduled: 0, boards_failing: 0, next_due_at_unix_ms: null }
    expect((await statusOf(node)).scheduler).toEqual({ leader: true, ...idle })
    expect(await node.stop()).toBe(0)
    const db = await test.reopen()
    expect([await epochsOf(db), Object.values(await cursorsOf(db))]).toEqual([
      [],
      [null, null, null],
    ])
  })

  it('[O-SCH-7] [O-HLT-3] [O-HLT-4] shows a board that fails, and serves', async () => {
    const test = await open('sqlite')
    await addDueBoards(test, 3)
    await test.db.schema.transaction((tx) =>
      tx.ddl(`CREATE TRIGGER bad BEFORE UPDATE ON leaderboard_periods WHEN OLD.board_id = 'b-1'
        BEGIN SELECT RAISE(ABORT, 'no such luck'); END`),
    )
    await test.db.close()
    const node = await start(test, execute)
    const call = createCaller(node.url)
    expect((await statusOf(node)).scheduler).toMatchObject({ boards_failing: 1 })
    expect(Health().parse((await call('GET', '/health')).body).status).toBe('degraded')
    const ready = await call('GET', '/health/ready')
    expect(ready.status).toBe(200)
    const tasks = Readiness()
      .parse(ready.body)
      .checks.find(({ name }) => name === 'tasks')
    expect(tasks).toEqual({ name: 'tasks', ok: true, failing: ['scheduler'] })
    await node.stop()
    const db = await test.reopen()
    expect((await epochsOf(db)).map(({ board_id }) => board_id)).toEqual(['b-0', 'b-2'])
    await db.schema.transaction((tx) => tx.ddl('DROP TRIGGER bad'))
    await db.close()
    const healed = await start(test, execute)
    expect((await statusOf(healed)).scheduler).toMatchObject({ boards_failing: 0 })
    const health = await createCaller(healed.url)('GET', '/health')
    expect(Health().parse(health.body).status).toBe('healthy')
    await healed.stop()
    expect(await epochsOf(await test.reopen())).toHaveLength(3)
  })
})

const boards = 500

async function expectOnce(test: TestDatabase, today: number): Promise<void> {
  const db = await test.reopen()
  const epochs = await epochsOf(db)
  expect(epochs).toHaveLength(boards)
  for (const epoch of epochs) {
    expect(epoch).toMatchObject({ due_at_unix_ms: today, occurrences: 3 })
  }
  expect(await db.all(resetEvents, {})).toEqual([{ events: boards }])
}

async function isDone(node: NodeProcess, today: number): Promise<boolean> {
  return (await statusOf(node)).scheduler.next_due_at_unix_ms === today + day
}

it.each(['sqlite', 'postgres'] as const)(
  '[O-SCH-3] [O-SCH-4] nodes that are killed in the middle reset every board once on %s',
  async (name) => {
    const test = await open(name)
    const today = await addDueBoards(test, boards, 2)
    await test.db.close()
    const keys = { 'database.url': test.url, ...execute, ...shortLease }
    // The node_id of a killed process is free at once on a file, and after a while on a server.
    const nodeId = (round: number) => (name === 'sqlite' ? 'node' : `node-${round}`)
    let killed = 0
    for (let round = 0; round < 2; round += 1) {
      const starting = spawnNodeProcess({ ...keys, 'server.node_id': nodeId(round) })
      starting.ready.catch(() => undefined)
      const resets = () => starting.output().split('reset a board').length - 1
      await expect.poll(resets, { interval: 1 }).toBeGreaterThan(10)
      await starting.kill()
      killed += resets()
    }
    expect(killed).toBeLessThan(boards)
    const last = await start(test, { ...execute, ...shortLease, 'server.node_id': nodeId(2) })
    await expect.poll(() => isDone(last, today)).toBe(true)
    expect(await last.stop()).toBe(0)
    await expectOnce(test, today)
  },
)

it('[O-SCH-1] [O-SCH-3] nodes that race on one server reset every board once', async () => {
  const test = await open('postgres')
  const today = await addDueBoards(test, boards, 2)
  await test.db.close()
  const racing = ['a', 'b', 'c'].map((id) =>
    start(test, { ...execute, ...shortLease, 'server.node_id': id }),
  )
  const started = await Promise.all(racing)
  for (const node of started) {
    await expect.poll(() => isDone(node, today)).toBe(true)
  }
  const leaders = await Promise.all(
    started.map(async (node) => (await statusOf(node)).scheduler.leader),
  )
  expect(leaders.filter(Boolean)).toHaveLength(1)
  for (const node of started) expect(await node.stop()).toBe(0)
  await expectOnce(test, today)
})

const resetEvents = statement({
  name: 'scheduler-test.reset-events',
  text: `SELECT COUNT(*) AS events FROM outbox WHERE kind = 'on_leaderboard_reset'`,
  row: { events: 'integer' },
})
