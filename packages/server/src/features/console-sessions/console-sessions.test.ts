import { consoleSessionsApi, type SessionTokens } from '@guildhall/contract'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { TestApi } from '../../testing/api.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { dump } from '../../testing/tables.ts'
import { createRevocationReader } from '../sessions/sessions.jobs.ts'
import { createPlayerSessions } from './player-sessions.fixture.ts'

const hourMs = 3_600_000
const accessTtlMs = hourMs
const refreshTtlMs = 720 * hourMs
const admittedViewer = { username: 'eye', password: 'viewer password' }

describe.each(testBackends)('sessions at the console on $name', (backend) => {
  let scenario: Scenario
  let nodes: [TestApi, TestApi]
  let operator: Operator
  let viewer: Operator
  beforeAll(async () => {
    const keys = {
      'console.viewer_username': admittedViewer.username,
      'console.viewer_password': admittedViewer.password,
    }
    scenario = await openScenario(backend, keys)
    nodes = [scenario.api, await scenario.openNode()]
    return () => scenario.dispose()
  })
  beforeEach(openOperators)

  /** Sessions of players outlive those of operators. */
  async function openOperators(): Promise<void> {
    operator = await openOperator(scenario.api)
    viewer = await openOperator(scenario.api, admittedViewer)
  }

  const read = (id: string, query = '', by = operator) =>
    by.send('GET', `/accounts/${id}/sessions${query}`)
  const list = async (id: string, query = '') =>
    consoleSessionsApi.list.ok.parse((await read(id, query)).body)
  const idsOf = async (id: string) => (await list(id)).items.map((session) => session.id)
  const end = (id: string, session: string, headers = {}) =>
    operator.send('POST', `/accounts/${id}/sessions/${session}/revoke`, undefined, headers)
  const endAll = (id: string, headers = {}) =>
    operator.send('POST', `/accounts/${id}/sessions/revoke`, undefined, headers)
  const trailOf = async (id: string) => (await operator.trailOf(`account ${id}`)).slice(-9)
  const profile = async (token: string, on = scenario.api) =>
    (await on.call('GET', '/v1/account', { token })).status
  const { signIn, refresh, logout, playing } = createPlayerSessions(() => scenario)

  it('[H-ACC-7] are listed newest first, with their times, and move on with a refresh', async () => {
    const beganAt = scenario.clock.nowUnixMs()
    const player = await playing(3)
    const { items, total } = await list(player.user_id)
    const times = [2000, 1000, 0].map((after) => beganAt + after)
    expect(items).toEqual(
      times.map((at) => ({
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        created_at_unix_ms: at,
        access_expires_at_unix_ms: at + accessTtlMs,
        refresh_expires_at_unix_ms: at + refreshTtlMs,
        connected: false,
      })),
    )
    expect(total).toBe(3)
    await scenario.clock.advance(1000)
    await refresh(player)
    const [, , oldest] = items
    expect((await list(player.user_id)).items[2]).toEqual({
      ...oldest,
      access_expires_at_unix_ms: beganAt + 3000 + accessTtlMs,
      refresh_expires_at_unix_ms: beganAt + 3000 + refreshTtlMs,
    })
    expect((await read(player.user_id, '', viewer)).body).toEqual(await list(player.user_id))
  })

  it('[H-ACC-1] show neither tokens nor digests, and an id lets nobody in', async () => {
    const player = await playing(2)
    const { text } = await read(player.user_id)
    const rows = await scenario.rowsOf('sessions', `account_id = '${player.user_id}'`)
    const digests = rows.flatMap(({ access_digest, refresh_digest }) => [
      access_digest,
      refresh_digest,
    ])
    expect(digests).toHaveLength(4)
    for (const digest of digests as Uint8Array[]) {
      for (const form of ['hex', 'base64', 'base64url'] as const) {
        expect(text).not.toContain(Buffer.from(digest).toString(form).slice(0, 20))
      }
    }
    for (const { token, refresh_token } of player.all) {
      expect(text).not.toContain(token.slice(-20))
      expect(text).not.toContain(refresh_token.slice(-20))
    }
    for (const id of await idsOf(player.user_id)) {
      expect(await profile(id)).toBe(401)
      expect(await profile(`gh.access.${id}`)).toBe(401)
      const body = { refresh_token: id }
      expect((await scenario.api.call('POST', '/v1/session/refresh', { body })).status).toBe(401)
    }
  })

  it('[H-ACC-7] leave out what has ended, has run out, or belongs to somebody else', async () => {
    const player = await playing(3)
    const [, second, third] = player.all as [SessionTokens, SessionTokens, SessionTokens]
    await scenario.signUp()
    await logout(third)
    expect((await list(player.user_id)).total).toBe(2)
    await scenario.clock.advance(refreshTtlMs - 2001)
    await openOperators()
    expect((await list(player.user_id)).total).toBe(2)
    await refresh(second)
    await scenario.clock.advance(1)
    const [, left] = await scenario.rowsOf(
      'sessions',
      `account_id = '${player.user_id}' AND revoked_at_unix_ms IS NULL ORDER BY created_at_unix_ms`,
    )
    expect(await list(player.user_id)).toMatchObject({ items: [{ id: left?.id }], total: 1 })
  })

  it('[H-GEN-26] come in pages of at most 200, however many there are', async () => {
    const player = await playing(1)
    await Promise.all(Array.from({ length: 230 }, () => signIn(player)))
    const { user_id } = player
    const counts = async (query: string) => {
      const { items, total } = await list(user_id, query)
      return [items.length, total]
    }
    expect(await counts('')).toEqual([50, 231])
    expect(await counts('?limit=5000')).toEqual([200, 231])
    expect(await counts('?offset=231')).toEqual([0, 231])
    const all = [...(await list(user_id, '?limit=200')).items]
    all.push(...(await list(user_id, '?limit=200&offset=200')).items)
    expect(new Set(all.map(({ id }) => id)).size).toBe(231)
    // Of one moment the largest id comes first, so that no page repeats what another one had.
    const keys = all.map(({ created_at_unix_ms, id }) => `${created_at_unix_ms} ${id}`)
    expect(keys).toEqual(keys.toSorted().toReversed())
    for (const query of ['?limit=-1', '?limit=', '?offset=1.5', '?before=1', '?limit=1&limit=2']) {
      expect([query, (await read(user_id, query)).status]).toEqual([query, 400])
    }
    expect((await endAll(user_id)).body).toEqual({ sessions_revoked: 231 })
  })

  it('[R-REV-1] all end at once on every node, and the player signs in again', async () => {
    const player = await playing(2)
    const { user_id } = player
    const ids = await idsOf(user_id)
    const announced: string[] = []
    const readFeed = createRevocationReader(scenario.db, scenario.clock, (seen) => {
      announced.push(...seen)
    })
    await readFeed()
    announced.splice(0)
    scenario.api.revoked.splice(0)
    const answer = await endAll(user_id)
    expect([answer.status, answer.body]).toEqual([200, { sessions_revoked: 2 }])
    for (const node of nodes) {
      for (const { token } of player.all) expect(await profile(token, node)).toBe(401)
    }
    const body = { refresh_token: player.refresh_token }
    expect((await nodes[1].call('POST', '/v1/session/refresh', { body })).status).toBe(401)
    await readFeed()
    expect(announced.sort()).toEqual(ids.toSorted())
    expect(scenario.api.revoked.splice(0).sort()).toEqual(ids.toSorted())
    expect(await list(user_id)).toEqual({ items: [], total: 0 })
    const again = await endAll(user_id)
    expect([again.status, again.body]).toEqual([200, { sessions_revoked: 0 }])
    expect(scenario.api.revoked).toEqual([])
    expect(await profile((await signIn(player)).token)).toBe(200)
    const action = 'accounts.sessions.revoke_all'
    expect(await trailOf(user_id)).toEqual([
      [action, 'sessions_revoked=2'],
      [action, 'sessions_revoked=0'],
    ])
  })

  it('[R-REV-1] one ends, and the others of the account go on', async () => {
    const player = await playing(3)
    const { user_id } = player
    const [newest, middle = '', oldest] = await idsOf(user_id)
    scenario.api.revoked.splice(0)
    const answer = await end(user_id, middle)
    expect([answer.status, answer.body]).toEqual([200, { sessions_revoked: 1 }])
    expect(scenario.api.revoked.splice(0)).toEqual([middle])
    expect(await idsOf(user_id)).toEqual([newest, oldest])
    for (const node of nodes) {
      const statuses = player.all.map(({ token }) => profile(token, node))
      expect(await Promise.all(statuses)).toEqual([200, 401, 200])
    }
    const again = await end(user_id, middle)
    expect([again.status, again.body]).toEqual([200, { sessions_revoked: 0 }])
    expect(scenario.api.revoked).toEqual([])
    const action = 'accounts.sessions.revoke'
    expect(await trailOf(user_id)).toEqual([
      [action, `session=${middle} sessions_revoked=1`],
      [action, `session=${middle} sessions_revoked=0`],
    ])
  })

  it('[H-ACC-7] of an account or a session that is not there are not found, and stay', async () => {
    const [ana, ben] = [await playing(1), await playing(1)]
    const [ofBen = ''] = await idsOf(ben.user_id)
    const before = await dump(scenario.db)
    const wrong = [
      read('nobody'),
      endAll('nobody'),
      end('nobody', ofBen),
      end(ana.user_id, ofBen),
      end(ana.user_id, ofBen.toUpperCase()),
      end(ana.user_id, 'revoke'),
      end(ana.user_id, '%25'),
    ]
    for (const sent of wrong) {
      const { status, body } = await sent
      expect([status, body]).toEqual([404, { code: 'not_found', message: 'not found' }])
    }
    for (const sent of [read('%20'), endAll('%20'), end('%20', ofBen), end(ana.user_id, '%20')]) {
      expect((await sent).status).toBe(400)
    }
    expect((await end(ana.user_id, 'x'.repeat(1025))).status).toBe(400)
    expect(await dump(scenario.db)).toBe(before)
    expect(await idsOf(ben.user_id)).toEqual([ofBen])
  })

  it('[H-AUTH-5] are ended by admins only', async () => {
    const player = await playing(1)
    const [id] = await idsOf(player.user_id)
    for (const path of [`sessions/${id}/revoke`, 'sessions/revoke']) {
      const answer = await viewer.send('POST', `/accounts/${player.user_id}/${path}`)
      expect(answer.status).toBe(403)
    }
    expect(await idsOf(player.user_id)).toEqual([id])
  })

  it('[H-ACC-7] of the banned and the deleted there are none, and nothing is left to end', async () => {
    for (const [method, path] of [
      ['POST', '/ban'],
      ['DELETE', ''],
    ] as const) {
      const { user_id } = await playing(2)
      const [id = ''] = await idsOf(user_id)
      await operator.send(method, `/accounts/${user_id}${path}`)
      expect(await list(user_id)).toEqual({ items: [], total: 0 })
      for (const answer of [await endAll(user_id), await end(user_id, id)]) {
        expect([answer.status, answer.body]).toEqual([200, { sessions_revoked: 0 }])
      }
    }
  })

  it('[H-ACC-7] that have run out are neither counted nor ended again', async () => {
    const player = await playing(2)
    const [, second] = player.all as [SessionTokens, SessionTokens]
    const [, first = ''] = await idsOf(player.user_id)
    await scenario.clock.advance(refreshTtlMs - 1500)
    await refresh(second)
    await scenario.clock.advance(1500)
    await openOperators()
    expect((await end(player.user_id, first)).body).toEqual({ sessions_revoked: 0 })
    expect((await endAll(player.user_id)).body).toEqual({ sessions_revoked: 1 })
  })

  it('[H-IDM-3] end once for one key, and are recorded once', async () => {
    const player = await playing(2)
    const { user_id } = player
    const [newest = ''] = await idsOf(user_id)
    const one = { 'idempotency-key': 'one' }
    const first = await end(user_id, newest, one)
    const again = await end(user_id, newest, one)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const all = { 'idempotency-key': 'all' }
    expect((await endAll(user_id, all)).body).toEqual({ sessions_revoked: 1 })
    const fresh = await signIn(player)
    const replayed = await endAll(user_id, all)
    expect([replayed.headers.get('idempotency-replayed'), replayed.body]).toEqual([
      'true',
      { sessions_revoked: 1 },
    ])
    expect(await profile(fresh.token)).toBe(200)
    expect(await trailOf(user_id)).toHaveLength(2)
  })

  it('[H-ACC-7] are shown as connected while a connection of theirs is open here', async () => {
    const player = await playing(2)
    const [newest, oldest = ''] = await idsOf(player.user_id)
    scenario.api.players.sessions.add(oldest)
    expect((await list(player.user_id)).items).toMatchObject([
      { id: newest, connected: false },
      { id: oldest, connected: true },
    ])
  })

  it('[R-REV-1] none is left behind when players sign in while all are ended', async () => {
    for (let round = 0; round < 4; round += 1) {
      const player = await playing(1)
      const refreshed = refresh(player).catch(() => undefined)
      const early = Array.from({ length: 3 }, () => signIn(player))
      const ended = await endAll(player.user_id)
      await Promise.all([refreshed, ...early])
      expect(ended.status).toBe(200)
      const rows = await scenario.rowsOf('sessions', `account_id = '${player.user_id}'`)
      const over = rows.filter((row) => row.revoked_at_unix_ms !== null)
      const revoked = over.map(({ id }) => String(id))
      const announced = await scenario.rowsOf('session_revocations')
      const ids = announced.map(({ session_id }) => String(session_id))
      expect(ids).toEqual(expect.arrayContaining(revoked))
      expect(ended.body).toEqual({ sessions_revoked: revoked.length })
    }
    expect(nodes.flatMap(({ failures }) => failures)).toEqual([])
  })
})
