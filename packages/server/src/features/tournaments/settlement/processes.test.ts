import { Health, notificationsApi, Readiness, Status, tournamentsApi } from '@guildhall/contract'
import { afterEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../database/database.ts'
import { batchStatement, statement } from '../../../database/statement.ts'
import { durableBackends, type TestDatabase } from '../../../database/testing/backends.ts'
import { createSystemClock } from '../../../kernel/clock.ts'
import { createCaller } from '../../../testing/api.ts'
import {
  type NodeProcess,
  type StartingNode,
  spawnNodeProcess,
  startNodeProcess,
} from '../../../testing/node-process.ts'
import { type Operator, openOperator } from '../../../testing/operator.ts'
import { rowsOf } from '../../../testing/tables.ts'
import { putBoard } from '../tournaments.fixture.ts'

/** Tournaments that end by their time, and others whose board is due to be reset. */
const ended = Array.from({ length: 60 }, (_, n) => ({ id: `ended ${n}`, board: `b-ended ${n}` }))
const reset = Array.from({ length: 60 }, (_, n) => ({ id: `reset ${n}`, board: `b-reset ${n}` }))
const users = ['u0', 'u1', 'u2', 'u3', 'u4']
const farUnixMs = 4_000_000_000_000
/** As many as the crash tests make, or few. */
const kills = Number(process.env.CRASH_TEST_ROUNDS ?? 3)
const killsMs = 60_000 + kills * 20_000

const insertAccounts = batchStatement({
  name: 'tests.insert-accounts',
  text: `INSERT INTO accounts (id, username, state, created_at_unix_ms, updated_at_unix_ms)
    SELECT r.id, r.id, 'active', 0, 0 FROM {{rows}} AS r`,
  params: { id: 'text' },
})
const insertRunning = batchStatement({
  name: 'tests.insert-running',
  text: `INSERT INTO tournaments (id, leaderboard_id, state, registration_opens_at_unix_ms,
      registration_closes_at_unix_ms, starts_at_unix_ms, ends_at_unix_ms, created_at_unix_ms,
      updated_at_unix_ms)
    SELECT r.id, r.board, 'running', 0, 0, 0, r.ends_at_unix_ms, 0, 0 FROM {{rows}} AS r`,
  params: { id: 'text', board: 'text', ends_at_unix_ms: 'integer' },
})
const insertEntries = batchStatement({
  name: 'tests.insert-entries',
  text: `INSERT INTO tournament_entries (tournament_id, user_id, registered_at_unix_ms)
    SELECT r.tournament_id, r.user_id, 0 FROM {{rows}} AS r`,
  params: { tournament_id: 'text', user_id: 'text' },
})
/** Due some minutes ago, and next in the far future of a year. */
const schedule = statement({
  name: 'tests.schedule-boards',
  text: `UPDATE leaderboards
    SET reset_schedule = '0 0 1 1 *', next_due_at_unix_ms = 1735689600000
    WHERE id LIKE 'b-reset %'`,
})
/** A result that stands where the settlement wants to write one. */
const inTheWay = statement({
  name: 'tests.one-result-in-the-way',
  text: `INSERT INTO tournament_results (tournament_id, rank, user_id, score, subscore)
    VALUES ('ended 7', 1, 'in the way', 0, 0)`,
})
const freeLeases = statement({
  name: 'tests.free-leases',
  text: 'UPDATE leases SET expires_at_unix_ms = 0',
})
const olderClaims = statement({
  name: 'tests.older-claims',
  text: 'UPDATE outbox SET available_at_unix_ms = 0',
})

async function prepare(db: Database): Promise<void> {
  await db.each(
    insertAccounts,
    users.map((id) => ({ id })),
  )
  for (const { board } of [...ended, ...reset]) {
    const scores = users.map((user, index) => [user, BigInt(index)] as const)
    await putBoard(db, { id: board, sort: 'desc', scores })
  }
  await db.each(insertRunning, [
    ...ended.map((it) => ({ ...it, ends_at_unix_ms: 1 })),
    ...reset.map((it) => ({ ...it, ends_at_unix_ms: farUnixMs })),
  ])
  await db.each(
    insertEntries,
    [...ended, ...reset].flatMap(({ id }) =>
      users.map((user_id) => ({ tournament_id: id, user_id })),
    ),
  )
  await db.run(schedule, {})
}

const keysOf = (url: string, nodeId: string) => ({
  'database.url': url,
  'server.node_id': nodeId,
  'leaderboards.execute_reset_schedules': 'true',
})

/** Waits until everything is settled and everybody was notified, or the test's time is over. */
async function untilDone(node: Pick<NodeProcess, 'url'>): Promise<void> {
  const operator: Operator = await openOperator({ call: createCaller(node.url) })
  for (;;) {
    const list = await operator.send('GET', '/tournaments')
    const { items } = tournamentsApi.list.ok.parse(list.body)
    const seen = await operator.send('GET', '/notifications?limit=1')
    const { total } = notificationsApi.list.ok.parse(seen.body)
    const isSettled = items.every(({ state }) => state === 'completed')
    if (isSettled && total >= items.length * users.length) return
    await createSystemClock().sleep(50)
  }
}

async function expectOnce(db: Database): Promise<void> {
  for (const { id } of [...ended, ...reset]) {
    const results = await rowsOf(db, 'tournament_results', `tournament_id = '${id}'`)
    const ranked = results.map(({ user_id, rank, score }) => [user_id, rank, score])
    const expected = [...users].reverse().map((user, index) => [user, index + 1, 4 - index])
    expect([id, ranked.sort(byRank).map(String)]).toEqual([id, expected.map(String)])
  }
  expect(await rowsOf(db, 'tournament_snapshots')).toEqual([])
  const notices = await rowsOf(db, 'notifications')
  const seen = notices.map(({ user_id, content }) => {
    return `${JSON.parse(String(content)).tournament_id} ${user_id}`
  })
  const all = [...ended, ...reset]
  expect(seen.sort()).toEqual(all.flatMap(({ id }) => users.map((user) => `${id} ${user}`)).sort())
  const hooks = (await rowsOf(db, 'outbox')).filter(({ kind }) => String(kind).startsWith('on_'))
  const count = (kind: string) => hooks.filter((row) => row.kind === kind).length
  expect(count('on_tournament_completed')).toBe(all.length)
  expect(count('on_leaderboard_reset')).toBe(reset.length)
  const epochs = await rowsOf(db, 'leaderboard_periods', 'due_at_unix_ms IS NOT NULL')
  expect(epochs.map(({ board_id }) => board_id).sort()).toEqual(
    reset.map(({ board }) => board).sort(),
  )
}

function byRank([, left]: readonly unknown[], [, right]: readonly unknown[]): number {
  return Number(left) - Number(right)
}

describe.each(durableBackends)('nodes that settle on $name', ({ name, open }) => {
  let test: TestDatabase
  const running: { kill(): Promise<unknown> }[] = []
  afterEach(async () => {
    await Promise.all(running.splice(0).map((node) => node.kill()))
    await test.dispose()
  })

  /** Looks into the store while no node serves it. */
  async function between<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const db = await test.reopen()
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  }

  it(
    '[O-TRN-5] [O-SCH-4] a kill at any moment of settlements and resets leaves each done once',
    async () => {
      test = await open()
      await prepare(test.db)
      await test.db.close()
      const url = test.url
      for (let round = 0; round < kills; round += 1) {
        const node: StartingNode = spawnNodeProcess(keysOf(url, `killed-${round}`))
        running.push(node)
        node.ready.catch(() => {})
        await node.speaks
        // From the catch-up before it is ready until deep into the settlement.
        await createSystemClock().sleep((Math.random() * 720 * (round + 1)) / kills)
        await node.kill()
        await between(async (db) => {
          await db.run(freeLeases, {})
          await db.run(olderClaims, {})
        })
      }
      const node = await startNodeProcess(keysOf(url, 'survivor'))
      running.push(node)
      await untilDone(node)
      expect(await node.stop()).toBe(0)
      await between(expectOnce)
    },
    killsMs,
  )

  it.runIf(name === 'sqlite')(
    '[O-SCH-1] a node whose scheduler is off settles nothing, and delivers all the same',
    async () => {
      test = await open()
      await prepare(test.db)
      await test.db.close()
      const keys = { ...keysOf(test.url, 'idle'), 'scheduler.enabled': 'false' }
      const node = await startNodeProcess(keys)
      running.push(node)
      const call = createCaller(node.url)
      const { tasks } = Status().parse((await call('GET', '/status')).body)
      const names = tasks.map((task) => task.name)
      expect([names.includes('settlement'), names.includes('outbox')]).toEqual([false, true])
      expect(await node.stop()).toBe(0)
      await between(async (db) => {
        const states = (await rowsOf(db, 'tournaments')).map(({ state }) => state)
        expect(new Set(states)).toEqual(new Set(['running']))
      })
    },
  )

  // What a node says of its tasks is the same beside any database.
  it.runIf(name === 'sqlite')(
    '[O-HLT-3] [O-HLT-5] [O-SCH-7] one that cannot be settled shows, and the others are',
    async () => {
      test = await open()
      await prepare(test.db)
      await test.db.run(inTheWay, {})
      await test.db.close()
      const node = await startNodeProcess(keysOf(test.url, 'shows'))
      running.push(node)
      const call = createCaller(node.url)
      const operator = await openOperator({ call })
      for (let left = 2; left !== 1; ) {
        await createSystemClock().sleep(50)
        const { body } = await operator.send('GET', '/tournaments')
        const { items } = tournamentsApi.list.ok.parse(body)
        left = items.filter(({ state }) => state !== 'completed').length
      }
      const ready = await call('GET', '/health/ready')
      expect(ready.status).toBe(200)
      expect(ready.text).toContain('"failing":["settlement"]')
      Readiness().parse(ready.body)
      const health = Health().parse((await call('GET', '/health')).body)
      expect(health.status).toBe('degraded')
      const status = Status().parse((await call('GET', '/status')).body)
      const settlement = status.tasks.find((task) => task.name === 'settlement')
      expect(settlement).toMatchObject({ state: 'backing_off' })
      expect(settlement?.restarts).toBeGreaterThan(0)
      expect(node.output()).toContain('a tournament could not be settled')
    },
    120_000,
  )

  it.runIf(name === 'postgres')(
    '[O-SCH-1] [H-TRN-7] two nodes at once settle and notify once',
    async () => {
      test = await open()
      await prepare(test.db)
      const nodes = await Promise.all(
        ['one', 'two'].map((id) => startNodeProcess(keysOf(test.url, id))),
      )
      running.push(...nodes)
      await Promise.all(nodes.map(untilDone))
      await Promise.all(nodes.map((node) => node.stop()))
      await expectOnce(test.db)
    },
    120_000,
  )
})
