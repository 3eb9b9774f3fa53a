import { expect, test } from 'vitest'
import { type FixtureOptions, textOf, waiting } from '../../realtime.fixture.ts'
import { callMethod } from '../rooms/rooms.fixture.ts'
import { call, crowds, forget, found, push } from './parties.fixture.ts'

const crowd = crowds()
const { start, together, account, joinAgain } = crowd

const tooMany = 'too many requests'

test('[R-PTY-3] members and open invitations are at most max_members', async () => {
  const { ann, bob, cid } = await start({ party: { max_members: 2 } })
  const { party_id } = await found(ann, { open: true })
  await call(ann, 'invite', { party_id, target_user_id: 'u-bob' })
  expect(await call(ann, 'invite', { party_id, target_user_id: 'u-cid' })).toBe('party is full')
  expect(await call(cid, 'join', { party_id })).toBe('party is full')
  expect(await call(bob, 'decline', { party_id })).toEqual({ declined: true })
  expect(await call(bob, 'decline', { party_id })).toBe('party invitation not found')
  expect(await call(cid, 'join', { party_id })).toMatchObject({ members: [{}, {}] })
})

test('[R-PTY-3, R-PTY-9] an invitation runs out; who is invited joins a closed party by it', async () => {
  const { ann, bob } = await start()
  const { party_id } = await found(ann)
  await call(ann, 'invite', { party_id, target_user_id: 'u-bob' })
  await crowd.realtime.clock.advance(300_000)
  expect(await call(bob, 'accept', { party_id })).toBe('party invitation not found')
  expect(await call(ann, 'status')).toMatchObject({ invitations: [], revision: 3 })
  await call(ann, 'invite', { party_id, target_user_id: 'u-bob' })
  expect(await call(bob, 'join', { party_id })).toMatchObject({
    members: [{}, {}],
    invitations: [],
  })
})

test('[R-PTY-9] a party keeps 16 requests, and an account files 8', async () => {
  const { ann } = await start()
  const { party_id } = await found(ann)
  for (let index = 0; index < 16; index += 1) {
    const asker = await account(`asker${index}`)
    expect(await call(asker, 'join', { party_id })).toMatchObject({ requested: true })
  }
  const late = await account('late')
  expect(await call(late, 'join', { party_id })).toBe(tooMany)
  await call(ann, 'refuse_request', { party_id, target_user_id: 'u-asker0' })
  expect(await call(late, 'join', { party_id })).toMatchObject({ requested: true })

  const others: string[] = []
  for (let index = 0; index < 9; index += 1) {
    others.push((await found(await account(`leader${index}`))).party_id)
  }
  const keen = await account('keen')
  for (const other of others.slice(0, 8)) {
    expect(await call(keen, 'join', { party_id: other })).toMatchObject({ requested: true })
  }
  expect(await call(keen, 'join', { party_id: others[8] })).toBe(tooMany)
  // Whoever joins a party waits for no other one.
  await found(keen)
  const [first] = others
  const leader = await joinAgain('leader0')
  expect(await call(leader, 'status', { party_id: first })).toMatchObject({ requests: [] })
})

test('[R-PTY-9] an accepted requester need not be online, but must still be an account', async () => {
  const active = new Set(['u-ann', 'u-bob', 'u-cid'])
  const people: FixtureOptions['people'] = {
    usernames: async (ids) => new Map(ids.filter((id) => active.has(id)).map((id) => [id, id])),
    areBlocked: async () => false,
  }
  const { ann, bob, cid } = await start({ people })
  const { party_id } = await found(ann)
  await call(bob, 'join', { party_id })
  await call(cid, 'join', { party_id })
  bob.end()
  cid.end()
  await expect.poll(async () => (await crowd.realtime.gateway.sessions()).length, waiting).toBe(1)
  active.delete('u-cid')
  const accept = (target_user_id: string) =>
    call(ann, 'accept_request', { party_id, target_user_id })
  expect(await accept('u-cid')).toBe('user not found')
  expect(await accept('u-bob')).toMatchObject({
    members: [{ online: true }, { user_id: 'u-bob', online: false }],
  })
  expect(await accept('u-bob')).toBe('party request not found')
})

