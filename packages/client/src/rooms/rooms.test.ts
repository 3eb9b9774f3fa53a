import {
  kinds,
  matchClosedBody,
  roomEnterBody,
  roomJoinedBody,
  roomReferenceBody,
  roomRejectBody,
} from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { heard, openConnected, settle } from '../testing/connected.ts'
import type { Peer } from '../testing/fake-server.ts'
import type { Room, RoomEnd } from './room-types.ts'

const code = (name: string) => expect.objectContaining({ code: name })
const text = (value: string) => new TextEncoder().encode(value)

async function nextEnter(peer: Peer) {
  return roomEnterBody.decode((await peer.nextOf(kinds.ROOM_ENTER.first)).body)
}

function sendJoined(peer: Peer, room_id = 7, map = 'arena1'): void {
  peer.send(kinds.ROOM_JOINED.first, roomJoinedBody.encode({ room_id, map, mode: 'ffa' }))
}

function sendReject(peer: Peer, reason: string): void {
  peer.send(kinds.ROOM_REJECT.first, roomRejectBody.encode({ request_kind: 48, reason }))
}

function sendLeave(peer: Peer, room_id = 7): void {
  peer.send(kinds.ROOM_LEAVE.first, roomReferenceBody.encode({ room_id }))
}

const self = { participant: 42, user_id: null, username: null, reason: null }
const ana = { participant: 43, user_id: 'u-1', username: 'ana', reason: null }
const ben = { participant: 44, user_id: 'u-2', username: 'ben', reason: null }

async function inRoom() {
  const bench = await openConnected()
  const joining = bench.connection.rooms.join(7)
  await nextEnter(bench.peer)
  sendJoined(bench.peer)
  bench.peer.presence({ event: 'snapshot', entries: [self, ana] })
  const room = await joining
  await vi.waitFor(() => expect(room.members.size).toBe(2))
  return { ...bench, room }
}

it('[R-SDK-17] create, join and joinOrCreate are the modes of ROOM_ENTER', async () => {
  const { connection, peer } = await openConnected()
  const { rooms } = connection
  const asked = [
    rooms.create(null, { team: 1 }),
    rooms.create('hall'),
    rooms.join(7),
    rooms.joinOrCreate('lobby', {}),
  ]
  const seen = []
  for (const _ of asked) {
    seen.push(await nextEnter(peer))
    sendJoined(peer, seen.length)
  }
  expect(seen).toEqual([
    { mode: 'create', name: '', options: '{"team":1}' },
    { mode: 'create', name: 'hall', options: '' },
    { mode: 'join', room_id: 7, options: '' },
    { mode: 'join_or_create', name: 'lobby', options: '' },
  ])
  expect((await Promise.all(asked)).map(({ id }) => id)).toEqual([1, 2, 3, 4])
  expect(rooms.current).toMatchObject({ id: 4, map: 'arena1', mode: 'ffa' })
})

it('[R-SDK-17] a refusal is room_refused with its text, and the player stays', async () => {
  const { connection, peer, room } = await inRoom()
  const refused = expect(connection.rooms.join(8)).rejects.toMatchObject({
    code: 'room_refused',
    message: 'room is full',
  })
  await nextEnter(peer)
  sendReject(peer, 'room is full')
  await refused
  expect(connection.rooms.current).toBe(room)
})

it('[R-SDK-17] refuses ids, names and options that the server would', async () => {
  const { connection, peer } = await openConnected()
  const { rooms } = connection
  let deep: Record<string, unknown> = {}
  for (let level = 0; level < 16; level += 1) deep = { deep }
  for (const asked of [
    rooms.join(0),
    rooms.join(1.5),
    rooms.joinOrCreate('x'.repeat(129)),
    rooms.joinOrCreate('é'.repeat(65)),
    rooms.create('a\nb'),
    rooms.create('del\x7f'),
    rooms.join(7, { long: 'x'.repeat(1014) }),
    rooms.join(7, deep),
    rooms.join(7, [] as never),
  ]) {
    await expect(asked).rejects.toEqual(code('invalid_argument'))
  }
  const fits = rooms.join(7, { long: 'x'.repeat(1013) })
  expect((await nextEnter(peer)).options).toHaveLength(1024)
  sendJoined(peer)
  await fits
})

it('[R-SDK-17] one request at a time, four wait, the next one is queue_full', async () => {
  const { connection, peer } = await openConnected()
  const asked = [1, 2, 3, 4, 5].map((id) => connection.rooms.join(id))
  await expect(connection.rooms.join(6)).rejects.toEqual(code('queue_full'))
  await nextEnter(peer)
  let isMore = false
  const next = nextEnter(peer).then((enter) => {
    isMore = true
    return enter
  })
  await settle()
  expect(isMore).toBe(false)
  sendReject(peer, 'room not found')
  await expect(asked[0]).rejects.toEqual(code('room_refused'))
  expect(await next).toMatchObject({ room_id: 2 })
  const rest = asked.slice(1).map((one) => expect(one).rejects.toEqual(code('closed')))
  await connection.close()
  await Promise.all(rest)
})

