import { authBody, kinds, sessionOptionsBody } from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { heard, openBench, openConnected, sessionOf } from '../../testing/connected.ts'
import type { FakeServer } from '../../testing/fake-server.ts'
import type { StateEvent } from '../connection-types.ts'
import { pauseMs } from './reconnecting.ts'

const rejected = (peer: Parameters<NonNullable<FakeServer['greet']>>[0]) => {
  peer.accept({ result: { status: 'rejected', reason: 'authentication_failed' } })
  peer.close(4001, 'auth rejected')
}

it('[R-SDK-7] sends AUTH and SESSION_OPTIONS in one write and is accepted by both answers', async () => {
  const { connection, peer } = await openConnected({ connect: { notices: true } })
  const auth = await peer.next()
  expect(auth.kind).toBe(kinds.AUTH.first)
  expect(authBody.decode(auth.body).access_token).toBe('')
  const options = await peer.next()
  expect(sessionOptionsBody.decode(options.body).flags).toBe(1 + 4 + 8 + 32)
  expect(connection).toMatchObject({ userId: null, participant: 42, state: 'open' })
})

it('[R-SDK-7] a room that SESSION_INFO names must have its ROOM_JOINED', async () => {
  const { connection } = await openConnected({
    greet: (peer) => peer.accept({ room: { room_id: 9, map: 'hall' } }),
  })
  expect(connection.rooms.current).toMatchObject({ id: 9, map: 'hall', mode: 'ffa' })
})

it('[R-SDK-7] an attempt is bounded', async () => {
  const { server, host, player } = await openBench()
  server.greet = null
  const connecting = player.connect({ connectTimeoutMs: 700 })
  const failed = expect(connecting).rejects.toMatchObject({ code: 'timeout' })
  await server.connection()
  host.advance(700)
  await failed
  expect(host.timersWaiting()).toBe(0)
})

it('[R-SDK-7] nobody there is a network_error, a refusal is closed with its code', async () => {
  const { server, player } = await openBench()
  server.greet = (peer) => peer.close(1001, 'shutdown')
  await expect(player.connect()).rejects.toMatchObject({ code: 'closed', closeCode: 1001 })
  await server.close()
  await expect(player.connect()).rejects.toMatchObject({ code: 'network_error' })
})

it('[R-SDK-25] connect returns the connection that there is, and makes one behind it', async () => {
  const { server, player, host } = await openBench()
  const [one, other] = await Promise.all([player.connect(), player.connect({ as: 'guest' })])
  expect(other).toBe(one)
  expect(await player.connect()).toBe(one)
  ;(await server.connection()).close(1001)
  await vi.waitFor(() => expect(one.state).toBe('reconnecting'))
  expect(await player.connect()).toBe(one)
  expect(server.count()).toBe(1)
  await one.close()
  const next = await player.connect()
  expect(next).not.toBe(one)
  await next.close()
  expect(host.timersWaiting()).toBe(0)
})

it('[R-SDK-3] a logout while it connects closes the connection, too', async () => {
  const { server, player } = await openBench()
  server.greet = null
  const connecting = player.connect()
  const peer = await server.connection()
  const leaving = player.logout()
  peer.accept()
  const connection = await connecting
  await leaving
  expect(connection.state).toBe('closed')
  expect(await peer.closed).toBe(1000)
})

it('[R-SDK-25] a connect that fails fails for everybody, and the next one tries again', async () => {
  const { server, player } = await openBench()
  const { greet } = server
  server.greet = (peer) => peer.close(1013)
  const [one, other] = await Promise.allSettled([player.connect(), player.connect()])
  expect([one.status, other.status, server.count()]).toEqual(['rejected', 'rejected', 1])
  server.greet = greet
  await (await player.connect()).close()
})

it('[R-SDK-8] a rejected guest is closed at once', async () => {
  const { server, player } = await openBench()
  server.greet = rejected
  await expect(player.connect()).rejects.toMatchObject({ code: 'closed', closeCode: 4001 })
  expect(server.count()).toBe(1)
})

it('[R-SDK-7] [R-SDK-8] a rejected account refreshes once and tries once more', async () => {
  const { server, player, host } = await openBench({
    store: { load: () => sessionOf(host), save() {}, clear() {} },
  })
  const tokens: string[] = []
  server.onRequest = (_request, response) => {
    const { received_at_unix_ms: _, ...pair } = sessionOf(host, { token: 'token-2' })
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...pair, created: false }))
  }
  server.greet = async (peer) => {
    const { body } = await peer.next()
    tokens.push(authBody.decode(body).access_token)
    if (tokens.length < 2) rejected(peer)
    else peer.accept({ result: { status: 'account', user_id: 'u-1' } })
  }
  await player.restore()
  const connection = await player.connect()
  expect(connection.userId).toBe('u-1')
  expect(tokens).toEqual(['token-1', 'token-2'])
  server.greet = rejected
  const states = heard<StateEvent>((call) => connection.on('state', call))
  host.randomNumber = 0
  ;(await lastPeer(server)).close(1001)
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ closeCode: 1001, attempt: 0 }))
  host.advance(0)
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ closeCode: 4001, attempt: 1 }))
  host.advance(0)
  await vi.waitFor(() => expect(connection.state).toBe('closed'))
  expect(states.at(-1)).toEqual({ state: 'closed', reason: 'auth_rejected', closeCode: 4001 })
  // One attempt with the old token, one right after the refresh.
  expect(server.count()).toBe(4)
})

