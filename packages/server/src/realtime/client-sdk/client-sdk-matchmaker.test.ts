import { randomUUID } from 'node:crypto'
import { type Connection, createPlayer, type Matched } from '@guildhall/client'
import type { PartyPush } from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import { openLine } from './cut-line.fixture.ts'
import { serveForSdk } from './sdk-node.fixture.ts'

/** The matchmaker and parties of the SDK at a real node. */

const script = `
guildhall.on_matchmaker_matched(({ members }) => ({ map: String(members.length) }))
guildhall.on_match_join(({ participant, properties }) =>
  guildhall.send(participant, 101, guildhall.json.encode({ properties })))
`

const node = serveForSdk(script)

type SignedIn = { id: string; connection: Connection; again(url: string): Promise<Connection> }

async function signIn(name: string): Promise<SignedIn> {
  const device = { id: randomUUID(), create: true, username: `${name}-${randomUUID()}` }
  const another = async (url: string) => {
    const player = createPlayer(url)
    const { user_id: id } = await player.signIn.device(device)
    return { id, connection: await player.connect({ reconnect: { baseMs: 10 } }) }
  }
  const first = await another(node.url)
  return { ...first, again: async (url) => (await another(url)).connection }
}

/** Tickets that only those of one test accept. */
function only(name: string) {
  return { query: `game == "${name}"`, properties: { game: name } }
}

function once<T>(subscribe: (call: (value: T) => void) => unknown): Promise<T> {
  return new Promise((resolve) => subscribe(resolve))
}

/** What a party has pushed to a connection. */
function partyEvents(connection: Connection): PartyPush[] {
  const heard: PartyPush[] = []
  connection.on('party', (event) => heard.push(event))
  return heard
}

it('[R-MM-19] [R-SDK-19] a ticket whose time is over rejects its search by itself', async () => {
  // The SDK's own clock stands still: it asks for nothing, and hears of it.
  const startTimer = () => () => {}
  const clock = { nowMs: () => Date.now(), monotonicMs: () => 0, startTimer }
  const player = createPlayer(node.url, { clock })
  const username = `ana-${randomUUID()}`
  await player.signIn.device({ id: username, create: true, username })
  const connection = await player.connect()
  const search = await connection.matchmaker.find({ ...only(randomUUID()), ttl_ms: 50 })
  await expect(search.room).rejects.toMatchObject({
    code: 'ticket_removed',
    message: 'the ticket has left the queue: expired',
  })
  await connection.close()
})

it('[R-SDK-19] [R-SDK-23] [R-MM-12] two searches become one room, with their properties', async () => {
  const [ana, ben] = [await signIn('ana'), await signIn('ben')]
  const criteria = only(randomUUID())
  const searches = await Promise.all([
    ana.connection.matchmaker.find({
      ...criteria,
      properties: { ...criteria.properties, score: 9_007_199_254_740_993n },
    }),
    ben.connection.matchmaker.find(criteria),
  ])
  const [anas, bens] = await Promise.all(searches.map(({ room }) => room))
  expect([anas?.id, anas?.map, anas?.mode]).toEqual([bens?.id, '2', 'matchmaker'])
  expect(ana.connection.rooms.current).toBe(anas)
  await vi.waitFor(() => expect(anas?.members.size).toBe(2))
  const { state, last_reason } = (await searches[0]?.status()) ?? {}
  expect({ state, last_reason }).toEqual({ state: 'matched', last_reason: null })
  expect(await searches[0]?.cancel()).toBe(false)
  await Promise.all([ana.connection.close(), ben.connection.close()])
})

it('[R-SDK-19] a search ends by cancel, by its signal, by its age and by the text of a refusal', async () => {
  const { connection } = await signIn('ana')
  const { matchmaker } = connection
  const first = await matchmaker.find(only(randomUUID()))
  expect(await first.status()).toMatchObject({ state: 'queued', ticket_id: first.ticketId })
  await expect(matchmaker.find()).rejects.toMatchObject({
    code: 'rpc_refused',
    message: 'ticket already queued',
  })
  expect(await first.cancel()).toBe(true)
  await expect(first.room).rejects.toMatchObject({ code: 'aborted' })
  await expect(matchmaker.find({ query: 'level = 1' })).rejects.toMatchObject({
    message: 'invalid query: there is no sign, name, number or text at character 7',
  })
  const abort = new AbortController()
  const second = await matchmaker.find(only(randomUUID()), { signal: abort.signal })
  abort.abort()
  await expect(second.room).rejects.toMatchObject({ code: 'aborted' })
  await vi.waitFor(async () => expect(await second.status()).toMatchObject({ state: 'removed' }))
  // It asks for the ticket every 15 s, and after each reconnect.
  const line2 = await openLine(Number(new URL(node.url).port))
  const other = await signIn('ben')
  const far = await other.again(line2.url)
  const third = await far.matchmaker.find({ ...only(randomUUID()), ttl_ms: 1 })
  await vi.waitFor(async () => expect(await third.status()).toMatchObject({ state: 'removed' }))
  line2.cut()
  line2.mend()
  await expect(third.room).rejects.toMatchObject({ code: 'ticket_removed' })
  await Promise.all([connection.close(), far.close(), other.connection.close()])
  line2.close()
})

