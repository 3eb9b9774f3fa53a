import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { createFakeClock, type FakeClock } from '../../kernel/clock.fake.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { createRecordedLog, type RecordedLog } from '../../kernel/log/log.fake.ts'
import { rowsOf } from '../../testing/tables.ts'
import { type Consumer, createCourier } from './outbox.courier.ts'
import { createOutbox, type Outbox } from './outbox.service.ts'
import { outboxStore } from './outbox.store.ts'

const dayMs = 86_400_000

/** The database's clock cannot be moved, so what waits for it is made older. */
const older = statement({
  name: 'tests.older-outbox',
  text: 'UPDATE outbox SET available_at_unix_ms = available_at_unix_ms - :ms',
  params: { ms: 'integer' },
})
const waits = statement({
  name: 'tests.outbox-waits',
  text: `SELECT payload, attempts, available_at_unix_ms, available_at_unix_ms - {{now}} AS wait_ms
    FROM outbox ORDER BY id`,
  row: {
    payload: 'text',
    attempts: 'integer',
    available_at_unix_ms: 'integer',
    wait_ms: 'integer',
  },
})
const databaseTime = statement({
  name: 'tests.database-time',
  text: 'SELECT {{now}} AS now',
  row: { now: 'integer' },
})
const insertSecret = statement({
  name: 'tests.outbox-secret',
  text: 'INSERT INTO deployment_secrets (name, secret) VALUES (:name, :secret)',
  params: { name: 'text', secret: 'bytes' },
})

