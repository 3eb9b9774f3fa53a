import { api, type Route, type Scope, SessionTokens, scopes } from '@guildhall/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { testBackends } from '../../database/testing/backends.ts'
import { openKeyOperator } from '../../features/api-keys/api-keys.fixture.ts'
import { refuse } from '../../kernel/failure.ts'
import { sendRaw } from '../../kernel/http/connection/raw-connection.fixture.ts'
import type { MountedRoute } from '../../kernel/http/exchange.ts'
import { openTestApi, type TestApi } from '../../testing/api.ts'

/**
 * Every route of the table with every kind of caller, always with a body and a query that are
 * wrong. What is expected follows from access and scope alone.
 */

type Caller =
  | 'nobody'
  | 'a malformed bearer'
  | 'a player, twice'
  | 'an admin, twice'
  | 'a player'
  | 'a viewer'
  | 'an admin'
  | 'a viewer whose token has expired'
  | 'an admin whose token has expired'
  | 'a key with the scope'
  | 'a key with every scope'
  | 'a key with every other scope'
  | 'an expired key'
  | 'a revoked key'
  | 'the old value of a rotated key'
  | 'an unknown key'
  | 'an unknown token'

const strangers: readonly Caller[] = [
  'nobody',
  'a malformed bearer',
  'a player, twice',
  'an admin, twice',
  'a viewer whose token has expired',
  'an admin whose token has expired',
  'an expired key',
  'a revoked key',
  'the old value of a rotated key',
  'an unknown key',
  'an unknown token',
]
const keys: readonly Caller[] = [
  'a key with the scope',
  'a key with every scope',
  'a key with every other scope',
]
const callers: readonly Caller[] = [...strangers, ...keys, 'a player', 'a viewer', 'an admin']

type Verdict = 401 | 403 | 'let in'

function verdictOn({ access, scope, bearer }: Route, caller: Caller): Verdict {
  if (access === 'public') {
    const isMalformed = /malformed|twice/.test(caller)
    return bearer === 'optional' && isMalformed ? 401 : 'let in'
  }
  if (strangers.includes(caller)) return 401
  if (access === 'player') return caller === 'a player' ? 'let in' : 401
  if (caller === 'a player') return 401
  if (caller === 'an admin') return 'let in'
  if (caller === 'a viewer') return access === 'admin' ? 403 : 'let in'
  if (access === 'admin' || scope === undefined || scope === 'no key') return 403
  if (scope === 'any key') return 'let in'
  return caller === 'a key with the scope' || caller === 'a key with every scope' ? 'let in' : 403
}

const routes: [name: string, route: Route][] = Object.entries(api).flatMap(([feature, rows]) =>
  Object.entries(rows).map(([name, route]): [string, Route] => [`${feature}.${name}`, route]),
)

let node: TestApi
let dispose: () => Promise<void>
const tokens = new Map<Caller, string>()
/** The values of the keys by the scopes that they hold. */
const keyValues = new Map<string, string>()

beforeAll(async () => {
  const memory = testBackends.find(({ name }) => name === 'in-memory')
  if (memory === undefined) throw new Error('there is no backend to test on')
  const test = await memory.open()
  const opened = await openTestApi({
    db: test.db,
    config: { 'console.viewer_username': 'eye', 'console.viewer_password': 'viewer password' },
    routes: routesOfTheNode(),
  })
  node = opened
  dispose = async () => {
    await opened.close()
    await test.dispose()
  }
  await signEverybodyIn()
})
afterAll(() => dispose())

it.each(routes)(
  '[H-AUTH-5] [H-AUTH-7] [H-GEN-6] [H-GEN-7] %s lets in and refuses as its access and scope say',
  async (_name, route) => {
    const expected = callers.map((caller) => [caller, verdictOn(route, caller)])
    const observed = await Promise.all(
      callers.map(async (caller) => {
        const { status } = await ask(route, caller)
        return [caller, status === 401 || status === 403 ? status : 'let in']
      }),
    )
    expect(observed).toEqual(expected)
  },
)

it.each(routes.filter(([, { body, query }]) => (body ?? query) !== undefined))(
  '[H-GEN-6] %s refuses with 400 whoever gets in and says what is wrong',
  async (_name, route) => {
    for (const caller of callers.filter((each) => verdictOn(route, each) === 'let in')) {
      expect([caller, (await ask(route, caller)).status]).toEqual([caller, 400])
    }
  },
)

it('[H-AUTH-5] has every route of the table on its server', () => {
  const mounted = [...node.routes, ...routesOfTheNode()].map(({ route }) => route)
  expect(new Set(mounted)).toEqual(new Set(routes.map(([, route]) => route)))
  expect(node.failures).toEqual([])
})

