import {
  kinds,
  noticeBody,
  peerPositionBody,
  roomJoinedBody,
  roomReferenceBody,
} from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { heard, openConnected, settle } from '../../testing/connected.ts'
import type { FakeServer } from '../../testing/fake-server.ts'
import type { Message } from './payload.ts'

const code = (name: string) => expect.objectContaining({ code: name })
const text = (value: string) => new TextEncoder().encode(value)

it('[R-SDK-14] payloads go as bytes, UTF-8, nothing or JSON with exact integers', async () => {
  const { connection, peer } = await openConnected()
  connection.send(100, new Uint8Array([1, 2]))
  connection.send(101, '5,3 é')
  connection.send(102, undefined)
  connection.send(103, { big: 2n ** 60n, list: [1, null] })
  expect((await peer.nextOf(100)).body).toEqual(new Uint8Array([1, 2]))
  expect(new TextDecoder().decode((await peer.next()).body)).toBe('5,3 é')
  expect((await peer.next()).body).toHaveLength(0)
  expect(new TextDecoder().decode((await peer.next()).body)).toBe(
    '{"big":1152921504606846976,"list":[1,null]}',
  )
})

it('[R-SDK-14] bytes are decoded when they are asked for', async () => {
  const { connection, peer } = await openConnected()
  const messages = heard<Message>((call) => connection.on('message', call))
  peer.send(100, text('{"n":9007199254740993}'))
  peer.send(101, new Uint8Array([0xff]))
  peer.send(102, text('{'))
  await vi.waitFor(() => expect(messages).toHaveLength(3))
  const [json, bytes, broken] = messages
  expect(json?.json()).toEqual({ n: 9007199254740993n })
  expect(bytes?.bytes).toEqual(new Uint8Array([0xff]))
  expect(() => bytes?.text()).toThrow(code('malformed_reply'))
  expect(broken?.text()).toBe('{')
  expect(() => broken?.json()).toThrow(code('malformed_reply'))
})

it.each([0, 2, 3, 99, 65_536, 1.5, -1])('[R-SDK-14] a game does not send kind %d', async (kind) => {
  const { connection } = await openConnected()
  expect(() => connection.send(kind, 'x')).toThrow(code('invalid_argument'))
})

it('[R-SDK-2] [R-SDK-14] refuses what the node or JSON would not take', async () => {
  const { connection, peer } = await openConnected({
    greet: (early) => early.accept({ maxBytes: 2048 }),
  })
  connection.send(100, new Uint8Array(2046))
  expect((await peer.nextOf(100)).body).toHaveLength(2046)
  for (const send of [
    () => connection.send(100, new Uint8Array(2047)),
    () => connection.send(1, new Uint8Array()),
    () => connection.send(1, new Uint8Array(1025)),
    () => connection.send(100, () => {}),
  ]) {
    expect(send).toThrow(code('invalid_argument'))
  }
  await expect(connection.rpc('x'.repeat(129))).rejects.toEqual(code('invalid_argument'))
  await expect(connection.rpc('big', new Uint8Array(2048))).rejects.toEqual(
    code('invalid_argument'),
  )
})

it('[R-SDK-15] 256 sends wait while not open, and one more is refused', async () => {
  const { connection, peer, host, server } = await openConnected()
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  for (let sent = 0; sent < 256; sent += 1) connection.send(100, `${sent}`)
  expect(() => connection.send(100, 'more')).toThrow(code('queue_full'))
  connection.send(1, 'lost', { unreliable: true })
  expect(connection.stats.unreliableDropped).toBe(1)
  server.greet = (next) => next.accept({ room: { room_id: 7 } })
  // Outside a room no seat is kept, so what waited is of another life.
  const states = heard((call) => connection.on('state', call))
  host.advance(250)
  await vi.waitFor(() => expect(connection.state).toBe('open'))
  expect(states).toContainEqual({ state: 'open', resumed: true, dropped: 0, lastClose: null })
  const next = await server.connection()
  const bodies: string[] = []
  for (let seen = 0; seen < 256; seen += 1) {
    bodies.push(new TextDecoder().decode((await next.nextOf(100)).body))
  }
  expect(bodies).toEqual(Array.from({ length: 256 }, (_, index) => `${index}`))
})

it('[R-SDK-15] at most 262,144 bytes wait while not open', async () => {
  const { connection, peer } = await openConnected()
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  for (let sent = 0; sent < 8; sent += 1) connection.send(100, new Uint8Array(32_768))
  expect(() => connection.send(100, new Uint8Array(1))).toThrow(code('queue_full'))
})

