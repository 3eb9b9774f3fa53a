import {
  diagServerTimeBody,
  kinds,
  noticeBody,
  roomCreateBody,
  roomRejectBody,
  rpcRequestBody,
  rpcResponseBody,
  sessionInfoBody,
  sessionOptionsBody,
} from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import {
  bytesOf,
  type RealtimeFixture,
  startRealtime,
  type TestClient,
  textOf,
  waiting,
} from './realtime.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

test('[R-GEN-1] one number names a participant to its client, to scripts and to the console', async () => {
  realtime = await startRealtime()
  await realtime.join()
  const client = await realtime.join('t-ann')
  client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 0 }))
  const { participant } = sessionInfoBody.decode((await client.next()).body)
  expect(participant).toBe(2)
  expect(realtime.script.hooks()).toEqual(['join 1', 'join 2'])
  expect((await realtime.gateway.sessions())[1]).toMatchObject({ participant, user_id: 'u-ann' })
  client.close()
  await expect.poll(async () => (await realtime.gateway.sessions()).length, waiting).toBe(1)
})

test('[R-GEN-6] a clock that is set moves server time, and no interval', async () => {
  realtime = await startRealtime()
  const [client, waitingForAuth] = [await realtime.join('t-ann'), await realtime.connect()]
  const later = realtime.clock.nowUnixMs() + 3_000_000
  realtime.clock.setWall(later)
  await realtime.clock.advance(4000)
  expect([client, waitingForAuth].map(({ socket }) => socket.readyState)).toEqual([1, 1])
  expect(await serverTimeOf(client)).toBe(later + 4000)
  await realtime.clock.advance(1000)
  expect(await waitingForAuth.closed).toMatchObject({ code: 4002 })
})

test('[R-GEN-7] whatever is asked for reliably gets its answer when it is refused', async () => {
  realtime = await startRealtime({ limits: { rpc_in_flight: 0 } })
  const client = await realtime.join()
  client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 4 }))
  await client.next()
  client.send(kinds.ROOM_JOIN.first, new Uint8Array(8))
  const { kind, body } = await client.next()
  expect([kind, roomRejectBody.decode(body)]).toEqual([
    33,
    { request_kind: 22, reason: 'room not found' },
  ])
  expect(await rpc(client, 'any')).toEqual({ ok: false, text: 'too many requests' })
  client.send(150)
  expect(noticeBody.decode((await client.next()).body)).toMatchObject({ code: 1, kind: 150 })
  client.sendBytes(new Uint8Array([0, 0, 0, 1, 0]))
  expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: frame length' })
})

test('[R-LIV-3] a client that is silent is sent no envelope, and lives on', async () => {
  realtime = await startRealtime()
  const client = await realtime.join()
  for (let minute = 0; minute < 10; minute += 1) {
    await realtime.clock.advance(15_000)
    const pongs = () => realtime.gateway.metrics().websocket_pongs_received_total
    await expect.poll(pongs, waiting).toBe(minute + 1)
  }
  expect([client.received, client.messageBytes.length]).toEqual([[], 1])
  expect(client.isOpen()).toBe(true)
})

test('[R-HS-7] who connects again is somebody new: no room, no topic', async () => {
  realtime = await startRealtime()
  const first = await realtime.join('t-ann')
  realtime.gateway.joinTopic('t', 1)
  first.send(kinds.ROOM_CREATE.first, roomCreateBody.encode({ name: 'hall' }))
  expect((await first.next()).kind).toBe(kinds.ROOM_JOINED.first)
  first.close()
  await first.closed
  await expect.poll(() => realtime.gateway.sessions(), waiting).toEqual([])
  const again = await realtime.join('t-ann')
  expect(await realtime.gateway.sessions()).toMatchObject([{ participant: 2, room_id: null }])
  const command = { kind: 100, unreliable: false, sender: 0, except: [], room_id: null }
  realtime.gateway.broadcast({ ...command, body: bytesOf('topic'), topic: 't' })
  realtime.gateway.broadcast({ ...command, body: bytesOf('all') })
  expect(textOf((await again.next()).body)).toBe('all')
  expect(realtime.gateway.metrics()).toMatchObject({ topics_active: 0, rooms_active: 0 })
})

test('[R-RPC-3] built-in families never reach the script, for guests outside rooms either', async () => {
  realtime = await startRealtime()
  const asked: string[] = []
  realtime.script.onRpc = async (_context, method) => {
    asked.push(method)
    return { ok: true, reply: bytesOf('from the script') }
  }
  const guest = await realtime.join()
  expect(await rpc(guest, 'rooms.list', '{}')).toMatchObject({ ok: true, text: '{"rooms":[]}' })
  for (const method of ['rooms.', 'party.none', 'matchmaker.none']) {
    expect(await rpc(guest, method)).toEqual({ ok: false, text: 'unknown RPC method' })
  }
  expect(await rpc(guest, 'roomsy')).toEqual({ ok: true, text: 'from the script' })
  expect(asked).toEqual(['roomsy'])
})

let requests = 0n

async function rpc(client: TestClient, method: string, payload = '') {
  requests += 1n
  const request = { request_id: requests, method, payload: bytesOf(payload) }
  client.send(kinds.RPC_REQUEST.first, rpcRequestBody.encode(request))
  const reply = rpcResponseBody.decode((await client.next()).body)
  return { ok: reply.ok, text: textOf(reply.payload) }
}

/** What the server's clock says, by an offer of its time. */
async function serverTimeOf(client: TestClient): Promise<number> {
  client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 2 }))
  await client.next()
  const { kind, body } = await client.next()
  expect(kind).toBe(kinds.DIAG_SERVER_TIME.first)
  return diagServerTimeBody.decode(body).server_utc_ms
}