describe.each(testBackends)('the outbox on $name', ({ open }) => {
  let test: TestDatabase
  let db: Database
  let clock: FakeClock
  let log: RecordedLog
  let outbox: Outbox
  beforeEach(async () => {
    test = await open()
    db = test.db
    clock = createFakeClock()
    log = createRecordedLog()
    outbox = createOutbox({ db, clock, log })
  })
  afterEach(() => test.dispose())

  const add = (...payloads: string[]) =>
    db.transaction((tx) =>
      outbox.add(
        tx,
        payloads.map((payload) => ({ kind: 'news', payload })),
      ),
    )
  const courierOf = (...consumers: Consumer[]) => createCourier({ db, clock, log, consumers })
  const undelivered = async () =>
    (await rowsOf(db, 'outbox', 'delivered_at_unix_ms IS NULL')).map(({ payload }) => payload)
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await createSystemClock().sleep(2)
  }
  const isEmpty = async () => (await undelivered()).length === 0

  function outside(
    deliver: (payload: string) => Promise<void> | void,
    more: object = {},
  ): Consumer {
    const consumer = { kind: 'news', slots: 4, ready: () => true, ...more }
    return { ...consumer, outside: async (payload) => deliver(payload) }
  }

  it('[O-SCH-9] has a row exactly when the transaction is kept that left it', async () => {
    await add('kept')
    const undone = db.transaction(async (tx) => {
      await outbox.add(tx, [{ kind: 'news', payload: 'undone' }])
      throw new Error('no')
    })
    await expect(undone).rejects.toThrow('no')
    const seen: string[] = []
    await courierOf(outside((payload) => void seen.push(payload))).look()
    await until(isEmpty)
    expect(seen).toEqual(['kept'])
  })

  it('[O-SCH-9] delivers everything once, oldest first, more than there are slots', async () => {
    const payloads = Array.from({ length: 21 }, (_, index) => `n${index}`)
    await add(...payloads)
    const seen: string[] = []
    const courier = courierOf(outside((payload) => void seen.push(payload), { slots: 1 }))
    await courier.look()
    await until(() => courier.counts().delivered === 21)
    await courier.look()
    expect(seen).toEqual(payloads)
    expect(courier.counts()).toEqual({ delivered: 21, failed: 0 })
  })

  it('[O-SCH-9] is claimed by one node for 30 s, and by the next when that one is gone', async () => {
    await add('a')
    const neverEnds = courierOf(outside(() => new Promise(() => {})))
    await neverEnds.look()
    const seen: string[] = []
    const next = courierOf(outside((payload) => void seen.push(payload)))
    await next.look()
    expect(seen).toEqual([])
    const [row] = await db.all(waits, {})
    expect(row).toMatchObject({ attempts: 1 })
    expect(row?.wait_ms).toBeGreaterThan(25_000)
    expect(row?.wait_ms).toBeLessThanOrEqual(30_000)
    await db.run(older, { ms: 30_000 })
    await next.look()
    await until(isEmpty)
    expect(seen).toEqual(['a'])
  })

  it('[O-SCH-9] many nodes at once deliver each row once', async () => {
    const payloads = Array.from({ length: 60 }, (_, index) => `n${index}`)
    await add(...payloads)
    const seen: string[] = []
    const couriers = Array.from({ length: 4 }, () =>
      courierOf(outside((payload) => void seen.push(payload))),
    )
    await until(async () => {
      await Promise.all(couriers.map((courier) => courier.look()))
      return isEmpty()
    })
    expect(seen.sort()).toEqual(payloads.sort())
  })

  it('[O-SCH-9] tries again after 1 s, doubling to 5 min, each row on its own', async () => {
    await add('bad', 'good')
    const seen: string[] = []
    const courier = (failure: Promise<void>) =>
      courierOf(
        outside(async (payload) => {
          seen.push(payload)
          if (payload === 'bad') await failure
        }),
      )
    const availableAt = async () => (await db.all(waits, {}))[0]?.available_at_unix_ms ?? 0
    const now = async () => (await db.get(databaseTime, {}))?.now ?? 0
    const expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    for (const seconds of expected) {
      const failure = Promise.withResolvers<void>()
      const failing = courier(failure.promise)
      await failing.look()
      const beforeMs = await now()
      failure.reject(new Error('not today'))
      // Ends once what is under way has ended, and so has noted when to try again.
      await failing.stop(1000)
      expect(failing.counts().failed).toBe(1)
      expect(await availableAt()).toBeGreaterThanOrEqual(beforeMs + seconds * 1000)
      expect(await availableAt()).toBeLessThanOrEqual((await now()) + seconds * 1000)
      await db.run(older, { ms: 302_000 })
    }
    expect(seen.filter((payload) => payload === 'good')).toHaveLength(1)
    const healed = courier(Promise.resolve())
    await healed.look()
    await healed.stop(1000)
    expect(healed.counts()).toEqual({ delivered: 1, failed: 0 })
    expect(seen).toHaveLength(1 + expected.length + 1)
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(expected.length)
  })

  it('[S-HK-10] one that takes long holds up no other', async () => {
    let end: () => void = () => {}
    const slow = new Promise<void>((resolve) => {
      end = resolve
    })
    const seen: string[] = []
    const consumer = outside(
      async (payload) => {
        if (payload === 'slow') await slow
        seen.push(payload)
      },
      { slots: 2 },
    )
    await add('slow', 'b', 'c', 'd')
    const courier = courierOf(
      consumer,
      outside(() => void seen.push('gossip'), { kind: 'gossip' }),
    )
    await db.transaction((tx) => outbox.add(tx, [{ kind: 'gossip', payload: 'x' }]))
    await courier.look()
    await until(() => seen.length === 4)
    expect(seen.filter((it) => it !== 'gossip')).toEqual(['b', 'c', 'd'])
    end()
    await until(() => courier.counts().delivered === 5)
    expect(await isEmpty()).toBe(true)
  })

  it('[O-SCH-9] a consumer that is not ready claims nothing', async () => {
    await add('a')
    let ready = false
    const seen: string[] = []
    const courier = courierOf(outside((payload) => void seen.push(payload), { ready: () => ready }))
    await courier.look()
    expect(await db.all(waits, {})).toMatchObject([{ attempts: 0 }])
    ready = true
    await courier.look()
    await until(isEmpty)
    expect(seen).toEqual(['a'])
  })

  it('[O-TRN-7] what is delivered within the database is done exactly once, or not at all', async () => {
    await add('a')
    let broken = true
    let runs = 0
    const within: Consumer = {
      kind: 'news',
      slots: 2,
      async within(tx, name) {
        runs += 1
        await tx.run(insertSecret, { name, secret: new Uint8Array([1]) })
        if (broken) throw new Error('afterwards')
      },
    }
    const courier = courierOf(within)
    await courier.look()
    await until(() => courier.counts().failed === 1)
    const secrets = async () =>
      (await rowsOf(db, 'deployment_secrets', "name = 'a'")).map(({ name }) => name)
    expect([runs, await secrets(), await undelivered()]).toEqual([1, [], ['a']])
    broken = false
    await until(async () => {
      await db.run(older, { ms: 40_000 })
      await courier.look()
      return isEmpty()
    })
    expect([runs, await secrets()]).toEqual([2, ['a']])
  })

  it('[O-SCH-9] a node that comes back after its claim can neither finish nor postpone the row', async () => {
    await add('a')
    const body = { kind: 'news', claim_ms: 30_000, limit: 1 }
    const [late] = await outboxStore.claim(db, body)
    await db.run(older, { ms: 30_000 })
    const [next] = await outboxStore.claim(db, body)
    if (late === undefined || next === undefined) throw new Error('the row was not claimed twice')
    expect([late.id, late.attempts, next.attempts]).toEqual([next.id, 1, 2])
    const delivered_at_unix_ms = 1
    const lateClaim = { id: late.id, attempts: late.attempts }
    const nextClaim = { id: next.id, attempts: next.attempts }
    expect(await outboxStore.markDelivered(db, { ...lateClaim, delivered_at_unix_ms })).toBe(false)
    expect(await outboxStore.postpone(db, { ...lateClaim, delay_ms: 0 })).toBe(0)
    expect(await outboxStore.markDelivered(db, { ...nextClaim, delivered_at_unix_ms })).toBe(true)
    expect(await outboxStore.markDelivered(db, { ...nextClaim, delivered_at_unix_ms })).toBe(false)
    expect(await outboxStore.postpone(db, { ...nextClaim, delay_ms: 0 })).toBe(0)
  })

  it('[O-TRN-7] a node that was paused after its claim does nothing again', async () => {
    await add('a')
    let goOn: () => void = () => {}
    const paused = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const seen: string[] = []
    const consumerOf = (name: string): Consumer => ({
      kind: 'news',
      slots: 1,
      async within() {
        seen.push(name)
      },
    })
    const slowDb = withTransaction(db, async (...args) => {
      await paused
      return db.transaction(...args)
    })
    const consumers = [consumerOf('paused')]
    const late = createCourier({ db: slowDb, clock, log, consumers })
    await late.look()
    await db.run(older, { ms: 30_000 })
    await courierOf(consumerOf('next')).look()
    await until(isEmpty)
    goOn()
    await late.stop(1000)
    expect([seen, late.counts()]).toEqual([['next'], { delivered: 0, failed: 0 }])
  })

  it('[O-SCH-9] stops with what is under way, and claims nothing after', async () => {
    let end: () => void = () => {}
    const slow = new Promise<void>((resolve) => {
      end = resolve
    })
    await add('a')
    const courier = courierOf(outside(() => slow))
    await courier.look()
    let stopped = false
    const stopping = courier.stop(5000).then(() => {
      stopped = true
    })
    await createSystemClock().sleep(20)
    expect(stopped).toBe(false)
    end()
    await stopping
    expect(await undelivered()).toEqual([])
    await add('b')
    await courier.look()
    expect(await undelivered()).toEqual(['b'])
  })

  it('[O-SCH-9] gives up waiting for what is under way after its time', async () => {
    await add('a')
    const courier = courierOf(outside(() => new Promise(() => {})))
    await courier.look()
    const stopping = courier.stop(5000)
    await clock.advance(5000)
    await stopping
    expect(await undelivered()).toEqual(['a'])
  })

  it('[O-SCH-9] keeps delivered rows and tries others for 7 days, then drops, logs and counts', async () => {
    await add('delivered')
    const courier = courierOf(outside(() => {}))
    await courier.look()
    await until(isEmpty)
    // One that goes on would take what comes next.
    await courier.stop(1000)
    await add('never taken', 'never taken either')
    const { outbox_delivered, outbox_undelivered } = outbox.pruners
    await clock.advance(7 * dayMs - 1)
    expect([await outbox_delivered(10), await outbox_undelivered(10)]).toEqual([0, 0])
    expect(outbox.dropped()).toBe(0)
    await clock.advance(1)
    expect(await outbox_undelivered(1)).toBe(1)
    expect([await outbox_delivered(10), await outbox_undelivered(10)]).toEqual([1, 1])
    expect(await rowsOf(db, 'outbox')).toEqual([])
    expect(outbox.dropped()).toBe(2)
    const dropped = log.lines.filter(({ message }) => message.startsWith('dropped events'))
    expect(dropped.map(({ fields }) => fields)).toEqual([
      { kind: 'news', total: 1 },
      { kind: 'news', total: 1 },
    ])
  })
})

/** The same database, whose transactions begin in another way. */
function withTransaction(db: Database, transaction: Database['transaction']): Database {
  return new Proxy(db, {
    get(target, name) {
      if (name === 'transaction') return transaction
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