it('[R-SDK-11] sends that waited are discarded and counted when the seat was not kept', async () => {
  const { connection, peer, host, server } = await openConnected()
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  connection.send(100, 'one')
  connection.send(100, 'two')
  const call = connection.rpc('whoami')
  const states = heard((listen) => connection.on('state', listen))
  server.greet = (next) => next.accept({ participant: 43 })
  host.advance(250)
  const next = await server.connection()
  const request = await next.nextOf(kinds.RPC_REQUEST.first)
  expect(states).toContainEqual({ state: 'open', resumed: false, dropped: 2, lastClose: null })
  next.send(kinds.RPC_RESPONSE.first, new Uint8Array([...request.body.subarray(0, 8), 0]))
  expect(await call).toBeUndefined()
})

/** Sockets that hold as many bytes as a test says. */
function slowSockets() {
  const held = { bytes: 0 }
  class SlowSocket extends WebSocket {
    override get bufferedAmount() {
      return held.bytes
    }
  }
  return { held, WebSocket: SlowSocket }
}

/** A connection in a room whose line was cut, and that returns over a slow socket. */
async function cutWithSlowSockets() {
  const { held, ...slow } = slowSockets()
  const greet: FakeServer['greet'] = (early) => early.accept({ room: { room_id: 7 } })
  const { connection, peer, host, server } = await openConnected({ ...slow, greet })
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  return {
    connection,
    held,
    host,
    async returned() {
      host.advance(250)
      const next = await server.connection()
      await vi.waitFor(() => expect(connection.state).toBe('open'))
      return next
    },
  }
}

it('[R-SDK-15] refuses to send while the transport holds a megabyte', async () => {
  const { held, ...slow } = slowSockets()
  const { connection } = await openConnected(slow)
  held.bytes = 1024 * 1024 - 1
  connection.send(100, 'fits')
  held.bytes += 1
  expect(() => connection.send(100, 'more')).toThrow(code('queue_full'))
})

it('[R-SDK-15] what waits for a full transport goes out in order when it has room', async () => {
  const { connection, held, host, returned } = await cutWithSlowSockets()
  connection.send(100, 'one')
  connection.send(100, 'two')
  held.bytes = 1024 * 1024
  const next = await returned()
  expect(() => connection.send(100, 'full')).toThrow(code('queue_full'))
  const bodies: string[] = []
  const take = async () => bodies.push(new TextDecoder().decode((await next.nextOf(100)).body))
  held.bytes = 0
  host.advance(50)
  connection.send(100, 'three')
  for (let seen = 0; seen < 3; seen += 1) await take()
  expect(bodies).toEqual(['one', 'two', 'three'])
})

it('[R-SDK-15] a later send does not overtake what waits for a full transport', async () => {
  const { connection, held, returned } = await cutWithSlowSockets()
  connection.send(100, 'first')
  held.bytes = 1024 * 1024
  const next = await returned()
  held.bytes = 0
  connection.send(101, 'second')
  const order: number[] = []
  while (order.length < 2) {
    const { kind } = await next.next()
    if (kind >= 100) order.push(kind)
  }
  expect(order).toEqual([100, 101])
})

it('[R-SDK-17] a room that comes too late is left as soon as the transport takes it', async () => {
  const { held, ...slow } = slowSockets()
  const { connection, peer, host } = await openConnected(slow)
  const errors = heard((call) => connection.on('error', call))
  const late = expect(connection.rooms.join(7)).rejects.toEqual(code('timeout'))
  host.advance(15_000)
  await late
  held.bytes = 1024 * 1024
  peer.send(
    kinds.ROOM_JOINED.first,
    roomJoinedBody.encode({ room_id: 7, map: 'arena1', mode: 'ffa' }),
  )
  await settle()
  held.bytes = 0
  host.advance(50)
  const { body } = await peer.nextOf(kinds.ROOM_LEAVE.first)
  expect(roomReferenceBody.decode(body).room_id).toBe(7)
  expect(errors).toEqual([])
})

it('[R-SDK-13] [R-SDK-15] pushes right behind the handshake wait for their listeners', async () => {
  const matched = { ticket_id: 't', match_id: 'm', join_token: 'j', expires_at: 1 }
  const { connection, host } = await openConnected({
    greet(early) {
      early.accept({ room: { room_id: 7 } })
      early.send(kinds.MATCHMAKER_MATCHED.first, text(JSON.stringify(matched)))
      early.send(kinds.NOTIFICATION.first, text('{"type":"notification","id":1}'))
      early.send(kinds.NOTIFICATION.first, text('{"type":"party.request_refused"}'))
      early.send(kinds.CHAT_EVENT.first, text('{"version":1,"type":"typing"}'))
      early.send(100, text('on_return'))
    },
  })
  await settle()
  const matches = heard((call) => connection.on('matched', call))
  const notifications = heard((call) => connection.on('notification', call))
  const parties = heard((call) => connection.on('party', call))
  const messages = heard<Message>((call) => connection.on('message', call))
  await settle()
  expect(matches).toMatchObject([{ ticket_id: 't', match_id: 'm', expires_at: 1 }])
  expect(notifications).toEqual([{ type: 'notification', id: 1 }])
  expect(parties).toEqual([{ type: 'party.request_refused' }])
  expect(messages.map((message) => message.text())).toEqual(['on_return'])
  expect(connection.stats.unheard).toBe(0)
  // Nobody waits for ever.
  host.advance(5_001)
  const chats = heard((call) => connection.on('chat', call))
  await settle()
  expect([chats, connection.stats.unheard]).toEqual([[], 1])
})