it('[H-AUTH-5] knows what is forbidden: the matrix has refusals of every kind', () => {
  const verdicts = routes.flatMap(([, route]) => callers.map((caller) => verdictOn(route, caller)))
  expect(new Set(verdicts)).toEqual(new Set([401, 403, 'let in']))
})

/** Sends what is wrong in every part, over a socket, because `fetch` sends no header twice. */
async function ask(route: Route, caller: Caller) {
  const path = route.path.replace(/\{[^}]+\}/g, '%00')
  const lines = [
    `${route.method} ${path}?undeclared=1 HTTP/1.1`,
    'Host: a',
    'Content-Type: application/json',
    ...authorizationOf(route, caller),
  ]
  const body = route.method === 'GET' ? '' : '{"broken'
  const text = [...lines, `Content-Length: ${body.length}`, '', body].join('\r\n')
  const answer = await sendRaw(Number(new URL(node.url).port), text)
  // Whoever was let in has no token any more.
  if (route.bearer === 'handed on') await signOperatorIn(caller)
  return answer
}

function authorizationOf({ scope }: Route, caller: Caller): string[] {
  const line = (token: string) => `Authorization: Bearer ${token}`
  const known = tokens.get(caller)
  if (known !== undefined) return [line(known)]
  const others = scopes.filter((each) => each !== scope)
  switch (caller) {
    case 'a malformed bearer':
      return [`Authorization: bearer ${tokens.get('an admin')}`]
    case 'a player, twice':
      return [line(tokens.get('a player') ?? ''), line(tokens.get('a player') ?? '')]
    case 'an admin, twice':
      return [line(tokens.get('an admin') ?? ''), line(tokens.get('an admin') ?? '')]
    case 'a key with the scope':
      return [line(keyWith(scopes.filter((each) => each === scope)))]
    case 'a key with every scope':
      return [line(keyWith(scopes))]
    case 'a key with every other scope':
      return [line(keyWith(others))]
    case 'an unknown key':
      return [line(`svc_k1_${'0'.repeat(32)}_${'A'.repeat(43)}`)]
    case 'an unknown token':
      return [line('unknown')]
    default:
      return []
  }
}

/** Where a route has no scope of its own, the key that holds them all stands for every key. */
function keyWith(held: readonly Scope[]): string {
  return keyValues.get(held.join(',')) ?? keyValues.get(scopes.join(',')) ?? ''
}

/** The rows that no feature but the node itself serves: what they answer does not matter here. */
function routesOfTheNode(): MountedRoute[] {
  const rows: Route[] = [...Object.values(api.shell), ...Object.values(api.realtime)]
  return rows.map((route) => ({
    route,
    handle: async () => {
      throw refuse.invalid('stands for the handler of the node')
    },
  }))
}

async function signEverybodyIn(): Promise<void> {
  await keepConsoleToken('a viewer whose token has expired', 'eye', 'viewer password')
  await keepConsoleToken('an admin whose token has expired', 'admin', 'password')
  await node.clock.advance(3_600_000)
  await signOperatorIn('a viewer')
  await signOperatorIn('an admin')
  const device = { id: 'device', create: true, username: 'ana' }
  const { body } = await node.call('POST', '/v1/auth/device', { body: device })
  tokens.set('a player', SessionTokens().parse(body).token)
  await makeKeys()
}

async function makeKeys(): Promise<void> {
  const operator = await openKeyOperator(node)
  const held = scopes.flatMap((scope) => [[scope], scopes.filter((each) => each !== scope)])
  for (const each of [...held, scopes]) {
    keyValues.set(each.join(','), (await operator.make({ scopes: each })).secret)
  }
  const expired = await operator.make({ scopes, expires_at: node.clock.nowUnixMs() + 1 })
  const [revoked, rotated] = [await operator.make({ scopes }), await operator.make({ scopes })]
  await node.clock.advance(1)
  await operator.revoke(revoked.key.id, 1)
  await operator.rotate(rotated.key.id, 1)
  tokens.set('an expired key', expired.secret)
  tokens.set('a revoked key', revoked.secret)
  tokens.set('the old value of a rotated key', rotated.secret)
}

async function signOperatorIn(caller: Caller): Promise<void> {
  if (caller === 'a viewer') await keepConsoleToken(caller, 'eye', 'viewer password')
  if (caller === 'an admin') await keepConsoleToken(caller, 'admin', 'password')
}

async function keepConsoleToken(caller: Caller, username: string, password: string): Promise<void> {
  const answer = await node.call('POST', '/console/v1/login', { body: { username, password } })
  tokens.set(caller, z.object({ token: z.string() }).parse(answer.body).token)
}
