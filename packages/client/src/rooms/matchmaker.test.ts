import { kinds, roomJoinedBody, rpcRequestBody, rpcResponseBody } from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { heard, openConnected } from '../testing/connected.ts'
import type { Peer } from '../testing/fake-server.ts'
import type { Matched } from './search.ts'

const code = (name: string) => expect.objectContaining({ code: name })
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

/** The next call, which must be of this method; answers with its payload. */
async function answer(peer: Peer, method: string, reply: unknown): Promise<unknown> {
  const { body } = await peer.nextOf(kinds.RPC_REQUEST.first)
  const request = rpcRequestBody.decode(body)
  expect(request.method).toBe(method)
  const ok = typeof reply !== 'string'
  const payload = ok ? json(reply) : new TextEncoder().encode(reply)
  const { request_id } = request
  peer.send(kinds.RPC_RESPONSE.first, rpcResponseBody.encode({ request_id, ok, payload }))
  return JSON.parse(new TextDecoder().decode(request.payload))
}

const match = { match_id: 7, join_token: 'secret', expires_at: 99 }

function sendMatched(peer: Peer, ticket_id: string): void {
  peer.send(kinds.MATCHMAKER_MATCHED.first, json({ ticket_id, ...match }))
}

function sendJoined(peer: Peer): void {
  const joined = { room_id: 7, map: 'default', mode: 'matchmaker' }
  peer.send(kinds.ROOM_JOINED.first, roomJoinedBody.encode(joined))
}

async function searching() {
  const bench = await openConnected()
  const finding = bench.connection.matchmaker.find({ min_count: 2 })
  expect(await answer(bench.peer, 'matchmaker.add', { ticket_id: 't-1' })).toEqual({ min_count: 2 })
  return { ...bench, search: await finding }
}

it('[R-SDK-19] a match is accepted by itself, also right behind the reply', async () => {
  const { connection, peer } = await openConnected()
  const finding = connection.matchmaker.find()
  expect(await answer(peer, 'matchmaker.add', { ticket_id: 't-1' })).toEqual({})
  sendMatched(peer, 't-1')
  const accepted = await answer(peer, 'matchmaker.accept', { accepted: true, match_id: 7 })
  expect(accepted).toEqual({ ticket_id: 't-1', join_token: 'secret' })
  sendJoined(peer)
  const search = await finding
  expect(search.ticketId).toBe('t-1')
  expect(await search.room).toBe(connection.rooms.current)
})

it('[R-SDK-19] a refused accept and a refused add have the text of the server', async () => {
  const { connection, peer, search } = await searching()
  sendMatched(peer, 't-1')
  await answer(peer, 'matchmaker.accept', 'match handoff not found or expired')
  await expect(search.room).rejects.toMatchObject({
    code: 'rpc_refused',
    message: 'match handoff not found or expired',
  })
  const refused = expect(connection.matchmaker.find()).rejects.toEqual(code('rpc_refused'))
  await answer(peer, 'matchmaker.add', 'ticket already queued')
  await refused
})

it('[R-SDK-19] cancel and the signal end a search as aborted', async () => {
  const { connection, peer, search } = await searching()
  const cancelled = search.cancel()
  await answer(peer, 'matchmaker.cancel', { cancelled: true })
  expect(await cancelled).toBe(true)
  await expect(search.room).rejects.toEqual(code('aborted'))
  const abort = new AbortController()
  const finding = connection.matchmaker.find({}, { signal: abort.signal })
  await answer(peer, 'matchmaker.add', { ticket_id: 't-2' })
  const second = await finding
  abort.abort()
  await expect(second.room).rejects.toEqual(code('aborted'))
  expect(await answer(peer, 'matchmaker.cancel', { cancelled: true })).toEqual({ ticket_id: 't-2' })
})

it('[R-SDK-17] [R-SDK-19] an abort while the match is accepted goes out of its room again', async () => {
  const { connection, peer } = await openConnected()
  const abort = new AbortController()
  const finding = connection.matchmaker.find({}, { signal: abort.signal })
  await answer(peer, 'matchmaker.add', { ticket_id: 't-1' })
  const search = await finding
  const aborted = expect(search.room).rejects.toEqual(code('aborted'))
  sendMatched(peer, 't-1')
  await answer(peer, 'matchmaker.accept', { accepted: true, match_id: 7 })
  abort.abort()
  await aborted
  sendJoined(peer)
  await peer.nextOf(kinds.ROOM_LEAVE.first)
  expect(connection.rooms.current).toBe(null)
})

