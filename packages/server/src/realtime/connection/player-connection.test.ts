import { kinds, rpcRequestBody } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { bytesOf, type RealtimeFixture, startRealtime, waiting } from '../realtime.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

test('[R-GEN-4] participant ids carry the node slot, count from 1 and are not reused', async () => {
  realtime = await startRealtime({ nodeSlot: 4095 })
  const first = await realtime.join()
  first.close()
  await first.closed
  await realtime.join('t-ann')
  const base = 4095 * 2 ** 40
  await expect
    .poll(() => realtime.gateway.sessions(), waiting)
    .toEqual([{ participant: base + 2, user_id: 'u-ann', username: 'ann', room_id: null }])
  expect(base + 2).toBeLessThan(2 ** 52)
})

test('[R-SES-1] a second connection of a session wins, and the old one leaves first', async () => {
  realtime = await startRealtime()
  const old = await realtime.join('t-ann')
  const young = await realtime.join('t-ann')
  expect(await old.closed).toEqual({ code: 4005, reason: 'session replaced' })
  expect(realtime.script.hooks()).toEqual(['join 1', 'leave 1', 'join 2'])
  expect((await realtime.gateway.sessions()).map(({ participant }) => participant)).toEqual([2])
  realtime.gateway.closeSessions(['s-ann'])
  expect((await young.closed).code).toBe(4004)
})

test('[R-SES-2] sessions of one account stand side by side, and so do guests', async () => {
  realtime = await startRealtime()
  const ann = realtime.backend.players.get('t-ann')
  if (ann) realtime.backend.players.set('t-ann2', { ...ann, session_id: 's-ann2' })
  realtime.backend.live.add('s-ann2')
  for (const token of ['t-ann', 't-ann2', '', '']) await realtime.join(token)
  expect(realtime.gateway.metrics()).toMatchObject({ participants_active: 4, sessions_active: 2 })
})

test('[R-SES-3] the end of the session life closes with 4004, looked at every 60 s', async () => {
  realtime = await startRealtime({ websocket: { heartbeat_interval_ms: 0 } })
  const client = await realtime.join('t-ann')
  const guest = await realtime.join()
  await realtime.clock.advance(3_599_000)
  expect(client.isOpen()).toBe(true)
  await realtime.clock.advance(61_000)
  expect(await client.closed).toEqual({ code: 4004, reason: 'session revoked' })
  expect(guest.isOpen()).toBe(true)
})

test('[R-REV-1] revocation closes the connections of these sessions and no other', async () => {
  realtime = await startRealtime()
  const ann = await realtime.join('t-ann')
  const bob = await realtime.join('t-bob')
  realtime.gateway.closeSessions(['s-ann', 's-nobody'])
  expect(await ann.closed).toEqual({ code: 4004, reason: 'session revoked' })
  expect(bob.isOpen()).toBe(true)
  expect(realtime.script.hooks()).toEqual(['join 1', 'join 2', 'leave 1'])
})

test('[R-REV-3] a revocation that raced the handshake closes the new connection', async () => {
  realtime = await startRealtime()
  realtime.backend.verify = async (token) => {
    const player = realtime.backend.players.get(token)
    // The token was good when it was looked up; the session is revoked before the answer arrives.
    realtime.backend.live.delete('s-ann')
    realtime.gateway.closeSessions(['s-ann'])
    return player
  }
  const client = await realtime.connect()
  client.send(5, 't-ann')
  expect((await client.next()).kind).toBe(6)
  expect((await client.closed).code).toBe(4004)
  expect(realtime.script.hooks()).toEqual(['join 1', 'leave 1'])
})

test('[R-REV-3] a session that could not be checked stays suspect until it could', async () => {
  realtime = await startRealtime()
  const { liveSessions } = realtime.backend
  let asked = 0
  realtime.backend.liveSessions = () => {
    asked += 1
    return Promise.reject(new Error('the database is down'))
  }
  const client = await realtime.join('t-ann')
  await expect.poll(() => asked, waiting).toBe(1)
  expect(client.isOpen()).toBe(true)
  realtime.backend.live.delete('s-ann')
  realtime.backend.liveSessions = liveSessions
  await realtime.clock.advance(1000)
  expect((await client.closed).code).toBe(4004)
})

test('[R-REV-3] revalidation closes what is over, and says when it could not ask', async () => {
  realtime = await startRealtime()
  const ann = await realtime.join('t-ann')
  const bob = await realtime.join('t-bob')
  await realtime.gateway.revalidate()
  const { liveSessions } = realtime.backend
  realtime.backend.live.delete('s-bob')
  realtime.backend.liveSessions = () => Promise.reject(new Error('the database is down'))
  await expect(realtime.gateway.revalidate()).rejects.toThrow('the database is down')
  realtime.backend.liveSessions = liveSessions
  await realtime.gateway.revalidate()
  expect((await bob.closed).code).toBe(4004)
  expect(ann.isOpen()).toBe(true)
})

