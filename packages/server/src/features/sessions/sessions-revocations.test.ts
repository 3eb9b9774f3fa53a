import { expect, it, onTestFinished } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario } from '../../testing/scenario.ts'
import { createRevocations } from './sessions.revocations.ts'

async function setUp() {
  const [inMemory] = testBackends
  if (inMemory === undefined) throw new Error('there is no backend')
  const scenario = await openScenario(inMemory)
  onTestFinished(() => scenario.dispose())
  const { db, clock } = scenario
  const seen = { closed: [] as string[], revalidated: 0 }
  const backend = { answers: true }
  const read = createRevocations({
    db,
    clock,
    gateway: {
      closeSessions: (sessionIds) => void seen.closed.push(...sessionIds),
      async revalidate() {
        if (!backend.answers) throw new Error('the database is gone')
        seen.revalidated += 1
      },
    },
  })
  return { scenario, clock, read, seen, backend }
}

it('[R-REV-2] gives the gateway what the feed brings', async () => {
  const { scenario, read, seen } = await setUp()
  const { token } = await scenario.signUp()
  await read()
  expect(seen.closed).toEqual([])
  await scenario.api.call('POST', '/v1/session/logout', { token })
  await read()
  expect(seen.closed).toEqual(scenario.api.revoked)
  expect(seen).toMatchObject({ closed: [expect.any(String)], revalidated: 0 })
})

it('[R-REV-3] asks about all sessions again when it could not read for more than 5 s', async () => {
  const { clock, read, seen } = await setUp()
  await read()
  await clock.advance(5000)
  await read()
  expect(seen.revalidated).toBe(0)
  await clock.advance(5001)
  await read()
  expect(seen.revalidated).toBe(1)
  await read()
  expect(seen.revalidated).toBe(1)
})

it('[R-REV-3] tries that again until it could ask', async () => {
  const { clock, read, seen, backend } = await setUp()
  await clock.advance(5001)
  backend.answers = false
  await expect(read()).rejects.toThrow('the database is gone')
  await expect(read()).rejects.toThrow('the database is gone')
  backend.answers = true
  await read()
  expect(seen.revalidated).toBe(1)
})
