import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { createAuditRecorder } from '../../kernel/audit/recorder.ts'
import { createFakeClock, type FakeClock } from '../../kernel/clock.fake.ts'
import { createIds, newBootId } from '../../kernel/ids.ts'
import { createAudit, createTrailWriter } from './audit.service.ts'
import { chainStore } from './chain/chain.store.ts'
import { sealerOn } from './chain/sealer.fixture.ts'
import { verifyChain } from './chain/verify.ts'

const day = 86_400_000

describe.each(testBackends)('retention of the audit trail on $name', ({ open }) => {
  let test: TestDatabase
  let clock: FakeClock
  let trail: ReturnType<typeof openTrail>

  beforeEach(async () => {
    test = await open()
    clock = createFakeClock()
    trail = openTrail(clock)
  })
  afterEach(() => test.dispose())

  /** A node's trail, which it keeps for two days of the given clock. */
  function openTrail(clock: FakeClock) {
    const { db } = test
    const ids = createIds({ clock, nodeId: 'dev-1', bootId: newBootId() })
    const recorder = createAuditRecorder({ clock, ids, ringCapacity: 10, enqueue: () => {} })
    const audit = createAudit({ db, clock, recorder, retentionDays: 2 })
    const write = createTrailWriter({ db, nodeId: 'dev-1' })
    return {
      prune: audit.prune,
      async write(...actors: string[]) {
        const about = { action: 'groups.create', role: 'admin', target: '1', details: '' } as const
        await write(
          actors.map((actor) => recorder.prepare({ actor_type: 'human', actor, ...about })),
        )
        await sealerOn(db, clock).seal()
      },
    }
  }

  const left = async () =>
    (await chainStore.sealedAfter(test.db, { after: 0, limit: 100 })).map(({ actor }) => actor)

  it('[H-AUD-9] [O-AUD-4] is not held up by entries of a clock that was years ahead', async () => {
    const wrong = createFakeClock({ startUnixMs: clock.nowUnixMs() + 10_000 * day })
    const ahead = openTrail(wrong)
    await ahead.write('ahead-1', 'ahead-2', 'ahead-3', 'ahead-4')
    await trail.write('first')
    await ahead.write('ahead-5')
    await trail.write('second')
    await clock.advance(day)
    await ahead.write('ahead-6', 'ahead-7')
    await trail.write('young')
    await clock.advance(day)
    expect(await trail.prune(10)).toBe(0)
    await clock.advance(1)
    // Full batches while there is more, also where they have nothing but such entries.
    for (const removed of [3, 3, 1, 0]) expect(await trail.prune(3)).toBe(removed)
    // These are as old at least as what follows them, and that is not old enough.
    expect(await left()).toEqual(['ahead-6', 'ahead-7', 'young'])
    const report = await verifyChain(test.db, { key: undefined })
    expect(report).toMatchObject({ rows: 3, anchor_seq: 7, head_seq: 10 })
    expect(report).not.toHaveProperty('broken')
    await ahead.write('ahead-8')
    await clock.advance(day)
    expect(await trail.prune(10)).toBe(3)
    // Nothing followed it, so nothing says how old it is.
    await clock.advance(9 * day)
    expect(await trail.prune(10)).toBe(0)
    expect(await left()).toEqual(['ahead-8'])
  })

  it('[H-AUD-9] [O-AUD-4] goes by the time of an entry that has come by now', async () => {
    const ahead = openTrail(createFakeClock({ startUnixMs: clock.nowUnixMs() + 1000 }))
    await trail.write('first')
    await ahead.write('ahead')
    await clock.advance(2 * day + 1)
    expect(await trail.prune(10)).toBe(1)
    expect(await left()).toEqual(['ahead'])
    await clock.advance(999)
    expect(await trail.prune(10)).toBe(0)
    await clock.advance(1)
    expect(await trail.prune(10)).toBe(1)
  })
})
