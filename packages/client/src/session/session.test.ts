import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createPlayer } from '../player.ts'
import { heard, openBench, sessionOf } from '../testing/connected.ts'
import type { FakeHost } from '../testing/fake-host.ts'
import {
  localStorageStore,
  type Session,
  type SessionStore,
  sessionStorageStore,
} from './session-store.ts'

type Asked = { line: string; bearer: string | undefined; body: unknown }

/** Answers one request after another, and notes them. */
function scripted(...answers: [status: number, body?: unknown, headers?: object][]) {
  const asked: Asked[] = []
  return {
    asked,
    async onRequest(request: IncomingMessage, response: ServerResponse) {
      const body = await text(request)
      const [, bearer] = (request.headers.authorization ?? '').split(' ')
      const line = `${request.method} ${request.url}`
      asked.push({ line, bearer, body: body === '' ? undefined : JSON.parse(body) })
      const [status, answer, headers] = answers.shift() ?? [500]
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(answer === undefined ? undefined : JSON.stringify(answer))
    },
  }
}

const pair = (n: number) => ({
  token: `token-${n}`,
  refresh_token: `refresh-${n}`,
  user_id: 'u-1',
  username: 'ana',
  created: false,
})
const refusal = { code: 'authentication_failed', message: 'authentication failed' }
const profile = { user_id: 'u-1', username: 'ana' }
const code = (name: string) => expect.objectContaining({ code: name })

function storeOf(stored: Session | null) {
  const kept = { session: stored }
  const store: SessionStore = {
    load: () => kept.session,
    save(session) {
      kept.session = session
    },
    clear() {
      kept.session = null
    },
  }
  return { kept, store }
}

async function openSignedIn(change: (host: FakeHost) => Partial<Session> = () => ({})) {
  const { kept, store } = storeOf(null)
  const bench = await openBench({ store })
  kept.session = sessionOf(bench.host, change(bench.host))
  await bench.player.restore()
  return { ...bench, kept, store }
}

it('[R-SDK-3] a sign-in is stored before it resolves, and raises session', async () => {
  const { kept, store } = storeOf(null)
  const { server, player, host } = await openBench({ store })
  Object.assign(server, scripted([201, pair(1)], [200, { ...pair(2), user_id: 'u-2' }]))
  const sessions = heard((call) => player.on('session', call))
  const session = await player.signIn.device({ id: 'd-1', create: true, username: 'ana' })
  expect(session).toEqual(sessionOf(host))
  expect([kept.session, player.session()]).toEqual([session, session])
  const second = await player.signIn.custom({ id: 'c-1' })
  expect(sessions).toEqual([session, second])
  expect(kept.session?.user_id).toBe('u-2')
})

it('[R-SDK-3] restore reads without a request; what is no session counts as none', async () => {
  const { player, host } = await openSignedIn()
  expect(player.session()).toEqual(sessionOf(host))
  const strange = { token: 1 } as unknown as Session
  const other = await openBench({ store: storeOf(strange).store })
  expect(await other.player.restore()).toBe(null)
})

it('[R-SDK-3] logout calls the route and clears everything, whatever the answer', async () => {
  const { player, server, kept } = await openSignedIn()
  const connecting = player.connect()
  await server.connection()
  const connection = await connecting
  const script = scripted([401, refusal])
  Object.assign(server, script)
  await player.logout()
  expect(script.asked).toEqual([
    { line: 'POST /v1/session/logout', bearer: 'token-1', body: { refresh_token: 'refresh-1' } },
  ])
  expect([player.session(), kept.session, connection.state]).toEqual([null, null, 'closed'])
  const unreachable = await openSignedIn()
  await unreachable.server.close()
  await expect(unreachable.player.logout()).rejects.toEqual(code('network_error'))
  expect(unreachable.kept.session).toBe(null)
})

it('[R-SDK-3] logout waits for a refresh and ends the newest pair', async () => {
  const { player, server, host, kept } = await openSignedIn()
  host.advance(3_600_000)
  const gate = Promise.withResolvers<void>()
  const script = scripted([200, pair(2)], [204], [200, profile])
  server.onRequest = async (request, response) => {
    if (request.url?.endsWith('refresh')) await gate.promise
    await script.onRequest(request, response)
  }
  const reading = player.account.get().catch(() => {})
  await vi.waitFor(() => expect(host.timersWaiting()).toBe(1))
  const leaving = player.logout()
  gate.resolve()
  await Promise.all([leaving, reading])
  expect(script.asked).toContainEqual({
    line: 'POST /v1/session/logout',
    bearer: 'token-2',
    body: { refresh_token: 'refresh-2' },
  })
  expect([player.session(), kept.session]).toEqual([null, null])
})

