import { kinds, roomJoinedBody, roomReferenceBody } from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { openConnected } from '../testing/connected.ts'
import type { Peer } from '../testing/fake-server.ts'

function sendJoined(peer: Peer, room_id = 7): void {
  const joined = { room_id, map: 'arena1', mode: 'ffa' }
  peer.send(kinds.ROOM_JOINED.first, roomJoinedBody.encode(joined))
}

function sendLeave(peer: Peer, room_id = 7): void {
  peer.send(kinds.ROOM_LEAVE.first, roomReferenceBody.encode({ room_id }))
}

/** Who has left a room to which the next link returns; the link is lost. */
async function leftBehind() {
  const bench = await openConnected()
  const { connection, peer, server } = bench
  const joining = connection.rooms.join(7)
  await peer.nextOf(kinds.ROOM_ENTER.first)
  sendJoined(peer)
  await joining
  const leaving = connection.rooms.leave()
  await peer.nextOf(kinds.ROOM_LEAVE.first)
  sendLeave(peer)
  await leaving
  server.greet = (next) => next.accept({ room: { room_id: 7 } })
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  return bench
}

/** What comes up to the first of this kind. */
async function kindsUntil(peer: Peer, kind: number): Promise<number[]> {
  const sent: number[] = []
  while (!sent.includes(kind)) sent.push((await peer.next()).kind)
  return sent
}

it('[R-SDK-11] [R-RET-4] who has left a room leaves it again where a link returns to it', async () => {
  const { connection, host, server } = await leftBehind()
  host.advance(250)
  const next = await server.connection()
  await next.nextOf(kinds.ROOM_LEAVE.first)
  sendLeave(next)
  await vi.waitFor(() => expect(connection.rooms.current).toBe(null))
  // Who joins it again stays.
  const joining = connection.rooms.join(7)
  await next.nextOf(kinds.ROOM_ENTER.first)
  sendJoined(next)
  const room = await joining
  next.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.advance(500)
  const last = await server.connection()
  await vi.waitFor(() => expect(connection.state).toBe('open'))
  connection.send(100, 'behind a leave')
  expect(await kindsUntil(last, 100)).not.toContain(kinds.ROOM_LEAVE.first)
  expect(connection.rooms.current).toBe(room)
})

it('[R-SDK-17] [R-RET-4] what a lost link has not undone is undone on the next one', async () => {
  const { connection, host, peer, server } = await openConnected()
  const late = connection.rooms.join(7, {}, { timeoutMs: 1000 })
  await peer.nextOf(kinds.ROOM_ENTER.first)
  const failed = expect(late).rejects.toEqual(expect.objectContaining({ code: 'timeout' }))
  host.advance(1000)
  await failed
  sendJoined(peer)
  await peer.nextOf(kinds.ROOM_LEAVE.first)
  server.greet = (next) => next.accept({ room: { room_id: 7 } })
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.advance(250)
  const next = await server.connection()
  await vi.waitFor(() => expect(connection.state).toBe('open'))
  connection.send(100, 'behind a leave')
  expect(await kindsUntil(next, 100)).toContain(kinds.ROOM_LEAVE.first)
  sendLeave(next)
  await vi.waitFor(() => expect(connection.rooms.current).toBe(null))
})

it('[R-SDK-11] [R-RET-4] who has left a room and waits for another one is in that one', async () => {
  const { connection, host, server } = await leftBehind()
  const joining = connection.rooms.join(8)
  host.advance(250)
  const next = await server.connection()
  expect(await kindsUntil(next, kinds.ROOM_ENTER.first)).toContain(kinds.ROOM_LEAVE.first)
  sendLeave(next)
  sendJoined(next, 8)
  const room = await joining
  connection.send(100, 'behind it')
  expect(await kindsUntil(next, 100)).not.toContain(kinds.ROOM_LEAVE.first)
  expect(connection.rooms.current).toBe(room)
})
