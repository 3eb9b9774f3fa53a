import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../kernel/clock.fake.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { LeaseLost } from '../../kernel/tasks/lease.ts'
import type { Database, Transaction } from '../database.ts'
import { openDatabase } from '../open.ts'
import { statement } from '../statement.ts'
import { type TestDatabase, testBackends } from '../testing/backends.ts'
import { silentLog } from '../testing/silent-log.ts'
import { createLeases } from './leases.ts'

const lifeMs = 9000

const work = statement({
  name: 'leases-test.work',
  text: `INSERT INTO deployment_secrets (name, secret) VALUES (:name, :secret)`,
  params: { name: 'text', secret: 'bytes' },
})
const done = statement({
  name: 'leases-test.done',
  text: 'SELECT name FROM deployment_secrets ORDER BY name',
  row: { name: 'text' },
})
const rowOf = statement({
  name: 'leases-test.row',
  text: 'SELECT holder, token, expires_at_unix_ms - {{now}} AS left_ms FROM leases WHERE name = :name',
  params: { name: 'text' },
  row: { holder: 'text', token: 'integer', left_ms: 'integer' },
})
/** The database's clock cannot be moved, so the row is made older instead. */
const expire = statement({
  name: 'leases-test.expire',
  text: 'UPDATE leases SET expires_at_unix_ms = {{now}} WHERE name = :name',
  params: { name: 'text' },
})
const endBoot = statement({
  name: 'leases-test.end-boot',
  text: `INSERT INTO node_boots (boot_id, node_id, started_at_unix_ms, seen_at_unix_ms,
    ended_at_unix_ms) VALUES (:boot_id, 'node-1', 1, 1, 1)`,
  params: { boot_id: 'text' },
})

const opened: TestDatabase[] = []

afterEach(async () => {
  for (const test of opened.splice(0)) await test.dispose()
})