it('[R-SDK-15] what nobody listens to is kept for the first listener of its kind', async () => {
  const { connection, peer, host } = await openConnected()
  peer.send(100, text('early'))
  peer.send(101, text('other'))
  await settle()
  host.advance(4_999)
  const messages = heard<Message>((call) => connection.on('message', call))
  await settle()
  expect(messages.map((message) => message.text())).toEqual(['early', 'other'])
  expect(connection.stats.unheard).toBe(0)
})

it('[R-SDK-15] what nobody listens to is dropped after 5 s, and beyond 256', async () => {
  const { connection, peer, host } = await openConnected()
  peer.send(100, text('old'))
  await settle()
  host.advance(5_001)
  for (let sent = 0; sent < 257; sent += 1) peer.send(100, text(`${sent}`))
  peer.send(kinds.NOTICE.first, noticeBody.encode({ code: 1, kind: 150, text: 'last' }))
  await new Promise((resolve) => connection.on('notice', resolve))
  const messages = heard<Message>((call) => connection.on('message', call))
  await settle()
  expect(messages).toHaveLength(256)
  expect(messages[0]?.text()).toBe('1')
  expect(connection.stats.unheard).toBe(2)
})

it('[R-SDK-13] each event has what its kind carries', async () => {
  const { connection, peer } = await openConnected()
  const positions = heard((call) => connection.on('position', call))
  const notices = heard((call) => connection.on('notice', call))
  const notifications = heard((call) => connection.on('notification', call))
  const chats = heard((call) => connection.on('chat', call))
  const parties = heard((call) => connection.on('party', call))
  const envelopes = heard<{ kind: number }>((call) => connection.on('envelope', call))
  const position = new Uint8Array([1, 2, 3])
  peer.send(2, peerPositionBody.encode({ participant: 43, position }))
  peer.send(47, noticeBody.encode({ code: 1, kind: 150, text: 'no handler' }))
  peer.send(27, text('{"type":"notification","id":1}'))
  peer.send(28, text('{"version":1,"type":"typing"}'))
  peer.send(27, text('{"type":"party.request_refused","party_id":"p"}'))
  peer.send(60, text('unknown'))
  await vi.waitFor(() => expect(envelopes).toHaveLength(6))
  expect(positions).toEqual([{ participant: 43, bytes: position }])
  expect(notices).toEqual([{ code: 1, kind: 150, text: 'no handler' }])
  expect(notifications).toEqual([{ type: 'notification', id: 1 }])
  expect(chats).toEqual([{ version: 1, type: 'typing' }])
  expect(parties).toEqual([{ type: 'party.request_refused', party_id: 'p' }])
  expect(envelopes.map(({ kind }) => kind)).toEqual([2, 47, 27, 28, 27, 60])
})

it('[R-SDK-13] a malformed body is counted and reported, and the next one is heard', async () => {
  const { connection, peer } = await openConnected()
  const errors = heard((call) => connection.on('error', call))
  const notices = heard((call) => connection.on('notice', call))
  peer.send(47, new Uint8Array([9]))
  peer.send(27, text('null'))
  peer.send(47, noticeBody.encode({ code: 1, kind: 150, text: 'fine' }))
  await vi.waitFor(() => expect(notices).toHaveLength(1))
  expect(errors).toEqual([code('malformed_reply'), code('malformed_reply')])
  expect(connection.stats.malformed).toBe(2)
})

it('[R-SDK-13] a listener that throws disturbs nobody; its error is an event', async () => {
  const { connection, peer } = await openConnected()
  const errors = heard((call) => connection.on('error', call))
  const order: string[] = []
  connection.on('message', () => {
    order.push('first')
    throw new Error('mine')
  })
  connection.on('message', async () => {
    order.push('second')
    throw new Error('later')
  })
  const off = connection.on('message', () => order.push('never'))
  off()
  peer.send(100, new Uint8Array())
  await vi.waitFor(() => expect(errors).toHaveLength(2))
  expect(order).toEqual(['first', 'second'])
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  connection.on('error', () => {
    throw new Error('even here')
  })
  peer.send(47, new Uint8Array())
  await vi.waitFor(() => expect(logged).toHaveBeenCalledOnce())
  logged.mockRestore()
})
