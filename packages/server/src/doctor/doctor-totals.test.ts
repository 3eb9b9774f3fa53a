import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import { testBackends } from '../database/testing/backends.ts'
import { openTestApi } from '../testing/api.ts'
import { examine } from '../testing/doctor.ts'
import { openOperator } from '../testing/operator.ts'
import { rowsOf } from '../testing/tables.ts'
import { seedStore } from './doctor.fixture.ts'

const breaches: readonly [check: string, breaks: string, by: string, ids: readonly string[]][] = [
  [
    'accounts',
    'a total that misses an account',
    "UPDATE account_totals SET accounts = 0 WHERE name = 'counted'",
    ['total of accounts'],
  ],
  [
    'accounts',
    'an account that was counted twice',
    "UPDATE accounts SET counted = 0 WHERE id = 'ana'",
    ['total of accounts'],
  ],
  [
    'accounts',
    'a total that is gone',
    "DELETE FROM account_totals WHERE name = 'counted'",
    ['total of accounts'],
  ],
  [
    'groups',
    'a total that has one too many',
    "UPDATE totals SET total = total + 1 WHERE name = 'groups'",
    ['total of groups'],
  ],
  [
    'chat',
    'a total that is gone',
    "DELETE FROM totals WHERE name = 'chat_channels'",
    ['total of chat_channels'],
  ],
  [
    'sequences',
    'a total of a user that is gone',
    "DELETE FROM notification_totals WHERE user_id = 'bo'",
    ['total of notifications: user bo'],
  ],
  [
    'sequences',
    'a total of nobody',
    "INSERT INTO notification_totals (audience, user_id, total) VALUES ('user', 'cy', 1)",
    ['total of notifications: user cy'],
  ],
  [
    'sequences',
    'a notification that was counted for another',
    "UPDATE notifications SET user_id = NULL WHERE user_id = 'bo'",
    ['total of notifications: broadcast ', 'total of notifications: user bo'],
  ],
]

describe.each(testBackends)('the doctor and totals on $name', (backend) => {
  let db: OpenedDatabase
  beforeAll(async () => {
    const test = await backend.open()
    db = test.db
    await seedStore(db)
    return () => test.dispose()
  })

  const failedOf = async (db: OpenedDatabase, meddling?: readonly string[]) => {
    const bounds = { historyLimit: 1000, notificationsMax: 1000, ledgerMax: 1000 }
    const diagnoses = await examine(db, { bounds, ...(meddling && { meddling }) })
    return diagnoses
      .filter(({ ok }) => !ok)
      .map(({ name, violations, examples }) => [name, violations, examples.map(({ id }) => id)])
  }

  it.each(breaches)('[O-DOC-1] the check %s finds %s, and no other does', async (...breach) => {
    const [check, , by, ids] = breach
    expect(await failedOf(db)).toEqual([])
    expect(await failedOf(db, [by])).toEqual([[check, ids.length, ids]])
  })

  it('[O-DOC-1] finds every total right, whatever was added and removed', async () => {
    const test = await backend.open()
    onTestFinished(() => test.dispose())
    const api = await openTestApi({ db: test.db })
    const operator = await openOperator(api)
    for (let made = 1; made <= 3; made += 1) {
      await operator.send('POST', '/accounts', { username: `player ${made}` })
      await operator.send('POST', '/groups', { name: `group ${made}` })
      const message = { sender: 'ana', content: 'hello' }
      await operator.send('POST', `/chat/room-${made}/messages`, message)
      await operator.send('POST', '/notifications', { subject: 's', user_id: `user-${made % 2}` })
      await operator.send('POST', '/notifications', { subject: 's' })
    }
    await api.runTask('account-count')
    await operator.send('POST', '/accounts', { username: 'uncounted' })
    expect((await operator.send('DELETE', '/groups/2')).status).toBe(204)
    for (const id of [1, 2, 3]) {
      expect((await operator.send('DELETE', `/notifications/${id}`)).status).toBe(204)
    }
    await api.close()
    expect(await failedOf(test.db)).toEqual([])
    expect(await rowsOf(test.db, 'groups')).toHaveLength(2)
  })
})
