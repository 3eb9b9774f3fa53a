import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { testBackends } from '../../database/testing/backends.ts'
import { Failure } from '../../kernel/failure.ts'
import type { TestApi } from '../../testing/api.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario, type SignedUp } from '../../testing/scenario.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'
import { recordSent } from './plans.fixture.ts'

/** A node of the deployment, and what its operator and its script ask. */
type Node = { api: TestApi; operator: Operator; ask: ScriptCall }
type Player = SignedUp & { refresh_token: string }
type World = { one: Player; other: Player; third: Player; group: number; key: string; tag: string }
/** One of many requests that meet at the same rows: `at` counts them. */
type Hot = (node: Node, world: World, at: number) => Promise<unknown>

const inFlight = 24
const ofTwo = <T>(at: number, even: T, odd: T): T => (at % 2 === 0 ? even : odd)

const hot: Record<string, Hot> = {
  'PATCH account, display name': ({ api }, { one }, at) =>
    api.call('PATCH', '/v1/account', { token: one.token, body: { display_name: `n${at}` } }),
  'PATCH account, username': ({ api }, { one, tag }, at) =>
    api.call('PATCH', '/v1/account', { token: one.token, body: { username: `${tag} ${at}` } }),
  'PATCH account, both of two players for one name': ({ api }, { one, other, tag }, at) =>
    api.call('PATCH', '/v1/account', {
      token: ofTwo(at, one, other).token,
      body: { username: `one ${tag} ${at % 3}`, display_name: `n${at}` },
    }),
  'accounts.update': ({ ask }, { one }, at) =>
    ask('accounts.update', one.user_id, { display_name: `s${at}`, metadata: { at } }),
  'PUT account': ({ operator }, { one, tag }, at) =>
    operator.send('PUT', `/accounts/${one.user_id}`, { username: `${tag} p${at % 4}` }),
  'ban and unban': ({ operator }, { third }, at) =>
    operator.send('POST', `/accounts/${third.user_id}/${ofTwo(at, 'ban', 'unban')}`),
  'sign-in by device': ({ api }, { one }) =>
    api.call('POST', '/v1/auth/device', { body: { id: one.device } }),
  'registering one device': ({ api }, { tag }) =>
    api.call('POST', '/v1/auth/device', {
      body: { id: `new ${tag}`, create: true, username: `new ${tag}` },
    }),
  'registering one e-mail': ({ api }, { tag }) =>
    api.call('POST', '/v1/auth/email', {
      body: {
        email: `${tag}@example.com`,
        password: 'password',
        create: true,
        username: `@${tag}`,
      },
    }),
  'refresh of one token': ({ api }, { other }) =>
    api.call('POST', '/v1/session/refresh', { body: { refresh_token: other.refresh_token } }),
  'revoking all sessions': ({ operator }, { third }) =>
    operator.send('POST', `/accounts/${third.user_id}/sessions/revoke`),
  storage_write: ({ ask }, { one }, at) =>
    ask('storage_write', one.user_id, 'saves', 'slot', { at }),
  storage_write_many: ({ ask }, { one, other }, at) =>
    ask(
      'storage_write_many',
      [one, other, one].map(({ user_id }, index) => ({
        op: 'write',
        owner: ofTwo(at, user_id, index === 1 ? one.user_id : other.user_id),
        collection: 'saves',
        key: `k${index}`,
        value: { at },
      })),
    ),
  'PUT storage': ({ operator }, { one }, at) =>
    operator.send('PUT', `/storage/saves/slot?user_id=${one.user_id}`, { value: { at } }),
  'storage writes and deletes': ({ ask }, { one }, at) =>
    ofTwo(
      at,
      () => ask('storage_write', one.user_id, 'saves', 'gone', { at }),
      () => ask('storage_delete', one.user_id, 'saves', 'gone'),
    )(),
  'wallet.adjust': ({ ask }, { one }) => ask('wallet.adjust', one.user_id, 'gold', 1n),
  'wallet.transfer, both ways': ({ ask }, { one, other }, at) =>
    ofTwo(
      at,
      () => ask('wallet.transfer', one.user_id, other.user_id, 'gold', 1n),
      () => ask('wallet.transfer', other.user_id, one.user_id, 'gold', 1n),
    )(),
  'friends.add, both ways': ({ ask }, { one, other }, at) =>
    ask('friends.add', ...ofTwo(at, [one, other], [other, one]).map(({ user_id }) => user_id)),
  'friends, added, blocked and removed': ({ ask }, { one, other }, at) =>
    ask(
      ['friends.add', 'friends.block', 'friends.remove'][at % 3] ?? '',
      ...ofTwo(at, [one, other], [other, one]).map(({ user_id }) => user_id),
    ),
  'groups, a member joins and goes': ({ ask }, { one, group }, at) =>
    ask(ofTwo(at, 'groups.add_member', 'groups.kick'), group, one.user_id),
  'groups, many join': ({ ask }, { group, tag }, at) =>
    ask('groups.add_member', group, `${tag} ${at}`),
  'groups, up and down': ({ ask }, { other, group }, at) =>
    ask(ofTwo(at, 'groups.promote', 'groups.demote'), group, other.user_id),
  'groups.update': ({ ask }, { group }, at) =>
    ask('groups.update', group, { description: `d${at}` }),
  'groups.create of one name': ({ ask }, { tag, one }) =>
    ask('groups.create', { name: `g ${tag}`, creator_user_id: one.user_id }),
  'notifications.send': ({ ask }, { one }, at) =>
    ask('notifications.send', { user_id: one.user_id, subject: `s${at}` }),
  'notifications, broadcast': ({ ask }, _world, at) =>
    ask('notifications.send', { subject: `s${at}` }),
  'notifications, read': ({ ask }, { one }, at) =>
    ask('notifications.mark_read', one.user_id, 1 + (at % 4)),
  'notifications, removed': ({ ask }, _world, at) => ask('notifications.remove', 1 + (at % 4)),
  'chat.append': ({ ask }, { one }, at) => ask('chat.append', 'lobby', one.user_id, `m${at}`),
  'chat, written and removed': ({ ask }, { one }, at) =>
    ofTwo(
      at,
      () => ask('chat.append', 'lobby', one.user_id, `m${at}`),
      () => ask('chat.remove', 'lobby', at),
    )(),
  'leaderboards.submit of one': ({ ask }, { one }, at) =>
    ask('leaderboards.submit', 'season', one.user_id, BigInt(at)),
  'leaderboards, submitted and removed': ({ ask }, { one }, at) =>
    ofTwo(
      at,
      () => ask('leaderboards.submit', 'season', one.user_id, BigInt(at)),
      () => ask('leaderboards.remove', 'season', one.user_id),
    )(),
  'leaderboards.create of one id': ({ ask }, { tag }) =>
    ask('leaderboards.create', { id: `b ${tag}` }),
  'tournaments.register of one': ({ ask }, { one }) =>
    ask('tournaments.register', 'cup', one.user_id),
  'tournaments.register of some': ({ ask }, { one, other, third }, at) =>
    ask('tournaments.register', 'cup', ([one, other, third][at % 3] ?? one).user_id),
  'tournament in other states': ({ operator }, _world, at) =>
    operator.send('POST', '/tournaments/cup/transition', {
      state: ofTwo(at, 'running', 'cancelled'),
    }),
  'api keys, made': ({ operator }) =>
    operator.send('POST', '/api-keys', { name: 'ci', scopes: ['audit:read'] }),
  'api key, used': ({ api }, { key }) => api.call('GET', '/console/v1/me', { token: key }),
  'api key, rotated and revoked': ({ operator }, { key }, at) =>
    operator.send('POST', `/api-keys/${key.split('_')[2]}/${at % 8 === 7 ? 'revoke' : 'rotate'}`, {
      generation: 1 + Math.floor(at / 8),
    }),
  'runtime rpc': ({ operator }) => operator.send('POST', '/runtime/rpc/ping', { payload: '' }),
  transact: ({ ask }, { one, other }, at) =>
    ask(
      'transact',
      ofTwo(at, [one, other], [other, one]).flatMap(({ user_id }) => [
        { op: 'wallet', user_id, currency: 'gold', delta: 1n },
        { op: 'write', owner: user_id, collection: 'saves', key: 'slot', value: { at } },
      ]),
    ),
  'one Idempotency-Key': ({ operator }, { one, tag }) =>
    operator.send(
      'POST',
      `/accounts/${one.user_id}/wallet`,
      { currency: 'gold', delta: 1 },
      { 'idempotency-key': tag },
    ),
  'failed logins of an operator': ({ api }) =>
    api.call('POST', '/console/v1/login', { body: { username: 'admin', password: 'wrong' } }),
}