it('[R-SDK-19] a match that was sent to a lost line is entered after the return', async () => {
  const [ana, ben] = [await signIn('ana'), await signIn('ben')]
  const far = await ana.again(node.line.url)
  const criteria = only(randomUUID())
  const search = await far.matchmaker.find(criteria)
  node.line.cut()
  await vi.waitFor(() => expect(far.state).toBe('reconnecting'))
  // The other connection of the account keeps the ticket, and hears of the match.
  const matched = once<Matched>((call) => ana.connection.on('matched', call))
  const bens = await (await ben.connection.matchmaker.find(criteria)).room
  expect(await matched).toMatchObject({ ticket_id: search.ticketId, match_id: bens.id })
  node.line.mend()
  expect((await search.room).id).toBe(bens.id)
  await Promise.all([far.close(), ana.connection.close(), ben.connection.close()])
})

it('[R-SDK-19] [R-SDK-20] [R-MM-11] a party is matched as one; a token is used once', async () => {
  const [ana, ben, cid] = [await signIn('ana'), await signIn('ben'), await signIn('cid')]
  const { party_id } = await ana.connection.party.create({ open: true })
  await ben.connection.party.join({ party_id })
  const matched = once<Matched>((call) => ben.connection.on('matched', call))
  const criteria = { ...only(randomUUID()), min_count: 3, max_count: 3 }
  const search = await ana.connection.matchmaker.find({ ...criteria, party_id })
  await expect(ben.connection.matchmaker.find(criteria)).rejects.toMatchObject({
    message: 'ticket already queued',
  })
  await expect(ana.connection.party.close({ party_id })).rejects.toMatchObject({
    message: 'party is queued; cancel its matchmaker ticket first',
  })
  const cids = await (await cid.connection.matchmaker.find(criteria)).room
  const anas = await search.room
  const match = await matched
  expect(match).toMatchObject({ ticket_id: search.ticketId, match_id: anas.id })
  const bens = await match.accept()
  expect([cids.id, bens.id]).toEqual([anas.id, anas.id])
  await expect(match.accept()).rejects.toMatchObject({
    message: 'match handoff not found or expired',
  })
  expect(ben.connection.rooms.current).toBe(bens)
  await Promise.all([ana, ben, cid].map(({ connection }) => connection.close()))
})

it('[R-SDK-20] [R-SDK-23] [R-PTY-7] party.current follows every change that others make', async () => {
  const [ana, ben, cid] = [await signIn('ana'), await signIn('ben'), await signIn('cid')]
  const heard = { ben: partyEvents(ben.connection), cid: partyEvents(cid.connection) }
  const { party } = ana.connection
  expect(party.current).toBe(null)
  await expect(party.status()).rejects.toMatchObject({ message: 'party membership required' })
  const { party_id } = await party.create()
  await party.invite({ party_id, target_user_id: ben.id })
  await vi.waitFor(() => expect(heard.ben).toMatchObject([{ type: 'party.invited', party_id }]))
  await ben.connection.party.accept({ party_id })
  await vi.waitFor(() => expect(party.current?.members).toHaveLength(2))

  const asked = await cid.connection.party.join({ party_id })
  expect(asked).toEqual({ requested: true, expires_at: expect.any(Number) })
  await vi.waitFor(() => expect(party.current?.requests).toMatchObject([{ user_id: cid.id }]))
  await party.acceptRequest({ party_id, target_user_id: cid.id })
  await vi.waitFor(() => expect(cid.connection.party.current?.members).toHaveLength(3))

  await party.send({ party_id, data: { gold: 9_007_199_254_740_993n } })
  const said = { type: 'party.message', party_id, sender_user_id: ana.id }
  await vi.waitFor(() =>
    expect(heard.ben).toContainEqual({ ...said, data: { gold: 9_007_199_254_740_993n } }),
  )

  await party.promote({ party_id, target_user_id: ben.id })
  await vi.waitFor(() => expect(cid.connection.party.current?.leader_user_id).toBe(ben.id))
  await ben.connection.party.remove({ party_id, target_user_id: cid.id })
  await vi.waitFor(() => expect(cid.connection.party.current).toBe(null))
  expect(heard.cid.at(-1)).toEqual({ type: 'party.closed', party_id, reason: 'removed' })
  await ben.connection.close()
  await vi.waitFor(() =>
    expect(party.current?.members.find(({ user_id }) => user_id === ben.id)?.online).toBe(false),
  )
  expect(await party.leave({ party_id })).toEqual({ left: true })
  expect(party.current).toBe(null)
  await Promise.all([ana.connection.close(), cid.connection.close()])
})

it('[R-SDK-20] after a reconnect the party is read anew', async () => {
  const [ana, ben] = [await signIn('ana'), await signIn('ben')]
  const far = await ana.again(node.line.url)
  const { party_id } = await far.party.create({ open: true })
  node.line.cut()
  await vi.waitFor(() => expect(far.state).toBe('reconnecting'))
  await ben.connection.party.join({ party_id })
  expect(far.party.current?.members).toHaveLength(1)
  node.line.mend()
  await vi.waitFor(() => expect(far.party.current?.members).toHaveLength(2))
  await Promise.all([far.close(), ana.connection.close(), ben.connection.close()])
})