it('[R-SDK-3] no refresh begins while a logout is under way', async () => {
  const { player, server, host, kept } = await openSignedIn()
  const gate = Promise.withResolvers<void>()
  const script = scripted([204])
  server.onRequest = async (request, response) => {
    await gate.promise
    await script.onRequest(request, response)
  }
  const leaving = player.logout()
  host.advance(3_600_000)
  const reading = expect(player.account.get()).rejects.toEqual(code('signed_out'))
  gate.resolve()
  await Promise.all([leaving, reading])
  expect(script.asked.map(({ line }) => line)).toEqual(['POST /v1/session/logout'])
  expect(kept.session).toBe(null)
})

it('[R-SDK-4] a session is renewed after 80 % of what the header says', async () => {
  const { kept, store } = storeOf(null)
  const { server, player, host } = await openBench({ store })
  const expires = { 'x-access-expires-in': '100' }
  const script = scripted(
    [200, pair(1), expires],
    [200, profile],
    [200, pair(2)],
    [200, profile],
    [200, profile],
    [200, pair(3)],
    [200, profile],
  )
  Object.assign(server, script)
  await player.signIn.device({ id: 'd-1' })
  host.advance(79_999)
  await player.account.get()
  host.advance(1)
  await player.account.get()
  // Without the header the hour of the default counts.
  host.advance(0.8 * 3_600_000 - 1)
  await player.account.get()
  host.advance(1)
  await player.account.get()
  expect(script.asked.map(({ line, bearer }) => [line, bearer])).toEqual([
    ['POST /v1/auth/device', undefined],
    ['GET /v1/account', 'token-1'],
    ['POST /v1/session/refresh', undefined],
    ['GET /v1/account', 'token-2'],
    ['GET /v1/account', 'token-2'],
    ['POST /v1/session/refresh', undefined],
    ['GET /v1/account', 'token-3'],
  ])
  expect(kept.session?.token).toBe('token-3')
})

it('[R-SDK-4] a session from the future is due, and so is one before a connection', async () => {
  const { server, player, host } = await openSignedIn()
  host.jump(-60_000)
  const script = scripted([200, pair(2)])
  Object.assign(server, script)
  const connecting = player.connect()
  const peer = await server.connection()
  expect(new TextDecoder().decode((await peer.next()).body)).toBe('token-2')
  await (await connecting).close()
})

it('[R-SDK-4] a 401 refreshes once and repeats the call once', async () => {
  const { server, player } = await openSignedIn()
  const script = scripted([401, refusal], [200, pair(2)], [200, profile])
  Object.assign(server, script)
  expect(await player.account.update({ display_name: 'Ana' })).toEqual(profile)
  expect(script.asked.map(({ line }) => line)).toEqual([
    'PATCH /v1/account',
    'POST /v1/session/refresh',
    'PATCH /v1/account',
  ])
  Object.assign(server, scripted([401, refusal], [200, pair(3)], [401, refusal]))
  await expect(player.account.get()).rejects.toMatchObject({
    code: 'authentication_failed',
    status: 401,
  })
})

it('[R-SDK-5] everybody who needs it waits for the same refresh', async () => {
  const { server, player, host } = await openSignedIn()
  host.advance(3_600_000)
  const script = scripted([200, pair(2)], [200, profile], [200, profile], [200, { users: [] }])
  Object.assign(server, script)
  await Promise.all([
    player.account.get(),
    player.account.get(),
    player.account.lookup({ usernames: ['ben'] }),
  ])
  const refreshes = script.asked.filter(({ line }) => line.endsWith('refresh'))
  expect(refreshes).toHaveLength(1)
})

it('[R-SDK-5] a refused refresh clears memory and store', async () => {
  const { server, player, kept } = await openSignedIn()
  const sessions = heard((call) => player.on('session', call))
  Object.assign(server, scripted([401, refusal]))
  await expect(player.refresh()).rejects.toEqual(code('signed_out'))
  expect([player.session(), kept.session]).toEqual([null, null])
  expect(sessions).toEqual([null])
  await expect(player.account.get()).rejects.toEqual(code('signed_out'))
})

it('[R-SDK-5] another failure leaves the session as it is', async () => {
  const { server, player, kept } = await openSignedIn()
  const internal = { code: 'internal_error', message: 'internal server error' }
  Object.assign(server, scripted([500, internal]))
  await expect(player.refresh()).rejects.toMatchObject({ code: 'internal_error', status: 500 })
  expect(player.session()).toEqual(kept.session)
  await server.close()
  await expect(player.refresh()).rejects.toEqual(code('network_error'))
  expect(player.session()?.token).toBe('token-1')
})

