import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Health, Status } from '@guildhall/contract'
import { afterEach, describe, expect, it } from 'vitest'
import type { Database } from '../database/database.ts'
import { statement } from '../database/statement.ts'
import { type TestDatabase, testBackends } from '../database/testing/backends.ts'
import { createFakeClock } from '../kernel/clock.fake.ts'
import { type Clock, createSystemClock } from '../kernel/clock.ts'
import { createRecordedLog } from '../kernel/log/log.fake.ts'
import { ClockUnfit } from '../kernel/time/clock-watch.ts'
import { createCaller } from '../testing/api.ts'
import { startNodeProcess } from '../testing/node-process.ts'
import { createClockCheck, openClockWatch } from './clocks.ts'

const opened: TestDatabase[] = []

afterEach(async () => {
  for (const test of opened.splice(0)) await test.dispose()
})

async function open(name: TestDatabase['db']['backend'], clock?: Clock): Promise<TestDatabase> {
  const backend = testBackends.find((it) => it.name === name)
  if (backend === undefined) throw new Error(`there is no backend ${name}`)
  const test = await backend.open(clock ? { clock } : {})
  opened.push(test)
  return test
}

const addBoot = statement({
  name: 'clocks-test.add-boot',
  text: `INSERT INTO node_boots
      (boot_id, node_id, started_at_unix_ms, seen_at_unix_ms, ended_at_unix_ms)
    VALUES (:boot_id, 'other', 1, :seen_at_unix_ms, :ended_at_unix_ms)`,
  params: { boot_id: 'text', seen_at_unix_ms: 'integer', ended_at_unix_ms: 'integer?' },
})
const addRead = statement({
  name: 'clocks-test.add-read',
  text: `INSERT INTO audit_unsealed
      (id, node_id, time_unix_ms, actor_type, actor, role, action, target, details)
    VALUES ('au1-test', 'other', :time_unix_ms, 'human', 'a', 'admin', 'console.login', '', '')`,
  params: { time_unix_ms: 'integer' },
})

const recordings: [string, (db: Database, atUnixMs: number) => Promise<unknown>][] = [
  [
    'when a boot was seen',
    (db, seen_at_unix_ms) =>
      db.run(addBoot, { boot_id: 'bt1-x', seen_at_unix_ms, ended_at_unix_ms: null }),
  ],
  [
    'when a boot ended',
    (db, ended_at_unix_ms) =>
      db.run(addBoot, { boot_id: 'bt1-x', seen_at_unix_ms: 1, ended_at_unix_ms }),
  ],
  ['the audit trail', (db, time_unix_ms) => db.run(addRead, { time_unix_ms })],
]

describe('the clock at the start on an embedded file', () => {
  it.each(recordings)('[O-CLK-3] must be past %s', async (_what, record) => {
    const clock = createFakeClock()
    const { db } = await open('sqlite', clock)
    const log = createRecordedLog()
    const startUnixMs = clock.nowUnixMs()
    expect((await openClockWatch({ db, clock, log })).onHold()).toBe(false)
    await record(db, startUnixMs + 60_000)
    expect((await openClockWatch({ db, clock, log })).onHold()).toBe(false)
    clock.setWall(startUnixMs - 1)
    const watch = await openClockWatch({ db, clock, log })
    expect([watch.onHold(), watch.doubtful()]).toEqual([true, true])
    await clock.advance(60_001)
    expect([watch.onHold(), watch.doubtful()]).toEqual([false, false])
  })

  it('[O-CLK-3] [O-HLT-4] a node behind its file is degraded, and serves', async () => {
    const test = await open('sqlite')
    const seen_at_unix_ms = createSystemClock().nowUnixMs() + 3_600_000
    await test.db.run(addBoot, { boot_id: 'bt1-x', seen_at_unix_ms, ended_at_unix_ms: null })
    await test.db.close()
    const node = await startNodeProcess({ 'database.url': test.url })
    const call = createCaller(node.url)
    expect(Health().parse((await call('GET', '/health')).body).status).toBe('degraded')
    expect((await call('GET', '/health/ready')).status).toBe(200)
    expect(node.output()).toContain('the clock is behind what is stored')
    expect(await node.stop()).toBe(0)
    await test.reopen()
  })
})

describe('the clock beside a PostgreSQL server', () => {
  it('[O-CLK-3] refuses a start that is a minute away from it', async () => {
    const { db } = await open('postgres')
    const clock = createFakeClock()
    const opening = (offMs: number) => {
      clock.setWall(createSystemClock().nowUnixMs() + offMs)
      return openClockWatch({ db, clock, log: createRecordedLog() })
    }
    // The server's own answer takes a moment, hence not exactly 60 s.
    await expect(opening(62_000)).rejects.toThrow(ClockUnfit)
    await expect(opening(-62_000)).rejects.toThrow("s behind the database's")
    expect((await opening(50_000)).doubtful()).toBe(true)
    expect((await opening(0)).doubtful()).toBe(false)
  })

  it('[O-CLK-3] is compared as long as the server answers', async () => {
    const { db } = await open('postgres')
    const clock = createFakeClock()
    clock.setWall(createSystemClock().nowUnixMs())
    const watch = await openClockWatch({ db, clock, log: createRecordedLog() })
    const check = createClockCheck(db, watch)
    clock.setWall(createSystemClock().nowUnixMs() + 10_000)
    expect(watch.doubtful()).toBe(false)
    await check()
    expect([watch.doubtful(), watch.jumps()]).toEqual([true, 0])
    await db.close()
    await check()
    expect(watch.doubtful()).toBe(true)
  })
})

it('[O-DSK-3] [O-HLT-4] a node on a disk that is nearly full is degraded', async () => {
  const test = await open('sqlite')
  await test.db.close()
  // As much as can be asked for: few machines that run tests have a tebibyte to spare.
  const minFreeBytes = 2 ** 40
  const low = { 'database.min_free_bytes': String(minFreeBytes) }
  const { bavail, bsize } = await statfs(dirname(test.url.slice('sqlite:'.length)))
  const expected = bavail * bsize < minFreeBytes ? 'degraded' : 'healthy'
  const node = await startNodeProcess({ 'database.url': test.url, ...low })
  const call = createCaller(node.url)
  const health = async () => Health().parse((await call('GET', '/health')).body).status
  await expect.poll(health).toBe(expected)
  const status = Status().parse((await call('GET', '/status')).body)
  expect(status.tasks.map(({ name }) => name)).toContain('disk-space')
  expect(status.metrics.clock_jumps_total).toBe(0)
  expect(status.retention).toContainEqual({
    data: 'admission_windows',
    pruned_total: 0,
    behind: false,
  })
  await node.stop()
  const off = await startNodeProcess({ 'database.url': test.url, 'database.min_free_bytes': '0' })
  const tasks = Status().parse((await createCaller(off.url)('GET', '/status')).body).tasks
  expect(tasks.map(({ name }) => name)).not.toContain('disk-space')
  await off.stop()
  await test.reopen()
})