describe.each(testBackends)('a lease on $name', ({ name: backend, open }) => {
  async function setUp() {
    const test = await open({ config: { statement_timeout_ms: 1000 } })
    opened.push(test)
    const { db } = test
    const log = createRecordedLog()
    function node(holder: string, on: Database = db) {
      const clock: FakeClock = createFakeClock()
      const leases = createLeases({ db: on, clock, log, holder, lifeMs })
      const lease = leases.of('job')
      const commit = (name: string) => lease.transaction((tx) => insert(tx, name))
      return { clock, leases, lease, commit }
    }
    const finished = async () => (await db.all(done, {})).map(({ name }) => name)
    const expireNow = () => db.run(expire, { name: 'job' })
    return { test, db, log, node, finished, expireNow, row: () => db.get(rowOf, { name: 'job' }) }
  }
  const insert = (tx: Transaction, name: string) =>
    tx.run(work, { name, secret: new Uint8Array([1]) })

  it('[O-SCH-1] is held by one of two nodes, under a token of its own', async () => {
    const { node, row, finished } = await setUp()
    const [a, b] = [node('bt1-a'), node('bt1-b')]
    expect([a.lease.held(), b.lease.held()]).toEqual([false, false])
    const kept = await Promise.all([a.lease.keep(), b.lease.keep()])
    expect(kept.filter(Boolean)).toHaveLength(1)
    const [holder, other] = kept[0] ? [a, b] : [b, a]
    expect([holder.lease.held(), other.lease.held()]).toEqual([true, false])
    expect(await row()).toMatchObject({ holder: kept[0] ? 'bt1-a' : 'bt1-b', token: 1 })
    await holder.commit('first')
    await expect(other.commit('second')).rejects.toThrow(LeaseLost)
    expect(await finished()).toEqual(['first'])
  })

  it('[O-SCH-1] is renewed when a third of its life is over, and not before', async () => {
    const { node, row, db } = await setUp()
    const { clock, lease } = node('bt1-a')
    await lease.keep()
    await db.run(expire, { name: 'job' })
    await clock.advance(lifeMs / 3 - 1)
    expect(await lease.keep()).toBe(true)
    expect((await row())?.left_ms).toBeLessThanOrEqual(0)
    await clock.advance(1)
    expect(await lease.keep()).toBe(true)
    const renewed = await row()
    expect(renewed?.left_ms).toBeGreaterThan(lifeMs - 5000)
    expect(renewed?.token).toBe(1)
  })

  it('[O-SCH-1] stops working after two thirds of its life without a renewal', async () => {
    const { node, finished } = await setUp()
    const { clock, lease, commit } = node('bt1-a')
    await lease.keep()
    await clock.advance((lifeMs * 2) / 3 - 1)
    expect(lease.held()).toBe(true)
    await clock.advance(1)
    expect(lease.held()).toBe(false)
    // Nobody has taken it, and still: this node can no longer know that.
    await expect(commit('late')).rejects.toThrow(LeaseLost)
    expect(await finished()).toEqual([])
    expect(await lease.keep()).toBe(true)
    await commit('renewed')
    expect(await finished()).toEqual(['renewed'])
  })

  it('[O-SCH-1] counts its life from before it asked, however late the answer comes', async () => {
    const { node, db } = await setUp()
    const late: Database = Object.create(db)
    const { clock, lease } = node('bt1-a', late)
    late.get = async (...asked) => {
      const row = await db.get(...asked)
      await clock.advance(1000)
      return row
    }
    late.run = async (...asked) => {
      const rows = await db.run(...asked)
      await clock.advance(1000)
      return rows
    }
    for (const _ of ['taken', 'renewed']) {
      expect(await lease.keep()).toBe(true)
      await clock.advance((lifeMs * 2) / 3 - 1001)
      expect(lease.held()).toBe(true)
      await clock.advance(1)
      expect(lease.held()).toBe(false)
    }
  })

  it('[O-SCH-1] is taken once by all who ask for it on a node at the same time', async () => {
    const { node, row, finished } = await setUp()
    const { lease, commit } = node('bt1-a')
    expect(await Promise.all([lease.keep(), lease.keep(), lease.keep()])).toEqual([
      true,
      true,
      true,
    ])
    expect(await row()).toMatchObject({ holder: 'bt1-a', token: 1 })
    await commit('work')
    expect(await finished()).toEqual(['work'])
  })

  it('[O-SCH-1] is kept also when another one of the node cannot be, which is reported', async () => {
    const { node, db } = await setUp()
    const failing: Database = Object.create(db)
    failing.get = (text, params) =>
      'name' in params && params.name === 'broken'
        ? Promise.reject(new Error('on purpose'))
        : db.get(text, params)
    const { leases, lease } = node('bt1-a', failing)
    leases.of('broken')
    leases.of('later')
    await expect(leases.keep()).rejects.toThrow('leases could not be renewed')
    expect([lease.held(), leases.of('later').held()]).toEqual([true, true])
    expect(leases.of('broken').held()).toBe(false)
  })

  it('[O-SCH-2] lets a holder that slept through its end commit nothing', async () => {
    const { node, row, finished, expireNow } = await setUp()
    const [paused, next] = [node('bt1-a'), node('bt1-b')]
    await paused.lease.keep()
    expect(await next.lease.keep()).toBe(false)
    await expireNow()
    expect(await next.lease.keep()).toBe(true)
    expect(await row()).toMatchObject({ holder: 'bt1-b', token: 2 })
    // Its own clock stood still, so the lease is held by its count; not by the row.
    expect(paused.lease.held()).toBe(true)
    await expect(paused.commit('stale')).rejects.toThrow(LeaseLost)
    expect(paused.lease.held()).toBe(false)
    await next.commit('fresh')
    expect(await finished()).toEqual(['fresh'])
  })

  it('[O-SCH-2] knows its own earlier holding from the present one', async () => {
    const { node, row, expireNow, finished } = await setUp()
    const [first, second] = [node('bt1-a'), node('bt1-a')]
    await first.lease.keep()
    await second.lease.keep()
    expect(await row()).toMatchObject({ holder: 'bt1-a', token: 2 })
    await expect(first.commit('stale')).rejects.toThrow(LeaseLost)
    await expireNow()
    await second.commit('not taken by anybody')
    expect(await finished()).toEqual(['not taken by anybody'])
  })

  it('[O-SCH-2] ends the work of a holder that finds out while renewing', async () => {
    const { node, log, expireNow } = await setUp()
    const [a, b] = [node('bt1-a'), node('bt1-b')]
    await a.lease.keep()
    await expireNow()
    await b.lease.keep()
    await a.clock.advance(lifeMs / 3)
    expect(await a.lease.keep()).toBe(false)
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })

  it('[O-STP-2] is free at once when it was released, or its boot has ended', async () => {
    const { node, db, row } = await setUp()
    const [a, b, c] = [node('bt1-a'), node('bt1-b'), node('bt1-c')]
    await a.leases.keep()
    await a.leases.release()
    expect(a.lease.held()).toBe(false)
    expect(await b.lease.keep()).toBe(true)
    expect(await c.lease.keep()).toBe(false)
    await db.run(endBoot, { boot_id: 'bt1-b' })
    expect(await c.lease.keep()).toBe(true)
    expect(await row()).toMatchObject({ holder: 'bt1-c', token: 3 })
    await expect(b.commit('ended')).rejects.toThrow(LeaseLost)
    // What it releases now is not its own any more.
    await b.lease.release()
    await expect(c.commit('held')).resolves.toBe(1)
  })

  it('fails as a whole when the database is gone, and is not held then', async () => {
    const { test, node } = await setUp()
    const { leases, lease } = node('bt1-a')
    expect(leases.of('job')).toBe(lease)
    leases.of('other')
    await leases.keep()
    await test.db.close()
    await expect(leases.release()).rejects.toThrow('leases could not be released')
    await expect(leases.keep()).rejects.toThrow('leases could not be renewed')
    expect(lease.held()).toBe(false)
  })

  it('[O-STP-2] stays released when that comes while it is taken or renewed', async () => {
    const { node, row } = await setUp()
    const [a, b] = [node('bt1-a'), node('bt1-b')]
    for (const waitMs of [0, lifeMs / 3]) {
      await a.clock.advance(waitMs)
      await Promise.all([a.leases.keep(), a.leases.release()])
      expect(a.lease.held()).toBe(false)
      expect(await b.lease.keep()).toBe(true)
      expect(await row()).toMatchObject({ holder: 'bt1-b' })
      await b.lease.release()
      await a.lease.keep()
    }
  })

  it.runIf(backend === 'postgres')(
    '[O-SCH-2] frees the locks of a holder that was paused inside a transaction',
    async () => {
      const { test, node, finished, expireNow } = await setUp()
      const own = await openDatabase({
        url: test.url,
        config: { statement_timeout_ms: 500 },
        clock: createSystemClock(),
        log: silentLog,
        randomness: randomBytes,
      })
      const [paused, next] = [node('bt1-a', own), node('bt1-b')]
      await paused.lease.keep()
      const resume = Promise.withResolvers<void>()
      const stale = paused.lease.transaction(async (tx) => {
        await insert(tx, 'stale')
        await resume.promise
      })
      stale.catch(() => {})
      await expect.poll(() => expireNow().catch(() => 0)).toBe(1)
      await expect.poll(() => next.lease.keep().catch(() => false)).toBe(true)
      resume.resolve()
      await expect(stale).rejects.toThrow()
      expect(await finished()).toEqual([])
      await own.close()
    },
  )
})