it('[R-SDK-5] a refused refresh takes the newer pair that another tab has stored', async () => {
  const { server, player, kept, host } = await openSignedIn()
  host.advance(1_000)
  kept.session = sessionOf(host, { token: 'token-9', refresh_token: 'refresh-9' })
  Object.assign(server, scripted([401, refusal]))
  expect((await player.refresh()).token).toBe('token-9')
})

it('[R-SDK-5] with a lock the store is read first, inside it', async () => {
  const { kept, store } = storeOf(null)
  let depth = 0
  const locked: SessionStore = {
    ...store,
    async lock(work) {
      depth += 1
      try {
        return await work()
      } finally {
        depth -= 1
      }
    },
    load() {
      if (kept.session?.token === 'token-9') expect(depth).toBe(1)
      return store.load()
    },
  }
  const { server, player, host } = await openBench({ store: locked })
  kept.session = sessionOf(host)
  await player.restore()
  host.advance(3_600_000)
  kept.session = sessionOf(host, { token: 'token-9' })
  const script = scripted([200, profile])
  Object.assign(server, script)
  await player.account.get()
  expect(script.asked).toMatchObject([{ line: 'GET /v1/account', bearer: 'token-9' }])
})

it('[R-SDK-2] a store that throws is store_failed; the session in memory stays', async () => {
  const { server, player } = await openBench({
    store: {
      load: () => null,
      clear() {},
      save() {
        throw new Error('full')
      },
    },
  })
  Object.assign(server, scripted([200, pair(1)]))
  const failed = await player.signIn.device({ id: 'd-1' }).catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'store_failed', cause: new Error('full') })
  expect(player.session()?.token).toBe('token-1')
})

it('[R-SDK-2] refusals have code, status and Retry-After; strangers are network_error', async () => {
  const { server, player } = await openBench()
  const limited = { code: 'rate_limited', message: 'too many requests' }
  Object.assign(server, scripted([429, limited, { 'retry-after': '7' }]))
  await expect(player.signIn.device({ id: 'd' })).rejects.toMatchObject({
    code: 'rate_limited',
    message: 'too many requests',
    status: 429,
    retryAfterSec: 7,
  })
  Object.assign(server, scripted([502, { oops: true }]))
  await expect(player.signIn.device({ id: 'd' })).rejects.toMatchObject({
    code: 'network_error',
    status: 502,
  })
  expect(() => createPlayer('ws://localhost')).toThrow(code('invalid_argument'))
})

it('[R-SDK-5] localStorageStore keeps a session as text and locks where there are locks', async () => {
  const items = new Map<string, string>()
  const locks = { request: vi.fn((_name: string, work: () => Promise<unknown>) => work()) }
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => items.set(key, value),
    removeItem: (key: string) => items.delete(key),
  })
  vi.stubGlobal('navigator', { locks })
  onTestFinished(() => void vi.unstubAllGlobals())
  const store = localStorageStore()
  const session: Session = { ...pair(1), received_at_unix_ms: 5 }
  expect(store.load()).toBe(null)
  await store.save(session)
  expect([...items.keys()]).toEqual(['guildhall'])
  expect(store.load()).toEqual(session)
  expect(await store.lock?.(async () => 'done')).toBe('done')
  expect(locks.request.mock.lastCall?.[0]).toBe('guildhall:guildhall')
  items.set('guildhall', '{')
  expect(store.load()).toBe(null)
  await store.clear()
  expect(items.size).toBe(0)
  vi.stubGlobal('navigator', {})
  expect(localStorageStore('other').lock).toBeUndefined()
})

it('[R-SDK-3] sessionStorageStore keeps a session for one tab', async () => {
  const tabs = [new Map<string, string>(), new Map<string, string>()]
  let tab = 0
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => tabs[tab]?.get(key) ?? null,
    setItem: (key: string, value: string) => tabs[tab]?.set(key, value),
    removeItem: (key: string) => tabs[tab]?.delete(key),
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const store = sessionStorageStore()
  const session: Session = { ...pair(1), received_at_unix_ms: 5 }
  await store.save(session)
  expect(sessionStorageStore().load()).toEqual(session)
  tab = 1
  expect(store.load()).toBe(null)
  await store.clear()
  tab = 0
  expect(store.load()).toEqual(session)
  expect(store.lock).toBeUndefined()
})
