import { api, type Route, SessionTokens } from '@guildhall/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { testBackends } from '../../database/testing/backends.ts'
import { openTestApi, type TestApi } from '../../testing/api.ts'

/** Whatever an entitled caller sends to any route, it is an answer of the interface and no 5xx. */

let node: TestApi
let dispose: () => Promise<void>
const tokens: Record<Route['access'], string | undefined> = {
  public: undefined,
  player: undefined,
  operator: undefined,
  admin: undefined,
}

beforeAll(async () => {
  const memory = testBackends.find(({ name }) => name === 'in-memory')
  if (memory === undefined) throw new Error('there is no backend to test on')
  const test = await memory.open()
  const opened = await openTestApi({ db: test.db, config: withoutLimits })
  node = opened
  dispose = async () => {
    await opened.close()
    await test.dispose()
  }
  await signOperatorIn()
  const device = await node.call('POST', '/v1/auth/device', {
    body: { id: 'd', create: true, username: 'ana' },
  })
  tokens.player = SessionTokens().parse(device.body).token
})
afterAll(() => dispose())

async function signOperatorIn(): Promise<void> {
  const body = { username: 'admin', password: 'password' }
  const login = await node.call('POST', '/console/v1/login', { body })
  tokens.admin = z.object({ token: z.string() }).parse(login.body).token
  tokens.operator = tokens.admin
}

const routes: [name: string, route: Route][] = [api]
  .flatMap((all) => Object.entries(all))
  .filter(([feature]) => feature !== 'shell' && feature !== 'realtime')
  .flatMap(([feature, rows]) =>
    Object.entries(rows).map(([name, route]): [string, Route] => [`${feature}.${name}`, route]),
  )

it.each(routes)('[H-GEN-1] [H-GEN-4] %s answers whatever it is sent', async (_name, route) => {
  await fc.assert(
    fc.asyncProperty(targets(route), bodies(route), async (target, body) => {
      const token = tokens[route.access]
      const sent = route.method === 'GET' ? {} : { body }
      const answer = await node.call(route.method, target, {
        ...sent,
        ...(token === undefined ? {} : { token }),
      })
      if (route.bearer === 'handed on') await signOperatorIn()
      expect([node.failures, answer.status < 500]).toEqual([[], true])
      if (answer.status >= 400) {
        expect(Object.keys(Object(answer.body))).toEqual(['code', 'message'])
        expect(answer.headers.has('retry-after')).toBe(answer.status === 429)
      }
    }),
    { numRuns: 25 },
  )
})

/** Texts and numbers at the edges that code tends to forget. */
const odd = fc.constantFrom<unknown>(
  '',
  ' ',
  '\u0000',
  'a',
  'ana',
  "'",
  '"',
  '%',
  '_',
  '\\',
  '😀',
  '\u202e',
  '1',
  '0',
  '-1',
  '1e9',
  'null',
  'x'.repeat(128),
  'x'.repeat(1024),
  '__proto__',
  0,
  -0,
  1,
  -1,
  0.5,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1e308,
  true,
  false,
  null,
  [],
  {},
  [null],
  [''],
  ['a', 'a'],
)

function bodies({ body }: Route): fc.Arbitrary<string> {
  const names = body instanceof z.ZodObject ? Object.keys(body.shape) : []
  const declared = fc.record(
    Object.fromEntries(names.map((name) => [name, fc.oneof(odd, fc.jsonValue())])),
    {
      requiredKeys: [],
    },
  )
  return fc.oneof(declared, odd, fc.jsonValue()).map((value) => JSON.stringify(value))
}

function targets({ path, query }: Route): fc.Arbitrary<string> {
  const segments = path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? segmentText : fc.constant(segment)))
  const values = Object.keys(query?.shape ?? {}).map((name) => [name, odd.map(String)] as const)
  const asked = fc.record(Object.fromEntries(values), { requiredKeys: [] })
  return fc.tuple(fc.tuple(...segments), asked).map(([parts, given]) => {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(given)) search.set(name, value ?? '')
    return `${parts.join('/')}?${search}`
  })
}

const segmentText = fc
  .oneof(odd.map(String), fc.string({ unit: 'grapheme' }), fc.nat().map(String))
  // The client itself would resolve these two.
  .filter((text) => text !== '' && text !== '.' && text !== '..' && text.isWellFormed())
  .map(encodeURIComponent)

const withoutLimits = Object.fromEntries(
  ['source', 'email', 'registration_source', 'console_login', 'console_login_source'].map(
    (name) => [`authentication.limits.${name}.limit`, '1000000'],
  ),
)
