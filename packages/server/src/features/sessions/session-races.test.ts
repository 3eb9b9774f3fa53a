import { SessionTokens } from '@guildhall/contract'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Transaction } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import type { TestApi } from '../../testing/api.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { sessionsStore } from './sessions.store.ts'

/**
 * On PostgreSQL transactions run beside each other. Here one holds the row of a session, until all
 * that shall meet there have read it and wait to change it: so they meet in every run.
 */
describe('sessions that several change at once on postgres', () => {
  let scenario: Scenario
  let nodes: [TestApi, TestApi]
  beforeAll(async () => {
    const postgres = testBackends.find(({ name }) => name === 'postgres')
    if (postgres === undefined) throw new Error('there is no PostgreSQL')
    scenario = await openScenario(postgres)
    nodes = [scenario.api, await scenario.openNode()]
    return () => scenario.dispose()
  })

  const refresh = (refresh_token: string, on: TestApi) =>
    on.call('POST', '/v1/session/refresh', { body: { refresh_token } })
  const isLive = async (token: string) =>
    (await scenario.api.call('GET', '/v1/account', { token })).status === 200

  /** Sends the refreshes while `change` is made and not committed; answers with their statuses. */
  async function meet(player: SessionTokens, change: (tx: Transaction, id: string) => unknown) {
    const [session] = await scenario.rowsOf('sessions', `account_id = '${player.user_id}'`)
    const answers = await scenario.db.transaction(
      async (tx) => {
        await change(tx, String(session?.id))
        const sent = nodes.map((node) => refresh(player.refresh_token, node))
        await vi.waitFor(async () => {
          expect(await scenario.db.get(waiting, {})).toEqual({ number: nodes.length })
        })
        return () => Promise.all(sent)
      },
      { isolation: 'read committed' },
    )
    return answers()
  }

  it('[H-PLY-10] lets one of two refreshes win that both found the session', async () => {
    const player = await scenario.signUp()
    const answers = await meet(player, (tx, id) => tx.run(holdSession, { id }))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    const won = answers.find(({ status }) => status === 200)
    expect(await isLive(SessionTokens().parse(won?.body).token)).toBe(true)
    expect(await isLive(player.token)).toBe(false)
  })

  it('[H-PLY-10] [H-PLY-13] refuses refreshes that found the session while its logout went on', async () => {
    const player = await scenario.signUp()
    const now_unix_ms = scenario.clock.nowUnixMs()
    const answers = await meet(player, (tx, id) => sessionsStore.revoke(tx, { id, now_unix_ms }))
    expect(answers.map(({ status }) => status)).toEqual([401, 401])
    const rows = await scenario.rowsOf('sessions', `account_id = '${player.user_id}'`)
    expect(rows).toEqual([expect.objectContaining({ revoked_at_unix_ms: BigInt(now_unix_ms) })])
    expect(await isLive(player.token)).toBe(false)
  })
})

describe.each(testBackends)('sessions that are opened at once on $name', (backend) => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await openScenario(backend)
    return () => scenario.dispose()
  })

  it('[H-PLY-3] gives each player of one moment the own session, and none to the banned', async () => {
    const players = await Promise.all(Array.from({ length: 12 }, () => scenario.signUp()))
    const banned = players.filter((_, index) => index % 4 === 1)
    for (const { user_id } of banned) await scenario.setState(user_id, 'disabled')
    const answers = await Promise.all(
      players.map(({ device }) =>
        scenario.api.call('POST', '/v1/auth/device', { body: { id: device } }),
      ),
    )
    for (const [index, { user_id, username, ...player }] of players.entries()) {
      const answer = answers[index]
      const isBanned = banned.some((each) => each.user_id === user_id)
      expect([player.device, answer?.status]).toEqual([player.device, isBanned ? 401 : 200])
      if (isBanned) continue
      const { token } = SessionTokens().parse(answer?.body)
      expect(answer?.body).toMatchObject({ user_id, username, created: false })
      expect((await scenario.api.call('GET', '/v1/account', { token })).body).toEqual({
        user_id,
        username,
      })
    }
  })

  it('[H-AUTH-2] opens none for an account that was banned behind the check of a password', async () => {
    const { open } = scenario.api.features.sessions
    const players = await Promise.all(Array.from({ length: 3 }, () => scenario.signUp()))
    const owners = players.map(({ user_id, username }) => ({ account_id: user_id, username }))
    await scenario.setState(owners[1]?.account_id ?? '', 'disabled')
    const opened = await Promise.allSettled(owners.map((owner) => open(owner)))
    expect(opened.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(opened[1]).toMatchObject({ reason: { code: 'authentication_failed' } })
  })

  it('[R-REV-3] says which sessions are still live: not ended, not expired, of an active account', async () => {
    const { liveOf } = scenario.api.features.sessions
    const [kept, ended, banned] = [
      await scenario.signUp(),
      await scenario.signUp(),
      await scenario.signUp(),
    ]
    const ids: string[] = []
    for (const { user_id } of [kept, ended, banned]) {
      const [row] = await scenario.rowsOf('sessions', `account_id = '${user_id}'`)
      ids.push(String(row?.id))
    }
    expect(await liveOf([...ids, 'unknown'])).toEqual(new Set(ids))
    await scenario.api.call('POST', '/v1/session/logout', { token: ended.token })
    await scenario.setState(banned.user_id, 'disabled')
    expect(await liveOf([...ids, 'unknown'])).toEqual(new Set(ids.slice(0, 1)))
    await scenario.clock.advance(2_592_000_000 - 1)
    expect(await liveOf(ids)).toEqual(new Set(ids.slice(0, 1)))
    await scenario.clock.advance(1)
    expect(await liveOf(ids)).toEqual(new Set())
  })
})

const holdSession = statement({
  name: 'tests.hold-session',
  text: 'UPDATE sessions SET created_at_unix_ms = created_at_unix_ms WHERE id = :id',
  params: { id: 'text' },
})

/** How many wait for a row that another transaction holds. */
const waiting = statement({
  name: 'tests.waiting-for-locks',
  text: `SELECT count(*) AS number FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  row: { number: 'integer' },
})
