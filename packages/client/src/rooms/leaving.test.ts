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

async function inRoom() {
  const bench = await openConnected()
  const joining = bench.connection.rooms.join(7)
  await bench.peer.nextOf(kinds.ROOM_ENTER.first)
  sendJoined(bench.peer)
  await joining
  return bench
}

it('[R-SDK-11] [R-RET-4] who has left a room leaves it again where a link returns to it', async () => {
  const { connection, peer, host, server } = await inRoom()
  const leaving = connection.rooms.leave()
  await peer.nextOf(kinds.ROOM_LEAVE.first)
  sendLeave(peer)
  await leaving
  server.greet = (next) => next.accept({ room: { room_id: 7 } })
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
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
  const sent: number[] = []
  while (!sent.includes(100)) sent.push((await last.next()).kind)
  expect(sent).not.toContain(kinds.ROOM_LEAVE.first)
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
  const sent: number[] = []
  while (!sent.includes(100)) sent.push((await next.next()).kind)
  expect(sent).toContain(kinds.ROOM_LEAVE.first)
  sendLeave(next)
  await vi.waitFor(() => expect(connection.rooms.current).toBe(null))
})

it('[R-SDK-11] [R-RET-4] who has left a room and waits for another one is in that one', async () => {
  const { connection, peer, host, server } = await inRoom()
  const leaving = connection.rooms.leave()
  await peer.nextOf(kinds.ROOM_LEAVE.first)
  sendLeave(peer)
  await leaving
  server.greet = (next) => next.accept({ room: { room_id: 7 } })
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  const joining = connection.rooms.join(8)
  host.advance(250)
  const next = await server.connection()
  const sent: number[] = []
  while (!sent.includes(kinds.ROOM_ENTER.first)) sent.push((await next.next()).kind)
  expect(sent).toContain(kinds.ROOM_LEAVE.first)
  sendLeave(next)
  sendJoined(next, 8)
  const room = await joining
  connection.send(100, 'behind it')
  const later: number[] = []
  while (!later.includes(100)) later.push((await next.next()).kind)
  expect(later).not.toContain(kinds.ROOM_LEAVE.first)
  expect(connection.rooms.current).toBe(room)
})