test('[R-PTY-6] who has been connected longest without a gap leads, whichever connection it was', async () => {
  const { ann, bob, cid, party_id } = await together()
  await call(ann, 'invite', { party_id, target_user_id: 'u-cid' })
  await call(cid, 'accept', { party_id })
  // Bob came before Cid, and goes on with another connection.
  await crowd.realtime.clock.advance(10)
  const phone = await joinAgain('bob')
  bob.end()
  await expect.poll(async () => (await crowd.realtime.gateway.sessions()).length, waiting).toBe(3)
  await crowd.realtime.clock.advance(10)
  await call(ann, 'leave', { party_id })
  expect(await call(phone, 'status')).toMatchObject({ leader_user_id: 'u-bob' })
})

test('[R-PTY-2] what changes nothing adds nothing to the revision', async () => {
  const { ann, bob, cid, party_id } = await together()
  const { revision } = (await call(ann, 'status')) as { revision: number }
  const same = { party_id, target_user_id: 'u-ann' }
  expect(await call(ann, 'promote', same)).toMatchObject({ revision })
  expect(await call(ann, 'update', { party_id, open: false })).toMatchObject({ revision })
  expect(bob.received).toEqual([])
  expect(await call(ann, 'update', { party_id, open: true })).toMatchObject({
    revision: revision + 1,
  })
  expect(await push(bob)).toMatchObject({
    type: 'party.presence.delta',
    party_revision: revision + 1,
    presence_sequence: revision + 1,
  })
  expect(cid.received).toEqual([])
})

test('[R-PTY-4] while queued nobody comes in; requests and invitations wait', async () => {
  const { ann, bob, cid, party_id } = await together()
  const dan = await account('dan')
  await call(ann, 'invite', { party_id, target_user_id: 'u-dan' })
  await call(cid, 'join', { party_id })
  await callMethod(await joinAgain('ann'), 'matchmaker.add', { party_id, min_count: 9 })
  const frozen = 'party is queued; cancel its matchmaker ticket first'
  for (const method of ['accept', 'decline', 'join']) {
    expect([method, await call(dan, method, { party_id })]).toEqual([method, frozen])
  }
  const target = { party_id, target_user_id: 'u-cid' }
  for (const method of ['accept_request', 'refuse_request', 'remove']) {
    expect([method, await call(ann, method, target)]).toEqual([method, frozen])
  }
  // The end of a member's last connection cancels the ticket.
  bob.end()
  await expect.poll(() => crowd.realtime.gateway.matchmaker().queued_tickets, waiting).toBe(0)
  expect(await call(ann, 'accept_request', target)).toMatchObject({ members: [{}, {}, {}] })
})

test('[R-PTY-8] 64-bit integers go through whole; what is no JSON value does not', async () => {
  const { ann, bob, cid, party_id } = await together()
  forget({ ann, bob, cid })
  const body = (data: string) => `{"party_id":"${party_id}","data":${data}}`
  const send = (data: string) => callMethod(ann, 'party.send', body(data))
  expect(await send('[9223372036854775807,-9007199254740993,0.1]')).toEqual({ sent: true })
  expect(textOf((await bob.next()).body)).toContain(
    '"data":[9223372036854775807,-9007199254740993,0.1]}',
  )
  expect(await send('1e999')).toBe('invalid data')
  expect(await send(`${'['.repeat(600)}${']'.repeat(600)}`)).toBe('invalid data')
  expect(await send(`${'['.repeat(512)}${']'.repeat(512)}`)).toEqual({ sent: true })
  expect(await send('null')).toEqual({ sent: true })
  expect(await send('{')).toBe('invalid JSON body')
})

test('[R-PTY-8] messages of one sender arrive in their order', async () => {
  const { ann, bob, party_id } = await together()
  const sent = Array.from({ length: 15 }, (_, index) => index)
  for (const data of sent) await call(ann, 'send', { party_id, data })
  const heard: unknown[] = []
  for (const _ of sent) heard.push(((await push(bob)) as { data?: unknown }).data)
  expect(heard).toEqual(sent)
})
