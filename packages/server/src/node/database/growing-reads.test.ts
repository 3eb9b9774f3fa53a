import { expect, it } from 'vitest'
import type { Database } from '../../database/database.ts'
import { textFor } from '../../database/engine/dialect.ts'
import type { Statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { openTestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'

/** Lists of operators that have no pages, and what is counted for them. */
const routes = [
  ...['/leaderboards', '/tournaments', '/tournaments/cup/entries', '/tournaments/cup/results'],
  ...['/storage', '/api-keys', '/accounts?filter=a', '/groups?filter=a', '/chat'],
  ...['/accounts/{id}/friends', '/accounts/{id}/wallet', '/accounts/{id}/sessions'],
]

const schedule = {
  registration_opens_at_unix_ms: 1,
  registration_closes_at_unix_ms: 2,
  starts_at_unix_ms: 2,
  ends_at_unix_ms: 3,
}

/** Reads without a page whose rows have a bound of their own. */
const bounded: Record<string, string> = {
  'accounts.exists': 'one row',
  'tournaments.by-id': 'one row',
  'totals.of': 'one row',
  'api-keys.list': 'keys that the admin has made',
  'wallet.balances': 'currencies of one account',
}

it.each(testBackends)(
  '[O-FLT-1, H-GEN-35] what an operator reads of a table that grows holds up nobody on $name',
  async (backend) => {
    const stored = await backend.open()
    const heldUp = new Set<string>()
    const note = (statement: Statement) => {
      const isPaged = textFor('sqlite', statement).includes('LIMIT')
      if (!statement.long && !isPaged) heldUp.add(statement.name)
    }
    const { db } = stored
    const watched: Database = {
      ...db,
      all(statement, params) {
        note(statement)
        return db.all(statement, params)
      },
      get(statement, params) {
        note(statement)
        return db.get(statement, params)
      },
    }
    const api = await openTestApi({ db: watched })
    const operator = await openOperator(api)
    const account = await operator.send('POST', '/accounts', { username: 'ann' })
    const { id } = account.body as { id: string }
    await operator.send('POST', '/leaderboards', { id: 'board', sort: 'desc', operator: 'best' })
    await operator.send('POST', '/tournaments', { id: 'cup', leaderboard_id: 'board', ...schedule })
    heldUp.clear()
    for (const route of routes) {
      const { status } = await operator.send('GET', route.replace('{id}', id))
      expect([route, status]).toEqual([route, 200])
    }
    expect([...heldUp].filter((name) => !(name in bounded))).toEqual([])
    expect(api.failures).toEqual([])
    await api.close()
    await stored.dispose()
  },
)