it('[R-SDK-17] an answer that comes too late is undone, and the next request waits', async () => {
  const { connection, peer, host } = await openConnected()
  const late = expect(connection.rooms.join(7)).rejects.toEqual(code('timeout'))
  await nextEnter(peer)
  host.advance(10_000)
  const next = connection.rooms.join(8)
  host.advance(5_000)
  await late
  sendJoined(peer, 7)
  const { body } = await peer.nextOf(kinds.ROOM_LEAVE.first)
  expect(roomReferenceBody.decode(body).room_id).toBe(7)
  expect(connection.rooms.current).toBe(null)
  sendLeave(peer, 7)
  expect(await nextEnter(peer)).toMatchObject({ room_id: 8 })
  sendJoined(peer, 8)
  expect((await next).id).toBe(8)
})

it('[R-SDK-17] an abort while waiting is never sent; a late refusal frees the way', async () => {
  const { connection, peer } = await openConnected()
  const abort = new AbortController()
  const first = connection.rooms.join(7, {}, { signal: abort.signal })
  const second = connection.rooms.join(8, {}, { signal: abort.signal })
  const third = connection.rooms.join(9)
  const aborted = [first, second].map((one) => expect(one).rejects.toEqual(code('aborted')))
  await nextEnter(peer)
  abort.abort()
  await Promise.all(aborted)
  sendReject(peer, 'room not found')
  expect(await nextEnter(peer)).toMatchObject({ room_id: 9 })
  sendJoined(peer, 9)
  await third
})

it('[R-SDK-17] leave resolves when the room has ended, and at once outside one', async () => {
  const { connection, peer, room } = await inRoom()
  const ends = heard<RoomEnd>((call) => room.on('closed', call))
  const left = connection.rooms.leave()
  await peer.nextOf(kinds.ROOM_LEAVE.first)
  peer.presence({ event: 'left', entries: [{ ...self, reason: 'left' }] })
  sendLeave(peer)
  await left
  expect(ends).toEqual([{ reason: 'left', requeue: false }])
  expect(connection.rooms.current).toBe(null)
  await Promise.all([connection.rooms.leave(), room.leave()])
})

it('[R-SDK-17] a room that is named again is the same room', async () => {
  const { connection, peer, room } = await inRoom()
  const again = connection.rooms.join(7)
  await nextEnter(peer)
  sendJoined(peer, 7, 'arena2')
  expect(await again).toBe(room)
  expect(room.map).toBe('arena2')
})

it('[R-SDK-18] members follow presence, with an event per difference', async () => {
  const { peer, room } = await inRoom()
  const events: unknown[] = []
  for (const event of ['join', 'drop', 'return'] as const) {
    room.on(event, ({ participant }) => events.push([event, participant]))
  }
  room.on('leave', ({ participant }, departure) => events.push(['leave', participant, departure]))
  expect(room.members.get(43)).toEqual({
    participant: 43,
    user_id: 'u-1',
    username: 'ana',
    connected: true,
  })
  peer.presence({ event: 'joined', entries: [ben] })
  peer.presence({ event: 'dropped', entries: [{ ...ana, reason: 'dropped' }] })
  peer.presence({ event: 'returned', entries: [ana] })
  peer.presence({ event: 'left', entries: [{ ...ben, reason: 'disconnected' }] })
  peer.presence({ event: 'joined', room_id: 8, entries: [ben] })
  // A snapshot in two parts: ana is gone, ben is there and dropped.
  peer.presence({ event: 'snapshot', more: true, entries: [self] })
  peer.presence({ event: 'snapshot', entries: [{ ...ben, reason: 'dropped' }] })
  await vi.waitFor(() => expect(events).toHaveLength(6))
  expect(events).toEqual([
    ['join', 44],
    ['drop', 43],
    ['return', 43],
    ['leave', 44, 'disconnected'],
    ['leave', 43, 'left'],
    ['join', 44],
  ])
  expect(room.members.get(44)?.connected).toBe(false)
})

it('[R-SDK-18] a room hears the envelopes of its time, from the first one on', async () => {
  const { connection, peer, room } = await inRoom()
  const messages: string[] = []
  peer.send(101, text('early'))
  await settle()
  room.on(101, (message) => messages.push(message.text()))
  await settle()
  peer.send(102, text('another kind'))
  peer.send(101, text('second'))
  await vi.waitFor(() => expect(messages).toEqual(['early', 'second']))
  const moving = connection.rooms.join(8)
  await nextEnter(peer)
  peer.presence({ event: 'left', entries: [{ ...self, reason: 'left' }] })
  sendJoined(peer, 8)
  peer.send(101, text('of the next room'))
  const next = await moving
  const later: string[] = []
  next.on(101, (message) => later.push(message.text()))
  await vi.waitFor(() => expect(later).toEqual(['of the next room']))
  expect(messages).toEqual(['early', 'second'])
})

