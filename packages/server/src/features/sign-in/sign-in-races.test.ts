import { SessionTokens } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { TestApi } from '../../testing/api.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

describe.each(testBackends)('registrations at the same time on $name', (backend) => {
  let scenario: Scenario
  let nodes: [TestApi, TestApi]
  beforeAll(async () => {
    scenario = await openScenario(backend)
    nodes = [scenario.api, await scenario.openNode()]
    return () => scenario.dispose()
  })

  /** Sends all bodies at once, to both nodes in turn, and sums up what came back. */
  async function race(method: string, bodies: readonly object[]) {
    const before = await counts()
    const answers = await Promise.all(
      bodies.map((body, index) => {
        const node = index % 2 === 0 ? nodes[0] : nodes[1]
        return node.call('POST', `/v1/auth/${method}`, { body: { ...body, create: true } })
      }),
    )
    const after = await counts()
    const good = answers.filter(({ status }) => status < 300)
    const sessions = good.map(({ body }) => SessionTokens().parse(body))
    return {
      statuses: tally(answers.map(({ status }) => status)),
      sessions,
      users: new Set(sessions.map(({ user_id }) => user_id)).size,
      added: after.map((count, index) => count - (before[index] ?? 0)),
    }
  }

  const counts = () =>
    Promise.all(['accounts', 'identities', 'sessions'].map((name) => scenario.countRows(name)))

  it.each([2, 50])(
    '[H-PLY-4] registers one new credential once, however many of %i ask with one username',
    async (number) => {
      const body = { id: `same-${number}`, username: `same-${number}` }
      const { statuses, users, sessions, added } = await race('device', Array(number).fill(body))
      expect(statuses).toEqual({ 200: number - 1, 201: 1 })
      expect(users).toBe(1)
      expect(sessions.filter(({ created }) => created)).toHaveLength(1)
      expect(added).toEqual([1, 1, number])
    },
  )

  it.each([2, 50])(
    '[H-PLY-4] registers one new credential once, however many of %i ask with usernames of their own',
    async (number) => {
      const bodies = Array.from({ length: number }, (_, index) => {
        return { id: `own-${number}`, username: `own-${number}-${index}` }
      })
      const { statuses, users, sessions, added } = await race('custom', bodies)
      expect(statuses).toEqual({ 200: number - 1, 201: 1 })
      expect(users).toBe(1)
      expect(new Set(sessions.map(({ username }) => username)).size).toBe(1)
      expect(added).toEqual([1, 1, number])
    },
  )

  it('[H-PLY-4] registers one new email once, and checks the password of everybody else', async () => {
    const body = { email: 'race@example.com', username: 'race' }
    const right = { ...body, password: 'right horse battery' }
    const { statuses, users } = await race('email', Array(8).fill(right))
    expect(statuses).toEqual({ 200: 7, 201: 1 })
    expect(users).toBe(1)
    const wrong = { ...body, password: 'wrong horse battery' }
    expect((await race('email', [wrong, right])).statuses).toEqual({ 200: 1, 401: 1 })
  })

  it('[H-PLY-4] [H-PLY-6] lets nobody in who registers an email beside its owner with another password', async () => {
    const bodies = Array.from({ length: 4 }, (_, index) => {
      return { email: 'beside@example.com', username: 'beside', password: `password ${index}` }
    })
    const { statuses, added } = await race('email', bodies)
    expect(statuses).toEqual({ 201: 1, 401: 3 })
    expect(added).toEqual([1, 1, 1])
  })

  it('[H-PLY-4] gives one new username to one of many credentials', async () => {
    const bodies = Array.from({ length: 30 }, (_, index) => {
      return { id: `claim-${index}`, username: 'claimed' }
    })
    const { statuses, added } = await race('device', bodies)
    expect(statuses).toEqual({ 201: 1, 409: 29 })
    expect(added).toEqual([1, 1, 1])
  })

  it('[H-PLY-4] decides each of many unlike registrations by itself', async () => {
    await race('device', [{ id: 'mixed-known', username: 'mixed-known' }])
    const strangers = Array.from({ length: 20 }, (_, index) => {
      return { id: `mixed-${index}`, username: `mixed-${index}` }
    })
    const { statuses, users, added } = await race('device', [
      ...strangers,
      { id: 'mixed-known', username: 'mixed-other' },
      { id: 'mixed-a', username: 'mixed-known' },
      { id: 'mixed-twice', username: 'mixed-b' },
      { id: 'mixed-twice', username: 'mixed-c' },
    ])
    expect(statuses).toEqual({ 200: 2, 201: 21, 409: 1 })
    expect(users).toBe(22)
    expect(added).toEqual([21, 21, 23])
  })

  it('[O-TX-5] registers unrelated players at the same time without a conflict', async () => {
    const bodies = Array.from({ length: 60 }, (_, index) => {
      return { id: `unrelated-${index}`, username: `unrelated-${index}` }
    })
    const { statuses, users, added } = await race('device', bodies)
    expect(statuses).toEqual({ 201: 60 })
    expect(users).toBe(60)
    expect(added).toEqual([60, 60, 60])
    expect(nodes.flatMap(({ failures }) => failures)).toEqual([])
  })
})

function tally(values: readonly number[]): Record<number, number> {
  const sums: Record<number, number> = {}
  for (const value of values) sums[value] = (sums[value] ?? 0) + 1
  return sums
}