const farUnixMs = 10 ** 14

describe.each(testBackends)('requests that meet at the same rows on $name', (backend) => {
  let scenario: Scenario
  let nodes: Node[]
  let made = 0
  beforeAll(async () => {
    scenario = await openScenario(backend)
    nodes = await Promise.all(
      [scenario.api, await scenario.openNode()].map(async (api) => {
        return { api, operator: await openOperator(api), ask: scriptOf(api) }
      }),
    )
    const [{ ask, operator }] = nodes as [Node]
    await ask('leaderboards.create', { id: 'season' })
    const cup = await operator.send('POST', '/tournaments', {
      id: 'cup',
      leaderboard_id: 'season',
      registration_opens_at_unix_ms: 0,
      registration_closes_at_unix_ms: farUnixMs,
      starts_at_unix_ms: farUnixMs,
      ends_at_unix_ms: farUnixMs + 1,
    })
    expect(cup.status, cup.text).toBe(201)
    const state = 'registration_open'
    expect((await operator.send('POST', '/tournaments/cup/transition', { state })).status).toBe(200)
    return () => scenario.dispose()
  })

  afterEach(() => void vi.restoreAllMocks())

  async function openWorld(): Promise<World> {
    const [{ ask, operator }] = nodes as [Node]
    made += 1
    const tag = `w${made}`
    const [one, other, third] = [
      await scenario.signUp(),
      await scenario.signUp(),
      await scenario.signUp(),
    ]
    const { id: group } = z
      .looseObject({ id: z.int() })
      .parse(await ask('groups.create', { name: tag, creator_user_id: third.user_id }))
    await ask('groups.add_member', group, other.user_id)
    await ask('wallet.adjust', one.user_id, 'gold', 1000n)
    await ask('wallet.adjust', other.user_id, 'gold', 1000n)
    const answer = await operator.send('POST', '/api-keys', { name: tag, scopes: ['audit:read'] })
    const { secret: key } = z.looseObject({ secret: z.string() }).parse(answer.body)
    return { one, other, third, group, key, tag }
  }

  it.each(Object.entries(hot))(
    '[O-TX-2] [O-TX-5] %s: each of 24 at the same time has an answer',
    async (_name, ask) => {
      const world = await openWorld()
      const { texts } = recordSent()
      const answers = await Promise.all(
        Array.from({ length: inFlight }, (_, at) =>
          ask(ofTwo(at, nodes[0], nodes[1]) as Node, world, at).then(statusOf, refusalOf),
        ),
      )
      const errors = nodes.flatMap(({ api }) => api.failures.splice(0)).map(({ error }) => error)
      expect([answers.filter((answer) => answer === 500), errors]).toEqual([[], []])
      // Under contention such transactions only start again, until they are given up.
      expect([...texts].filter((text) => text.includes('SERIALIZABLE'))).toEqual([])
    },
  )
})

function statusOf(answer: unknown): unknown {
  return z.object({ status: z.int() }).safeParse(answer).data?.status ?? 'done'
}

/** A refusal by a rule of the game is an answer; anything else is a bug. */
function refusalOf(error: unknown): unknown {
  if (error instanceof Failure) return error.code
  throw error
}