it.each([1001, 1005, 1011, 1012, 1013, 1014, 4002, 4006, 4008])(
  '[R-SDK-8] reconnects after %i',
  async (code) => {
    const { connection, peer, host, server } = await openConnected()
    const states = heard<StateEvent>((call) => connection.on('state', call))
    // A close without a code is 1005 on the other side.
    if (code === 1005) peer.close(undefined as unknown as number)
    else peer.close(code)
    await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
    expect(states).toEqual([{ state: 'reconnecting', closeCode: code, attempt: 0, delayMs: 250 }])
    host.advance(250)
    await server.connection()
    await vi.waitFor(() => expect(connection.state).toBe('open'))
    expect(states.at(-1)).toEqual({ state: 'open', resumed: false, dropped: 0, lastClose: null })
  },
)

it('[R-SDK-27] open carries the close code that the node could not deliver', async () => {
  const { connection, peer, host, server } = await openConnected()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  server.greet = (next) => next.accept({ lastClose: 4008 })
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.advance(250)
  await vi.waitFor(() => expect(connection.state).toBe('open'))
  expect(states.at(-1)).toMatchObject({ state: 'open', lastClose: 4008 })
})

it('[R-SDK-8] reconnects after a cut line', async () => {
  const { connection, peer } = await openConnected()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  expect(states[0]).toMatchObject({ closeCode: 1006 })
})

it.each([
  [1000, 'refused'],
  [1009, 'protocol_error'],
  [4003, 'protocol_error'],
  [4004, 'session_revoked'],
  [4005, 'session_replaced'],
  [4123, 'refused'],
] as const)('[R-SDK-8] [R-SDK-10] %i ends for good: %s', async (code, reason) => {
  const { connection, peer, host } = await openConnected()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  peer.close(code)
  await vi.waitFor(() => expect(connection.state).toBe('closed'))
  expect(states).toEqual([{ state: 'closed', reason, closeCode: code }])
  expect(host.timersWaiting()).toBe(0)
})

it('[R-SDK-9] reconnect: false closes at the first loss', async () => {
  const { connection, peer } = await openConnected({ connect: { reconnect: false } })
  peer.close(1001)
  await vi.waitFor(() => expect(connection.state).toBe('closed'))
})

it('[R-SDK-9] pauses grow with full jitter up to their bound, and go on behind a short open', async () => {
  expect([0, 1, 2, 5, 6, 20].map((n) => pauseMs(n, 0.999, {}))).toEqual(
    [500, 1000, 2000, 16_000, 30_000, 30_000].map((ms) => ms * 0.999),
  )
  expect(pauseMs(3, 0, {})).toBe(0)
  expect(pauseMs(3, 0.5, { baseMs: 10, maxMs: 60 })).toBe(30)

  const { connection, peer, host, server } = await openConnected()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  const attempts = () => states.flatMap((one) => (one.state === 'reconnecting' ? one.attempt : []))
  peer.close(1001)
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.advance(250)
  const second = await server.connection()
  await vi.waitFor(() => expect(connection.state).toBe('open'))
  host.advance(9_999)
  second.close(1001)
  await vi.waitFor(() => expect(attempts()).toEqual([0, 1]))
  host.advance(500)
  const third = await server.connection()
  await vi.waitFor(() => expect(connection.state).toBe('open'))
  host.advance(10_000)
  third.close(1001)
  await vi.waitFor(() => expect(attempts()).toEqual([0, 1, 0]))
})

it('[R-SDK-9] the network coming back starts the attempt at once', async () => {
  const { connection, peer, host, server } = await openConnected()
  peer.close(1001)
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.wake()
  await server.connection()
  await vi.waitFor(() => expect(connection.state).toBe('open'))
})

it('[R-SDK-9] [R-SDK-10] gives up, counted from the loss', async () => {
  const { connection, peer, host, server } = await openConnected({
    connect: { reconnect: { giveUpMs: 5_000, baseMs: 100, maxMs: 100 } },
  })
  const states = heard<StateEvent>((call) => connection.on('state', call))
  server.greet = (late) => late.close(1013)
  peer.close(1001)
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  for (let round = 1; round <= 3; round += 1) {
    host.advance(100)
    await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ attempt: round }))
  }
  host.advance(4_700)
  expect(states.at(-1)).toMatchObject({ state: 'closed', reason: 'gave_up' })
  expect(host.timersWaiting()).toBe(0)
})

