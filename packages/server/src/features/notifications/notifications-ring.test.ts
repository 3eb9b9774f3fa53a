import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import type { TestApi } from '../../testing/api.ts'
import { openScenario } from '../../testing/scenario.ts'
import { openNotificationOperator } from './notifications.fixture.ts'
import { notificationsStore } from './notifications.store.ts'

const withCapacity = (capacity: number) => ({ 'notifications.capacity': String(capacity) })

const waiting = statement({
  name: 'tests.waiting',
  text: `SELECT count(*) AS count FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  row: { count: 'integer' },
})

describe.each(testBackends)('the ring of notifications on $name', (backend) => {
  it('[H-NTF-2] evicts the oldest at once, from lists, totals and deletes', async () => {
    const scenario = await openScenario(backend, withCapacity(3))
    const operator = await openNotificationOperator(scenario.api)
    for (const user_id of ['ann', 'bob', 'ann']) await operator.send({ user_id })
    expect(await operator.ids()).toEqual({ ids: [3, 2, 1], total: 3 })
    await operator.send({})
    expect(await operator.ids()).toEqual({ ids: [4, 3, 2], total: 3 })
    expect(await operator.ids('?user_id=ann')).toEqual({ ids: [4, 3], total: 2 })
    expect((await operator.remove(1)).status).toBe(404)
    expect((await operator.remove(3)).status).toBe(204)
    await operator.send({ user_id: 'bob' })
    expect(await operator.ids('?user_id=bob')).toEqual({ ids: [5, 4, 2], total: 3 })
    await operator.send({})
    expect(await operator.ids('?user_id=bob')).toEqual({ ids: [6, 5, 4], total: 3 })
    expect(await operator.ids('?user_id=ann')).toEqual({ ids: [6, 4], total: 2 })
    await scenario.dispose()
  })

  it('[H-NTF-2] shows no more than a smaller capacity, also before the rest is removed', async () => {
    const scenario = await openScenario(backend, withCapacity(60))
    const large = await openNotificationOperator(scenario.api)
    for (let made = 0; made < 60; made += 1) {
      await large.send(made % 3 === 0 ? {} : { user_id: made % 3 === 1 ? 'ann' : 'bob' })
    }
    const node = await scenario.openNode(withCapacity(5))
    const small = await openNotificationOperator(node)
    expect(await small.ids()).toEqual({ ids: [60, 59, 58, 57, 56], total: 5 })
    expect(await small.ids('?user_id=bob')).toEqual({ ids: [60, 58, 57], total: 3 })
    expect(await small.ids('?user_id=bob&before=57')).toEqual({ ids: [], total: 3 })
    expect((await small.remove(55)).status).toBe(404)
    expect(await prune(node, 20)).toBe(20)
    expect(await prune(node, 40)).toBe(35)
    expect(await prune(node, 40)).toBe(0)
    expect(await large.ids()).toEqual({ ids: [60, 59, 58, 57, 56], total: 5 })
    expect(await small.ids('?user_id=bob')).toEqual({ ids: [60, 58, 57], total: 3 })
    await scenario.dispose()
  })

  it('[H-NTF-2] [O-ID-1] is what a list would be, whatever is sent and deleted', async () => {
    const capacity = 5
    const scenario = await openScenario(backend, withCapacity(capacity))
    const operator = await openNotificationOperator(scenario.api)
    const user = fc.constantFrom('ann', 'bob', undefined)
    const step = fc.oneof(fc.record({ send: user }), fc.record({ remove: fc.nat({ max: 7 }) }))
    let kept: { id: number; user_id: string | undefined }[] = []
    let newest = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        for (const each of steps) {
          if ('send' in each) {
            const user_id = each.send
            const { id } = await operator.send(user_id === undefined ? {} : { user_id })
            expect(id).toBeGreaterThan(newest)
            newest = id
            kept = [{ id, user_id }, ...kept].slice(0, capacity)
          } else {
            const id = newest - each.remove
            const isKept = kept.some((row) => row.id === id)
            if (id >= 0) expect((await operator.remove(id)).status).toBe(isKept ? 204 : 404)
            kept = kept.filter((row) => row.id !== id)
          }
        }
        for (const user_id of ['ann', 'bob']) {
          const visible = kept.filter((row) => [user_id, undefined].includes(row.user_id))
          const expected = { ids: visible.map(({ id }) => id), total: visible.length }
          expect(await operator.ids(`?user_id=${user_id}`)).toEqual(expected)
        }
        const all = { ids: kept.map(({ id }) => id), total: kept.length }
        expect(await operator.ids()).toEqual(all)
        const totals = await scenario.rowsOf('notification_totals')
        expect(totals.length).toBeLessThanOrEqual(4)
      }),
      { numRuns: 12 },
    )
    await scenario.dispose()
  })

  // Only there can one be written while another is not committed yet.
  it.runIf(backend.name === 'postgres')(
    '[H-NTF-2] is seen in the order of its ids: nobody draws one before it is its turn',
    async () => {
      const scenario = await openScenario(backend)
      const operator = await openNotificationOperator(scenario.api)
      await operator.send({})
      const row = { user_id: null, subject: 'first', content: {}, code: 0 }
      const { id, later } = await scenario.db.transaction(
        async (tx) => {
          await notificationsStore.lockTotal(tx)
          const later = operator.send({})
          const waits = async () => (await scenario.db.get(waiting, {}))?.count
          await expect.poll(waits).toBe(1)
          const rows = [{ ...row, created_at_unix_ms: 1 }]
          const [id = 0] = await notificationsStore.insert(tx, rows)
          await notificationsStore.countIn(tx, [null])
          return { id, later }
        },
        { isolation: 'read committed' },
      )
      expect((await later).id).toBeGreaterThan(id)
      await scenario.dispose()
    },
  )

  it('[H-NTF-2] holds its bound and its totals under many hands on two nodes', async () => {
    const scenario = await openScenario(backend, withCapacity(30))
    const operators = [
      await openNotificationOperator(scenario.api),
      await openNotificationOperator(await scenario.openNode()),
    ]
    const work = Array.from({ length: 100 }, async (_, index) => {
      const operator = operators[index % 2]
      if (operator === undefined) return
      const { id } = await operator.send(index % 3 === 0 ? {} : { user_id: `user-${index % 3}` })
      if (index % 10 === 0) await operator.remove(id)
    })
    await Promise.all(work)
    const [operator] = operators
    const rows = (await operator?.list('?limit=200'))?.items ?? []
    expect((await operator?.ids())?.total).toBe(rows.length)
    expect(rows.length).toBeLessThanOrEqual(30)
    expect(await scenario.countRows('notifications')).toBe(rows.length)
    for (const user of ['user-1', 'user-2', 'nobody']) {
      const visible = rows.filter(({ user_id }) => user_id === null || user_id === user)
      expect((await operator?.ids(`?user_id=${user}`))?.total).toBe(visible.length)
    }
    expect(scenario.api.failures).toEqual([])
    await scenario.dispose()
  })
})

function prune(api: TestApi, items: number): Promise<number> {
  return api.pruner('notifications')(items)
}