test('[R-CLS-3] what came before the end reaches the script before on_leave', async () => {
  realtime = await startRealtime()
  realtime.script.kinds.add(100)
  const client = await realtime.join('t-ann')
  client.send(100, 'last words')
  client.close()
  await client.closed
  await expect
    .poll(() => realtime.script.hooks(), waiting)
    .toEqual(['join 1', 'message 1', 'leave 1'])
  expect(await realtime.gateway.sessions()).toEqual([])
})

test('[R-CLS-2] from the decision to close on nothing comes in and nothing is queued', async () => {
  realtime = await startRealtime()
  realtime.script.kinds.add(100)
  const client = await realtime.join('t-ann')
  const send = (text: string) =>
    realtime.gateway.send({
      kind: 100,
      body: new TextEncoder().encode(text),
      unreliable: false,
      participants: [1],
    })
  send('before')
  realtime.gateway.closeSessions(['s-ann'])
  send('after')
  client.send(100, 'too late')
  await client.closed
  expect(client.received.map(({ body }) => new TextDecoder().decode(body))).toEqual(['before'])
  expect(realtime.script.hooks()).toEqual(['join 1', 'leave 1'])
})

test('[R-CLS-2] a peer that does not answer the close is cut off after 2 s', async () => {
  realtime = await startRealtime()
  const raw = await realtime.connectRaw()
  await raw.until('\r\n\r\n')
  raw.socket.write(
    Buffer.from([0x82, 0x80 | 11, 0, 0, 0, 0, 0, 0, 0, 7, 0, 5, ...Buffer.from('t-ann')]),
  )
  await raw.until('u-ann')
  realtime.gateway.closeSessions(['s-ann'])
  await raw.until('session revoked')
  await realtime.clock.advance(1900)
  expect(realtime.gateway.metrics().connections_active).toBe(1)
  await realtime.clock.advance(100)
  await raw.ended
  await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
})

test('[R-CLS-2] a connection that was not being read from can still close', async () => {
  realtime = await startRealtime()
  realtime.script.kinds.add(100)
  const client = await realtime.join('t-ann')
  realtime.script.isCongested = true
  client.send(100, 'x')
  await expect.poll(() => realtime.gateway.metrics().bytes_in_total, waiting).toBe(18)
  realtime.gateway.closeSessions(['s-ann'])
  expect((await client.closed).code).toBe(4004)
  await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
  realtime.script.drain()
  expect(realtime.script.hooks()).toEqual(['join 1', 'leave 1'])
})

test('[R-CLS-4] shutdown closes everybody with 1001 and resolves when all are gone', async () => {
  realtime = await startRealtime()
  const clients = [await realtime.join('t-ann'), await realtime.join(), await realtime.connect()]
  await realtime.gateway.close()
  for (const client of clients) {
    expect(await client.closed).toEqual({ code: 1001, reason: 'shutdown' })
  }
  expect(realtime.gateway.metrics().connections_active).toBe(0)
  expect(realtime.clock.timersWaiting()).toBe(0)
})

test('[R-CLS-4] an upgrade that arrives during the shutdown ends with 1001', async () => {
  realtime = await startRealtime()
  await realtime.gateway.close()
  const late = await realtime.connect()
  expect(await late.closed).toEqual({ code: 1001, reason: 'shutdown' })
})

const rpc = rpcRequestBody.encode({ request_id: 1n, method: 'echo', payload: bytesOf('') })

test.each([
  ['an RPC', kinds.RPC_REQUEST.first, rpc, true],
  ['a message that the game handles', 100, bytesOf('x'), true],
  ['a position that the game handles', kinds.POSITION.first, bytesOf('x'), true],
  ['a message that nobody handles', 101, bytesOf('x'), false],
  ['a kind of the service', kinds.ROOM_MAP_READY.first, bytesOf('x'), false],
])('[R-LIM-6] %s (kind %d) while the inbox is full', async (_what, kind, body, waits) => {
  realtime = await startRealtime()
  // A script may say so of any number; the service keeps its own kinds.
  for (const handled of [100, kinds.POSITION.first, kinds.ROOM_MAP_READY.first]) {
    realtime.script.kinds.add(handled)
  }
  const client = await realtime.join()
  const before = realtime.gateway.metrics().bytes_in_total
  realtime.script.isCongested = true
  client.send(kind, body)
  const bytesIn = () => realtime.gateway.metrics().bytes_in_total - before
  await expect.poll(bytesIn, waiting).toBe(6 + body.length)
  await realtime.clock.advance(0)
  expect(realtime.gateway.metrics().messages_in_total).toBe(waits ? 0 : 1)
  realtime.script.drain()
  await expect.poll(() => realtime.gateway.metrics().messages_in_total, waiting).toBe(1)
})
