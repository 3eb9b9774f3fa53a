import { expect, it } from 'vitest'
import { createLeases } from '../database/jobs/leases.ts'
import { testBackends } from '../database/testing/backends.ts'
import { openKeyOperator } from '../features/api-keys/api-keys.fixture.ts'
import { createPruneCounts } from '../kernel/tasks/retention.ts'
import { createSupervisor } from '../kernel/tasks/supervisor.ts'
import { createClockWatch } from '../kernel/time/clock-watch.ts'
import { createCaller } from '../testing/api.ts'
import { testConfig } from '../testing/config.ts'
import { startNodeProcess } from '../testing/node-process.ts'
import { openScenario } from '../testing/scenario.ts'
import { rowsOf } from '../testing/tables.ts'
import { startTasks } from './tasks.ts'

const backendNamed = (wanted: string) => {
  const backend = testBackends.find(({ name }) => name === wanted)
  if (backend === undefined) throw new Error(`there is no backend ${wanted}`)
  return backend
}

it('[H-KEY-6] [O-TSK-1] the task key-use writes uses every five seconds', async () => {
  const scenario = await openScenario(backendNamed('in-memory'))
  const { clock, db, api } = scenario
  const operator = await openKeyOperator(api)
  const { key, secret } = await operator.make({})
  const supervisor = createSupervisor({ clock, log: api.log, journal: { record: () => '' } })
  startTasks({
    sample: () => undefined,
    supervisor,
    config: await testConfig(),
    db,
    clock,
    log: api.log,
    leases: createLeases({ db, clock, log: api.log, holder: 'bt1-tests', lifeMs: 15_000 }),
    certificates: [],
    clockWatch: createClockWatch({ clock, log: api.log }),
    features: api.features,
    pruneCounts: createPruneCounts([]),
  })
  expect(supervisor.status().map(({ name }) => name)).toContain('key-use')
  const storedUse = async () => {
    const [row] = await scenario.rowsOf('api_keys', `id = '${key.id}'`)
    return row?.last_used_at
  }
  await clock.advance(1000)
  await operator.me(secret)
  const used = clock.nowUnixMs()
  await clock.advance(3999)
  expect(await storedUse()).toBeNull()
  await clock.advance(1)
  await expect.poll(storedUse).toBe(BigInt(used))
  await supervisor.stop(1000)
  await scenario.dispose()
})

it('[H-KEY-6] [O-STP-2] a node that stops writes the uses that it has noted', async () => {
  const test = await backendNamed('sqlite').open()
  await test.db.close()
  const node = await startNodeProcess({ 'database.url': test.url })
  const operator = await openKeyOperator({ call: createCaller(node.url) })
  const { key, secret } = await operator.make({})
  // The task runs at the start and then every five seconds, so it has not seen this use.
  expect((await operator.me(secret)).status).toBe(200)
  expect(await node.stop()).toBe(0)
  expect(node.output()).not.toContain(secret)
  const [row] = await rowsOf(await test.reopen(), 'api_keys', `id = '${key.id}'`)
  expect(Number(row?.last_used_at)).toBeGreaterThanOrEqual(key.created_at)
  await test.dispose()
})
