import { parseCron } from '@guildhall/contract'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { databaseNow } from '../../../database/reads/stored-time.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { addBoards, cursorsOf, epochsOf, openResetNode } from './resets.fixture.ts'

const minute = 60_000
const day = 24 * 60 * minute

const schedules = fc.constantFrom(
  '* * * * *',
  '*/7 * * * *',
  '0 0 * * *',
  '59 23 * * sun',
  '0 12 13 * fri',
  '0 0 31 * *',
  '0 0 29 2 *',
)
/** What may happen to a deployment with one board; times in milliseconds. */
const events = fc.oneof(
  { weight: 3, arbitrary: fc.record({ passMs: fc.integer({ min: 0, max: 3 * minute }) }) },
  { weight: 2, arbitrary: fc.record({ passMs: fc.integer({ min: 0, max: 500 * day }) }) },
  { weight: 2, arbitrary: fc.constant('pass' as const) },
  { weight: 2, arbitrary: fc.constant('submission' as const) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
  { weight: 1, arbitrary: fc.record({ stepBackMs: fc.integer({ min: 1, max: 3 * day }) }) },
)

it('[O-SCH-3] [O-SCH-5] [O-CLK-2] whatever happens, every occurrence is covered exactly once', async () => {
  const [inMemory] = testBackends
  if (inMemory === undefined) throw new Error('there is no backend')
  await fc.assert(
    fc.asyncProperty(schedules, fc.array(events, { maxLength: 25 }), async (schedule, timeline) => {
      const clock = createFakeClock()
      const { db, dispose } = await inMemory.open({ clock })
      const cron = parseCron(schedule)
      const madeUnixMs = await databaseNow(db)
      let node = openResetNode({ db, clock })
      const cursor = node.resets.cursorAfter(schedule, madeUnixMs)
      await addBoards(db, [{ id: 'b', reset_schedule: schedule, cursor }])
      for (const event of [...timeline, 'pass' as const]) {
        if (event === 'pass') await node.run()
        else if (event === 'submission') await node.resets.resetDue('b')
        else if (event === 'restart') {
          await node.leases.release()
          node = openResetNode({ db, clock })
          await node.resets.prepare()
        } else if ('passMs' in event) await clock.advance(event.passMs)
        else clock.setWall(clock.nowUnixMs() - event.stepBackMs)
      }
      const epochs = await epochsOf(db)
      const last = epochs.at(-1)?.due_at_unix_ms ?? madeUnixMs
      const covered = epochs.reduce((sum, { occurrences }) => sum + occurrences, 0)
      expect(covered).toBe(cron?.between(madeUnixMs, last)?.count ?? 0)
      for (const { due_at_unix_ms } of epochs) {
        expect(cron?.next(due_at_unix_ms - 1)).toBe(due_at_unix_ms)
      }
      // Nothing is left that is due, and nothing is due before what has been.
      const next = (await cursorsOf(db)).b ?? null
      expect(next).toBe(cron?.next(last) ?? null)
      if (next !== null) expect(next).toBeGreaterThan(await databaseNow(db))
      await dispose()
    }),
    { numRuns: 150 },
  )
})
