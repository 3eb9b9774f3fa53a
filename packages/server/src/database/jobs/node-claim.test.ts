import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { statement } from '../statement.ts'
import { type TestDatabase, testBackends } from '../testing/backends.ts'
import { deploymentSecret } from './deployment-secrets.ts'
import { claimNode, createEndedBootsPruner, NodeIdInUse } from './node-claim.ts'

const opened: TestDatabase[] = []

afterEach(async () => {
  for (const test of opened.splice(0)) await test.dispose()
})

describe.each(testBackends)('the node claim on $name', ({ name, open }) => {
  async function openDb() {
    const test = await open()
    opened.push(test)
    return test.db
  }

  async function setUp() {
    const db = await openDb()
    const clock = createFakeClock()
    const log = createRecordedLog()
    const claim = (bootId: string) => claimNode({ db, clock, log, nodeId: 'node-1', bootId })
    return { db, clock, log, claim }
  }

  it('[R-REC-6] is held, renewed and released', async () => {
    const { db, claim } = await setUp()
    const first = await claim('bt1-a')
    expect(first.ok()).toBe(true)
    await first.renew()
    expect(first.ok()).toBe(true)
    await first.release()
    const second = await claim('bt1-b')
    expect(second.ok()).toBe(true)
    expect(await db.all(boots, {})).toEqual([
      { boot_id: 'bt1-a', ended: 1 },
      { boot_id: 'bt1-b', ended: 0 },
    ])
  })

  it('[O-RET-1] boots that ended 90 days ago go, the oldest first', async () => {
    const { db, claim } = await setUp()
    const day = 86_400_000
    for (const days of [91, 92, 89]) {
      await db.run(addEndedBoot, { boot_id: `bt1-${days}`, ago_ms: days * day })
    }
    await claim('bt1-running')
    const prune = createEndedBootsPruner(db)
    const left = async () => (await db.all(boots, {})).map(({ boot_id }) => boot_id)
    expect(await prune(1)).toBe(1)
    expect(await left()).toEqual(['bt1-89', 'bt1-91', 'bt1-running'])
    expect(await prune(10)).toBe(1)
    expect(await prune(10)).toBe(0)
    expect(await left()).toEqual(['bt1-89', 'bt1-running'])
  })

  it('[O-STP-4] leaves the boots of other nodes alone', async () => {
    const { db, clock, log, claim } = await setUp()
    await claim('bt1-a')
    await claimNode({ db, clock, log, nodeId: 'node-2', bootId: 'bt1-b' })
    expect(await db.all(boots, {})).toEqual([
      { boot_id: 'bt1-a', ended: 0 },
      { boot_id: 'bt1-b', ended: 0 },
    ])
    expect(log.lines.filter((line) => line.level === 'warn')).toEqual([])
  })

  it('[O-STP-4] notes at each renewal when its boot was last seen', async () => {
    const { db, claim } = await setUp()
    const held = await claim('bt1-a')
    await db.run(forgetSeen, {})
    await held.renew()
    expect(await db.all(unseen, {})).toEqual([])
  })

  it('[O-STP-4] logs a boot that did not end, once', async () => {
    const { db, log, claim } = await setUp()
    await claim('bt1-killed')
    await db.run(expireLeases, {})
    const second = await claim('bt1-next')
    const warnings = log.lines.filter((line) => line.level === 'warn')
    expect(warnings.map((line) => line.fields)).toMatchObject([{ earlier_boot_id: 'bt1-killed' }])
    await second.release()
    await claim('bt1-last')
    expect(log.lines.filter((line) => line.level === 'warn')).toEqual(warnings)
  })

  if (name === 'postgres')
    it('[R-REC-6] refuses a second process after 10 seconds', async () => {
      const { clock, claim } = await setUp()
      await claim('bt1-a')
      let outcome: unknown
      claim('bt1-b').catch((error) => {
        outcome = error
      })
      while (clock.monotonicMs() < 9000) {
        await clock.advance(250)
        // The database is real: its answers need real turns of the event loop.
        await untilWaiting(clock)
      }
      expect(outcome).toBeUndefined()
      while (!outcome) {
        await clock.advance(250)
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(outcome).toBeInstanceOf(NodeIdInUse)
      expect(String(outcome)).toContain('node_id node-1 is in use by another process')
    })

  if (name === 'postgres')
    it('[R-REC-6] is lost to another process and taken again', async () => {
      const { db, claim } = await setUp()
      const first = await claim('bt1-a')
      await db.run(expireLeases, {})
      const second = await claim('bt1-b')
      await first.renew()
      expect([first.ok(), second.ok()]).toEqual([false, true])
      await second.release()
      await first.renew()
      expect(first.ok()).toBe(true)
    })

  if (name === 'postgres')
    it('[R-REC-6] stays good while the database says nothing, however long', async () => {
      const { db, clock, log } = await setUp()
      let isSilent = false
      const silent = async () => Promise.reject(new Error('no answer'))
      const sometimes = new Proxy(db, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          return isSilent ? silent : value.bind(target)
        },
      })
      const first = await claimNode({
        db: sometimes,
        clock,
        log,
        nodeId: 'node-1',
        bootId: 'bt1-a',
      })
      isSilent = true
      for (let renewals = 0; renewals < 30; renewals += 1) {
        await clock.advance(2000)
        await expect(first.renew()).rejects.toThrow('no answer')
        expect(first.ok()).toBe(true)
      }
      isSilent = false
      await first.renew()
      expect(first.ok()).toBe(true)
    })

  it('[O-DB-10] deployment secrets are 32 random bytes, the same for everybody', async () => {
    const db = await openDb()
    const made = await Promise.all(
      Array.from({ length: 8 }, () => deploymentSecret(db, 'admission', randomBytes)),
    )
    expect(new Set(made.map((secret) => Buffer.from(secret).toString('hex'))).size).toBe(1)
    expect(made[0]?.length).toBe(32)
    expect(await deploymentSecret(db, 'other', randomBytes)).not.toEqual(made[0])
  })
})

async function untilWaiting(clock: ReturnType<typeof createFakeClock>): Promise<void> {
  while (clock.timersWaiting() === 0) await new Promise((resolve) => setImmediate(resolve))
}

const boots = statement({
  name: 'claim-test.boots',
  text: `SELECT boot_id, CASE WHEN ended_at_unix_ms IS NULL THEN 0 ELSE 1 END AS ended
    FROM node_boots ORDER BY boot_id`,
  row: { boot_id: 'text', ended: 'integer' },
})

const forgetSeen = statement({
  name: 'claim-test.forget-seen',
  text: 'UPDATE node_boots SET seen_at_unix_ms = 0',
})

const unseen = statement({
  name: 'claim-test.unseen',
  text: 'SELECT boot_id FROM node_boots WHERE seen_at_unix_ms = 0',
  row: { boot_id: 'text' },
})

const addEndedBoot = statement({
  name: 'node-claim-test.add-ended-boot',
  text: `INSERT INTO node_boots
      (boot_id, node_id, started_at_unix_ms, seen_at_unix_ms, ended_at_unix_ms)
    VALUES (:boot_id, 'other', 1, 1, {{now}} - :ago_ms)`,
  params: { boot_id: 'text', ago_ms: 'integer' },
})

const expireLeases = statement({
  name: 'claim-test.expire',
  text: 'UPDATE leases SET expires_at_unix_ms = 0',
})
