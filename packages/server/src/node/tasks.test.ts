import { expect, it, onTestFinished } from 'vitest'
import { createLeases } from '../database/jobs/leases.ts'
import { testBackends } from '../database/testing/backends.ts'
import type { DiskSpace } from '../kernel/host/disk-space.ts'
import { createPruneCounts } from '../kernel/tasks/retention.ts'
import { createSupervisor } from '../kernel/tasks/supervisor.ts'
import { createClockWatch } from '../kernel/time/clock-watch.ts'
import { testConfig } from '../testing/config.ts'
import { openScenario } from '../testing/scenario.ts'
import { essentialTasks, startTasks } from './tasks.ts'

/** The tasks of a node in memory; `passes` counts those of retention. */
async function setUp({ disk }: { disk?: DiskSpace } = {}) {
  const [inMemory] = testBackends
  if (inMemory === undefined) throw new Error('there is no backend')
  const scenario = await openScenario(inMemory)
  const { clock, db, api } = scenario
  const { log } = api
  const supervisor = createSupervisor({ clock, log, journal: { record: () => '' } })
  let passes = 0
  const some_data = async () => {
    passes += 1
    return 1
  }
  const pruneCounts = createPruneCounts(['some_data'])
  startTasks({
    supervisor,
    config: await testConfig({ 'retention.interval_sec': '300' }),
    db,
    clock,
    certificates: [],
    clockWatch: createClockWatch({ clock, log }),
    log,
    leases: createLeases({ db, clock, log, holder: 'bt1-tests', lifeMs: 15_000 }),
    features: { some: { pruners: { some_data } } },
    pruneCounts,
    sample: () => undefined,
    disk,
  })
  return {
    clock,
    pruneCounts,
    passes: () => passes,
    async dispose() {
      await supervisor.stop(1000)
      await scenario.dispose()
    },
  }
}

it('[O-CLK-2] retention waits for ten minutes after a leap of the clock', async () => {
  const { clock, passes, pruneCounts, dispose } = await setUp()
  await clock.advance(1000)
  expect(passes()).toBe(1)
  expect(pruneCounts.list()).toEqual([{ data: 'some_data', pruned_total: 1, behind: false }])
  clock.setWall(clock.nowUnixMs() + 3_600_001)
  await clock.advance(599_000)
  expect(passes()).toBe(1)
  await clock.advance(302_000)
  expect(passes()).toBe(2)
  await dispose()
})

it('[O-DSK-3] retention runs at once when the disk is nearly full', async () => {
  let becameLow = false
  const disk = { check: async () => becameLow, low: () => false }
  const { clock, passes, dispose } = await setUp({ disk })
  await clock.advance(11_000)
  expect(passes()).toBe(1)
  becameLow = true
  await clock.advance(5000)
  expect(passes()).toBe(2)
  await dispose()
})

it.each(testBackends)('[O-HLT-3] these tasks decide whether a node is ready: $name', async (on) => {
  const scenario = await openScenario(on)
  onTestFinished(() => scenario.dispose())
  const own = ['node-claim', 'scheduler', 'write-behind']
  const expected = on.name === 'postgres' ? [...own, 'revocations'] : own
  expect([...essentialTasks(scenario.api.features)].sort()).toEqual(expected.sort())
})