const ends: [name: string, send: (peer: Peer) => void, end: RoomEnd][] = [
  [
    'MATCH_CLOSED that asks to requeue',
    (peer) => {
      const body = matchClosedBody.encode({ room_id: 7, reason: 0, requeue: true })
      peer.send(kinds.MATCH_CLOSED.first, body)
      peer.presence({ event: 'left', entries: [{ ...self, reason: 'removed' }] })
    },
    { reason: 'server', requeue: true },
  ],
  [
    'MATCH_CLOSED',
    (peer) => {
      const body = matchClosedBody.encode({ room_id: 7, reason: 0, requeue: false })
      peer.send(kinds.MATCH_CLOSED.first, body)
    },
    { reason: 'removed', requeue: false },
  ],
  [
    'an own left',
    (peer) => peer.presence({ event: 'left', entries: [{ ...self, reason: 'left' }] }),
    { reason: 'left', requeue: false },
  ],
  [
    'an own left, removed',
    (peer) => peer.presence({ event: 'left', entries: [{ ...self, reason: 'removed' }] }),
    { reason: 'removed', requeue: false },
  ],
]

it.each(ends)('[R-SDK-18] %s ends the room, once', async (_name, send, end) => {
  const { connection, peer, room } = await inRoom()
  const closed = heard<RoomEnd>((call) => room.on('closed', call))
  send(peer)
  await vi.waitFor(() => expect(closed).toEqual([end]))
  expect(connection.rooms.current).toBe(null)
  expect(() => room.send(100, 'x')).toThrow(code('not_in_room'))
  await settle()
  expect(closed).toHaveLength(1)
})

it('[R-SDK-18] moving to another room closes the first one as moved', async () => {
  const { connection, peer, room } = await inRoom()
  const closed = heard<RoomEnd>((call) => room.on('closed', call))
  const moving = connection.rooms.joinOrCreate('next')
  await nextEnter(peer)
  peer.presence({ event: 'left', entries: [{ ...self, reason: 'left' }] })
  sendJoined(peer, 8)
  await moving
  expect(closed).toEqual([{ reason: 'moved', requeue: false }])
})

it('[R-SDK-11] a kept seat keeps the room, and its members are put right', async () => {
  const { connection, peer, room, host, server } = await inRoom()
  const events: unknown[] = []
  room.on('leave', ({ participant }) => events.push(['leave', participant]))
  room.on('join', ({ participant }) => events.push(['join', participant]))
  room.on('closed', () => events.push('closed'))
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  room.send(100, 'waits')
  server.greet = (next) => {
    next.accept({ room: { room_id: 7, map: 'arena3' } })
    next.presence({ event: 'snapshot', entries: [self, ben] })
  }
  host.advance(250)
  const next = await server.connection()
  expect(new TextDecoder().decode((await next.nextOf(100)).body)).toBe('waits')
  await vi.waitFor(() => expect(events).toHaveLength(2))
  expect(events).toEqual([
    ['leave', 43],
    ['join', 44],
  ])
  expect(connection.rooms.current).toBe(room)
  expect(room.map).toBe('arena3')
})

it('[R-SDK-11] parts of a snapshot that a lost link has cut off name nobody', async () => {
  const { connection, peer, room, host, server } = await inRoom()
  const before = [...room.members.keys()]
  const messages = heard((call) => connection.on('message', call))
  peer.presence({ event: 'snapshot', more: true, entries: [{ ...ben, participant: 99 }] })
  peer.send(100, new Uint8Array())
  await vi.waitFor(() => expect(messages).toHaveLength(1))
  expect([...room.members.keys()]).toEqual(before)
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  server.greet = (next) => {
    next.accept({ room: { room_id: 7 } })
    next.presence({ event: 'snapshot', entries: [self, ben] })
  }
  host.advance(250)
  await vi.waitFor(() => expect([...room.members.keys()]).toEqual([42, 44]))
})

it('[R-SDK-11] without a seat the room ends as connection_lost', async () => {
  const { connection, peer, room, host, server } = await inRoom()
  const closed = heard<RoomEnd>((call) => room.on('closed', call))
  const states: (Room | null)[] = []
  connection.on('state', () => states.push(connection.rooms.current))
  peer.cut()
  await vi.waitFor(() => expect(states).toEqual([room]))
  // The same number on a node that was started again is somebody else.
  server.greet = (next) => next.accept({ participant: 42 })
  host.advance(250)
  await vi.waitFor(() => expect(states).toEqual([room, null]))
  expect(closed).toEqual([{ reason: 'connection_lost', requeue: false }])
})

it('[R-SDK-11] a room request that was sent is lost, one that waits goes out', async () => {
  const { connection, peer, host, server } = await openConnected()
  const sent = expect(connection.rooms.join(7)).rejects.toEqual(code('connection_lost'))
  const waiting = connection.rooms.join(8)
  await nextEnter(peer)
  peer.cut()
  await sent
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.advance(250)
  const next = await server.connection()
  expect(await nextEnter(next)).toMatchObject({ room_id: 8 })
  sendJoined(next, 8)
  expect((await waiting).id).toBe(8)
})

it('[R-SDK-24] ready sends kind 25', async () => {
  const { peer, room } = await inRoom()
  room.ready()
  const { body } = await peer.nextOf(kinds.ROOM_MAP_READY.first)
  expect(roomReferenceBody.decode(body).room_id).toBe(7)
})