it('[R-SDK-19] an abort behind the match is nothing any more', async () => {
  const { connection, peer } = await openConnected()
  const abort = new AbortController()
  const finding = connection.matchmaker.find({}, { signal: abort.signal })
  await answer(peer, 'matchmaker.add', { ticket_id: 't-1' })
  const search = await finding
  sendMatched(peer, 't-1')
  await answer(peer, 'matchmaker.accept', { accepted: true, match_id: 7 })
  sendJoined(peer)
  await search.room
  abort.abort()
  const next = connection.rpc('next', {})
  // It is the next call: no ticket is cancelled.
  await answer(peer, 'next', {})
  expect(await next).toEqual({})
  expect(connection.rooms.current?.id).toBe(7)
})

it('[R-SDK-19] the status after each open makes up for a lost kind 26', async () => {
  const { connection, peer, search, host, server } = await searching()
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.advance(250)
  const next = await server.connection()
  await answer(next, 'matchmaker.status', { ticket_id: 't-1', state: 'matched', match })
  await answer(next, 'matchmaker.accept', { accepted: true, match_id: 7 })
  sendJoined(next)
  expect((await search.room).id).toBe(7)
})

it.each([{ ticket_id: 't-1', state: 'removed' }, 'ticket not found'])(
  '[R-SDK-19] a ticket that has left the queue is ticket_removed: %o',
  async (status) => {
    const { peer, search, host } = await searching()
    // Another connection may have cancelled it, so the search asks.
    host.advance(15_000)
    await answer(peer, 'matchmaker.status', status)
    await expect(search.room).rejects.toEqual(code('ticket_removed'))
  },
)

it('[R-MM-19] [R-SDK-19] a ticket that the node removes rejects its search at once', async () => {
  const { connection, peer, search } = await searching()
  const errors = heard((call) => connection.on('error', call))
  const push = (ticket_id: string) =>
    peer.send(
      kinds.NOTIFICATION.first,
      json({ type: 'matchmaker.removed', ticket_id, reason: 'expired' }),
    )
  push('of another connection')
  push('t-1')
  // No clock was moved, and nobody asks for the status.
  await expect(search.room).rejects.toMatchObject({
    code: 'ticket_removed',
    message: 'the ticket has left the queue: expired',
  })
  push('t-1')
  const next = connection.matchmaker.find()
  await answer(peer, 'matchmaker.add', { ticket_id: 't-2' })
  expect((await next).ticketId).toBe('t-2')
  expect(errors).toEqual([])
})

it('[R-SDK-19] a match without a search raises matched', async () => {
  const { connection, peer } = await openConnected()
  const matches = heard<Matched>((call) => connection.on('matched', call))
  sendMatched(peer, 'of the leader')
  await vi.waitFor(() => expect(matches).toHaveLength(1))
  expect(matches[0]).toMatchObject({ ticket_id: 'of the leader', match_id: 7, expires_at: 99 })
  const entering = matches[0]?.accept()
  await answer(peer, 'matchmaker.accept', { accepted: true, match_id: 7 })
  sendJoined(peer)
  expect((await entering)?.id).toBe(7)
})

const party = { party_id: 'p-1', leader_user_id: 'u-1', open: true, revision: 1 }
const whole = { ...party, members: [], invitations: [], requests: [] }

it('[R-SDK-20] party calls have their names of the wire, and current is the last reply', async () => {
  const { connection, peer } = await openConnected()
  const creating = connection.party.create({ open: true })
  expect(await answer(peer, 'party.create', whole)).toEqual({ open: true })
  expect(await creating).toEqual(whole)
  expect(connection.party.current).toEqual(whole)
  const target = { party_id: 'p-1', target_user_id: 'u-2' }
  const accepting = connection.party.acceptRequest(target)
  expect(await answer(peer, 'party.accept_request', { ...whole, revision: 2 })).toEqual(target)
  await accepting
  expect(connection.party.current?.revision).toBe(2)
  const leaving = connection.party.leave({ party_id: 'p-1' })
  await answer(peer, 'party.leave', { left: true })
  expect(await leaving).toEqual({ left: true })
  expect(connection.party.current).toBe(null)
})

it('[R-SDK-20] the party is read anew after its events and each open, once it is used', async () => {
  const { connection, peer, host, server } = await openConnected()
  const events = heard<{ type: string }>((call) => connection.on('party', call))
  const push = (type: string) =>
    peer.send(kinds.NOTIFICATION.first, json({ type, party_id: 'p-1' }))
  push('party.presence.delta')
  await answer(peer, 'party.status', whole)
  await vi.waitFor(() => expect(connection.party.current).toEqual(whole))
  push('party.message')
  push('party.closed')
  await vi.waitFor(() => expect(events).toHaveLength(3))
  expect(connection.party.current).toBe(null)
  peer.cut()
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.advance(250)
  await answer(await server.connection(), 'party.status', { ...whole, revision: 5 })
  await vi.waitFor(() => expect(connection.party.current?.revision).toBe(5))
})
