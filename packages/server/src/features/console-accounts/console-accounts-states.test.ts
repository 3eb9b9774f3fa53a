import { AccountDetail, SessionTokens } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { TestApi } from '../../testing/api.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario, type SignedUp } from '../../testing/scenario.ts'
import { createRevocationReader } from '../sessions/sessions.jobs.ts'

const unauthenticated = { code: 'authentication_failed', message: 'authentication failed' }

describe.each(testBackends)('bans and deletions on $name', (backend) => {
  let scenario: Scenario
  let nodes: [TestApi, TestApi]
  let operator: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    nodes = [scenario.api, await scenario.openNode()]
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  const ban = (id: string) => operator.send('POST', `/accounts/${id}/ban`)
  const unban = (id: string) => operator.send('POST', `/accounts/${id}/unban`)
  const remove = (id: string) => operator.send('DELETE', `/accounts/${id}`)
  const trailOf = (id: string) => operator.trailOf(`account ${id}`)
  const signIn = (device: string, on = scenario.api) =>
    on.call('POST', '/v1/auth/device', { body: { id: device } })
  const read = (token: string, on: TestApi) => on.call('GET', '/v1/account', { token })
  const sessionsOf = (id: string) => scenario.rowsOf('sessions', `account_id = '${id}'`)
  const stored = async (id: string) => {
    const answer = await operator.send('GET', `/accounts/${id}`)
    return AccountDetail().parse(answer.body)
  }

  /** A player with three sessions, of which one has ended already. */
  async function playing(): Promise<SignedUp & { tokens: string[] }> {
    const player = await scenario.signUp()
    const second = SessionTokens().parse((await signIn(player.device)).body)
    const ended = SessionTokens().parse((await signIn(player.device)).body)
    await scenario.api.call('POST', '/v1/session/logout', { token: ended.token })
    return { ...player, tokens: [player.token, second.token] }
  }

  it('[H-ACC-5] ends every session on every node at once, and lets nobody in', async () => {
    const player = await playing()
    const id = player.user_id
    for (const node of nodes) expect((await read(player.token, node)).status).toBe(200)
    const [revokedBefore, seen] = [scenario.api.revoked.length, [] as string[]]
    const readFeed = createRevocationReader(scenario.db, scenario.clock, (ids) => seen.push(...ids))
    await readFeed()
    seen.splice(0)
    await scenario.clock.advance(1000)
    const now = scenario.clock.nowUnixMs()
    const answer = await ban(id)
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { id, state: 'disabled', updated_at_unix_ms: now },
    ])
    for (const node of nodes) {
      for (const token of player.tokens) {
        const refused = await read(token, node)
        expect([refused.status, refused.body]).toEqual([401, unauthenticated])
      }
      expect((await signIn(player.device, node)).body).toEqual(unauthenticated)
    }
    const body = { refresh_token: player.refresh_token }
    expect((await nodes[1].call('POST', '/v1/session/refresh', { body })).status).toBe(401)
    const rows = await sessionsOf(id)
    expect(rows.filter((row) => Number(row.revoked_at_unix_ms) === now)).toHaveLength(2)
    expect(rows.filter((row) => row.revoked_at_unix_ms === null)).toEqual([])
    // The serving node closes their connections, the others hear of it from the feed.
    await readFeed()
    const ended = rows.filter((row) => Number(row.revoked_at_unix_ms) === now).map((row) => row.id)
    expect(scenario.api.revoked.slice(revokedBefore).sort()).toEqual(ended.sort())
    expect(seen.sort()).toEqual(ended)
    expect(await trailOf(id)).toEqual([['accounts.ban', 'state=disabled sessions_revoked=2']])
  })

  it('[H-ACC-5] changes nothing when it is banned, or not banned, already', async () => {
    const { user_id: id, token } = await scenario.signUp()
    const before = await stored(id)
    await scenario.clock.advance(1000)
    expect((await unban(id)).body).toMatchObject({ updated_at_unix_ms: before.updated_at_unix_ms })
    expect(await stored(id)).toEqual(before)
    expect((await read(token, scenario.api)).status).toBe(200)
    const banned = await ban(id)
    await scenario.clock.advance(1000)
    const again = await ban(id)
    expect([again.status, again.body]).toEqual([200, banned.body])
    expect(await trailOf(id)).toEqual([
      ['accounts.unban', 'state=active sessions_revoked=0'],
      ['accounts.ban', 'state=disabled sessions_revoked=1'],
      ['accounts.ban', 'state=disabled sessions_revoked=0'],
    ])
  })

  it('[H-ACC-5] lets a player in again, but no session that the ban ended', async () => {
    const player = await scenario.signUp()
    const id = player.user_id
    await ban(id)
    await scenario.clock.advance(1000)
    const answer = await unban(id)
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { state: 'active', updated_at_unix_ms: scenario.clock.nowUnixMs() },
    ])
    expect((await read(player.token, scenario.api)).status).toBe(401)
    const body = { refresh_token: player.refresh_token }
    expect((await scenario.api.call('POST', '/v1/session/refresh', { body })).status).toBe(401)
    const fresh = await signIn(player.device)
    expect([fresh.status, fresh.body]).toMatchObject([200, { user_id: id, created: false }])
  })

  it('[H-ACC-6] deletes: unlinks, ends, keeps the name, the record and the audit', async () => {
    const player = await playing()
    const { user_id: id, username } = player
    const before = await stored(id)
    await scenario.clock.advance(1000)
    const answer = await remove(id)
    expect([answer.status, answer.text]).toEqual([204, ''])
    const after = { ...before, state: 'tombstoned', updated_at_unix_ms: scenario.clock.nowUnixMs() }
    expect(await stored(id)).toEqual({ ...after, identities: [] })
    expect(await scenario.rowsOf('identities', `account_id = '${id}'`)).toEqual([])
    for (const row of await sessionsOf(id)) expect(row.revoked_at_unix_ms).not.toBeNull()
    for (const node of nodes) expect((await read(player.token, node)).status).toBe(401)
    expect((await signIn(player.device)).status).toBe(401)
    const listed = await operator.send('GET', `/accounts?filter=${id}`)
    expect(listed.body).toMatchObject({ items: [{ id, state: 'tombstoned' }], total: 1 })

    const create = { id: player.device, create: true, username }
    const reserved = await scenario.api.call('POST', '/v1/auth/device', { body: create })
    expect(reserved.status).toBe(409)
    const renewed = await scenario.api.call('POST', '/v1/auth/device', {
      body: { ...create, username: `${username} again` },
    })
    expect([renewed.status, SessionTokens().parse(renewed.body).user_id === id]).toEqual([
      201,
      false,
    ])

    await scenario.clock.advance(1000)
    expect((await remove(id)).status).toBe(204)
    expect(await stored(id)).toEqual({ ...after, identities: [] })
    expect(await trailOf(id)).toEqual([
      ['accounts.delete', 'credentials_unlinked=1 sessions_revoked=2'],
      ['accounts.delete', 'credentials_unlinked=0 sessions_revoked=0'],
    ])
  })

  it('[H-ACC-5] [H-ACC-6] deletes the banned, and neither bans nor unbans the deleted', async () => {
    const { user_id: id } = await scenario.signUp()
    await ban(id)
    expect((await remove(id)).status).toBe(204)
    const before = [await stored(id), await trailOf(id)]
    await scenario.clock.advance(1000)
    for (const answer of [await ban(id), await unban(id)]) {
      expect([answer.status, answer.body]).toEqual([
        409,
        { code: 'conflict', message: 'the account is deleted' },
      ])
    }
    expect([await stored(id), await trailOf(id)]).toEqual(before)
  })

  it.each(['ban', 'delete'] as const)(
    '[H-ACC-5] [H-ACC-6] leaves no session behind when players sign in during a %s',
    async (what) => {
      for (let round = 0; round < 6; round += 1) {
        const player = await scenario.signUp()
        const id = player.user_id
        const sign = (turn: number) => signIn(player.device, nodes[turn % 2])
        const refresh = nodes[1].call('POST', '/v1/session/refresh', {
          body: { refresh_token: player.refresh_token },
        })
        const early = Array.from({ length: round + 2 }, (_, turn) => sign(turn))
        const ended = what === 'ban' ? ban(id) : remove(id)
        const late = Array.from({ length: round + 2 }, (_, turn) => sign(turn))
        const answers = await Promise.all([...early, refresh, ...late])
        expect((await ended).status).toBe(what === 'ban' ? 200 : 204)
        const rows = await sessionsOf(id)
        expect(rows.filter((row) => row.revoked_at_unix_ms === null)).toEqual([])
        const announced = await scenario.rowsOf('session_revocations')
        const seen = new Set(announced.map(({ session_id }) => session_id))
        expect(rows.filter((row) => !seen.has(row.id ?? null))).toEqual([])
        for (const { status } of answers) expect([200, 401]).toContain(status)
      }
      expect(nodes.flatMap(({ failures }) => failures)).toEqual([])
    },
  )

  it('[H-ACC-5] keeps one consistent history when bans, unbans and a deletion meet', async () => {
    const { user_id: id } = await scenario.signUp()
    const operators = [operator, await openOperator(nodes[1])]
    const work = Array.from({ length: 12 }, (_, turn) => {
      if (turn === 8) return ['DELETE', `/accounts/${id}`] as const
      return ['POST', `/accounts/${id}/${turn % 2 === 0 ? 'ban' : 'unban'}`] as const
    })
    const statuses = await Promise.all(
      work.map(async ([method, path], turn) => {
        const at = turn % 3 === 0 ? operators[0] : operators[1]
        return (await at?.send(method, path))?.status
      }),
    )
    expect((await stored(id)).state).toBe('tombstoned')
    expect(statuses[8]).toBe(204)
    const done = statuses.filter((status) => status === 200 || status === 204)
    const refused = statuses.filter((status) => status === 409)
    expect(done.length + refused.length).toBe(work.length)
    const trails = await Promise.all(operators.map((each) => each.trailOf(`account ${id}`)))
    // In memory each node reports its own; otherwise either of all.
    const recorded = backend.name === 'in-memory' ? trails.flat() : (trails[0] ?? [])
    expect(recorded).toHaveLength(done.length)
  })
})