it('[R-SDK-9] with a giveUpMs of 0 it never gives up', async () => {
  const { connection, peer, host, server } = await openConnected({
    connect: { reconnect: { giveUpMs: 0, baseMs: 100, maxMs: 100 } },
  })
  const { greet } = server
  server.greet = (late) => late.close(1013)
  peer.close(1001)
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  const states = heard<StateEvent>((call) => connection.on('state', call))
  for (let round = 1; round <= 3; round += 1) {
    host.advance(86_400_000)
    await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ attempt: round }))
  }
  server.greet = greet
  host.advance(100)
  await vi.waitFor(() => expect(connection.state).toBe('open'))
})

it('[R-SDK-10] an account that is signed out meanwhile is not connected again', async () => {
  const { connection, peer, host, player, server } = await signedInAndConnected()
  server.onRequest = (_request, response) => response.writeHead(204).end()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  peer.close(1001)
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  server.onRequest = (_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end('{"code":"authentication_failed","message":"authentication failed"}')
  }
  await expect(player.refresh()).rejects.toMatchObject({ code: 'signed_out' })
  host.advance(250)
  await vi.waitFor(() => expect(connection.state).toBe('closed'))
  expect(states.at(-1)).toEqual({ state: 'closed', reason: 'signed_out', closeCode: null })
})

it('[R-SDK-12] close ends with 1000, once, also while reconnecting', async () => {
  const { connection, peer, host, server } = await openConnected()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  const open = connection.rpc('slow')
  const refused = expect(open).rejects.toMatchObject({ code: 'closed' })
  await Promise.all([connection.close(), connection.close()])
  expect(await peer.closed).toBe(1000)
  await refused
  expect(states).toEqual([{ state: 'closed', reason: 'closed_by_client', closeCode: 1000 }])
  await expect(connection.rpc('late')).rejects.toMatchObject({ code: 'closed' })
  expect(() => connection.send(100, 'late')).toThrow(expect.objectContaining({ code: 'closed' }))

  const other = await openConnected()
  other.peer.close(1001)
  await vi.waitFor(() => expect(other.connection.state).toBe('reconnecting'))
  await other.connection.close()
  other.host.advance(60_000)
  expect(other.server.count()).toBe(1)
  expect(other.host.timersWaiting()).toBe(0)
  expect([host.timersWaiting(), server.count()]).toEqual([0, 1])
})

it.each([
  [1001, ''],
  [2000, ''],
  [5000, ''],
  [3000.5, ''],
  [1000, 'x'.repeat(124)],
  [1000, 'é'.repeat(62)],
])('[R-SDK-2] [R-SDK-24] close refuses %d %s and goes on', async (code, reason) => {
  const { connection, peer } = await openConnected()
  const closing = connection.close(code, reason)
  await expect(closing).rejects.toMatchObject({ code: 'invalid_argument' })
  expect(connection.state).toBe('open')
  connection.send(100, 'still here')
  expect(new TextDecoder().decode((await peer.nextOf(100)).body)).toBe('still here')
  await connection.close(3000, 'x'.repeat(123))
  expect(await peer.closed).toBe(3000)
  expect(connection.state).toBe('closed')
})

it('[R-SDK-13] a framing error closes with 4003', async () => {
  const { connection, peer } = await openConnected()
  peer.sendRaw(new Uint8Array([0, 0, 0, 1, 0, 0]))
  expect(await peer.closed).toBe(4003)
  expect(connection.state).toBe('closed')
})

it('[R-SDK-24] close takes a code, and connect takes an address and a guest', async () => {
  const { server, player, host } = await openBench({
    store: { load: () => sessionOf(host), save() {}, clear() {} },
  })
  await player.restore()
  const url = `${server.url.replace('http', 'ws')}/v1/realtime`
  const connecting = player.connect({ url, as: 'guest' })
  const peer = await server.connection()
  expect((await peer.next()).body).toHaveLength(0)
  const connection = await connecting
  await connection.close(4321, 'bye')
  expect(await peer.closed).toBe(4321)
})

async function signedInAndConnected() {
  const bench = await openBench({
    store: { load: () => sessionOf(bench.host), save() {}, clear() {} },
  })
  bench.server.greet = (peer) => peer.accept({ result: { status: 'account', user_id: 'u-1' } })
  await bench.player.restore()
  const connecting = bench.player.connect()
  const peer = await bench.server.connection()
  return { ...bench, peer, connection: await connecting }
}

/** The connection that was accepted last. */
async function lastPeer(server: FakeServer) {
  await server.connection()
  return server.connection()
}
