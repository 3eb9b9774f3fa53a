import { setTimeout } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createPlayerSessions } from './player-sessions.fixture.ts'

const hourMs = 3_600_000
const admittedViewer = { username: 'eye', password: 'viewer password' }

describe.each(testBackends)('when players were last seen on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  let viewer: Operator
  beforeAll(async () => {
    const keys = {
      'console.viewer_username': admittedViewer.username,
      'console.viewer_password': admittedViewer.password,
    }
    scenario = await openScenario(backend, keys)
    return () => scenario.dispose()
  })
  beforeEach(openOperators)

  /** Sessions of players outlive those of operators. */
  async function openOperators(): Promise<void> {
    operator = await openOperator(scenario.api)
    viewer = await openOperator(scenario.api, admittedViewer)
  }

  const endAll = (id: string) => operator.send('POST', `/accounts/${id}/sessions/revoke`)
  const { signIn, refresh, logout, playing } = createPlayerSessions(() => scenario)

  it('[H-OPS-7] is said also after all sessions are gone', async () => {
    const ask = (id: string, by = viewer) => by.send('GET', `/accounts/${id}/last-seen`)
    const player = await playing(2)
    const { user_id } = player
    await scenario.clock.advance(1000)
    const next = await refresh(player)
    const seen = { seen_at_unix_ms: scenario.clock.nowUnixMs() }
    await scenario.clock.advance(1000)
    expect((await ask(user_id)).body).toEqual(seen)
    await logout(next)
    expect((await ask(user_id)).body).toEqual(seen)
    const left = () => scenario.rowsOf('sessions', `account_id = '${user_id}'`)
    for (const [data, hours] of [
      ['revoked_sessions', 25],
      ['expired_sessions', 721],
    ] as const) {
      const before = (await left()).length
      await scenario.clock.advance(hours * hourMs)
      await scenario.api.pruner(data)(1000)
      expect((await left()).length).toBe(before - 1)
      // The one that goes last was last used before the one that went first.
      await openOperators()
      expect((await ask(user_id)).body).toEqual(seen)
    }
    await signIn(player)
    const again = { seen_at_unix_ms: scenario.clock.nowUnixMs() }
    expect((await ask(user_id)).body).toEqual(again)
  })

  it('[H-OPS-7] is right also after tokens were given other times to live', async () => {
    const seenAt = async (id: string, by: Operator) =>
      (await by.send('GET', `/accounts/${id}/last-seen`)).body
    const lowered = await scenario.openNode({ 'sessions.access_ttl_sec': '600' })
    const both = await scenario.openNode({
      'sessions.access_ttl_sec': '600',
      'sessions.refresh_ttl_sec': '7200',
    })
    const players = [await playing(1), await playing(1), await playing(1)] as const
    const [stays, leaves, isKept] = players.map(({ user_id }) => user_id) as [string, ...string[]]
    const seen = { seen_at_unix_ms: scenario.clock.nowUnixMs() }
    await scenario.clock.advance(1000)
    const left = { seen_at_unix_ms: scenario.clock.nowUnixMs() }
    await logout(players[1])
    await scenario.clock.advance(1000)
    expect(await seenAt(stays, await openOperator(lowered))).toEqual(seen)
    const now = { seen_at_unix_ms: scenario.clock.nowUnixMs() }
    const ofBoth = await openOperator(both)
    // Where neither is of use, it is no time to come, and none after the end of the session.
    expect(await seenAt(stays, ofBoth)).toEqual(now)
    expect(await seenAt(String(leaves), ofBoth)).toEqual(left)
    await logout(players[2])
    await scenario.clock.advance(25 * hourMs)
    await both.pruner('revoked_sessions')(1000)
    const [kept] = await scenario.rowsOf('account_last_seen', `account_id = '${isKept}'`)
    expect(Number(kept?.seen_at_unix_ms)).toBe(now.seen_at_unix_ms)
  })

  it.each(['before', 'after'])(
    '[H-ACC-6] of a player who is deleted nothing is kept %s the sessions are removed',
    async (when) => {
      const { user_id } = await playing(2)
      const prune = async () => {
        await scenario.clock.advance(25 * hourMs)
        await openOperators()
        await scenario.api.pruner('revoked_sessions')(1000)
      }
      const kept = () => scenario.rowsOf('account_last_seen', `account_id = '${user_id}'`)
      if (when === 'after') {
        await endAll(user_id)
        await prune()
        expect(await kept()).toHaveLength(1)
      }
      expect((await operator.send('DELETE', `/accounts/${user_id}`)).status).toBe(204)
      await prune()
      expect(await scenario.rowsOf('sessions', `account_id = '${user_id}'`)).toEqual([])
      expect(await kept()).toEqual([])
      const answer = await operator.send('GET', `/accounts/${user_id}/last-seen`)
      expect([answer.status, answer.body]).toEqual([200, { seen_at_unix_ms: null }])
    },
  )

  // Elsewhere one transaction runs after the other.
  it.runIf(backend.name === 'postgres')(
    '[H-ACC-6] nothing is kept of a player who is deleted while sessions are removed',
    async () => {
      const { user_id } = await playing(1)
      await endAll(user_id)
      await scenario.clock.advance(25 * hourMs)
      await openOperators()
      let deletion: Promise<{ status: number }> | undefined
      const removed = await scenario.api.pruner('revoked_sessions')(1000, (work) =>
        scenario.db.transaction(async (tx) => {
          const count = await work(tx)
          deletion ??= operator.send('DELETE', `/accounts/${user_id}`)
          // Whoever does not wait for this commit is done by then.
          await Promise.race([deletion, setTimeout(500)])
          return count
        }),
      )
      expect(removed).toBeGreaterThan(0)
      expect((await deletion)?.status).toBe(204)
      expect(await scenario.rowsOf('account_last_seen', `account_id = '${user_id}'`)).toEqual([])
    },
  )

  it('[H-OPS-7] is not said of who never signed in, or is not there', async () => {
    const made = await operator.send('POST', '/accounts', { username: 'never-came' })
    const { id } = made.body as { id: string }
    const answer = await viewer.send('GET', `/accounts/${id}/last-seen`)
    expect([answer.status, answer.body]).toEqual([200, { seen_at_unix_ms: null }])
    expect((await viewer.send('GET', '/accounts/nobody/last-seen')).status).toBe(404)
  })
})
