import { kinds, sessionOptionsBody } from '@guildhall/contract'
import { describe, expect, test } from 'vitest'
import { textOf, waiting } from '../../realtime.fixture.ts'
import { callMethod, flags, joinAs, type Player } from '../rooms/rooms.fixture.ts'
import { call, crowds, forget, found, push } from './parties.fixture.ts'

const crowd = crowds()
const { start, together, joinAgain } = crowd

describe('membership', () => {
  test('[R-PTY-1, R-PTY-2, R-PTY-7] create, invite, accept, with what everybody hears', async () => {
    const { ann, bob } = await start()
    const party = await found(ann)
    const { party_id } = party
    expect(party).toEqual({
      party_id: expect.stringMatching(/^[A-Za-z0-9_-]{24}$/),
      leader_user_id: 'u-ann',
      open: false,
      members: [{ user_id: 'u-ann', username: 'ann', online: true }],
      invitations: [],
      requests: [],
      revision: 1,
    })
    const expires_at = crowd.realtime.clock.nowUnixMs() + 300_000
    const target = { party_id, target_user_id: 'u-bob' }
    expect(await call(ann, 'invite', target)).toMatchObject({
      invitations: [{ user_id: 'u-bob', username: 'bob', expires_at }],
      revision: 2,
    })
    expect(await call(ann, 'invite', target)).toMatchObject({ revision: 2 })
    expect(await push(bob)).toEqual({
      type: 'party.invited',
      party_id,
      leader_user_id: 'u-ann',
      leader_username: 'ann',
      expires_at,
    })
    expect(await call(bob, 'accept', { party_id })).toMatchObject({
      members: [{ user_id: 'u-ann' }, { user_id: 'u-bob', online: true }],
      invitations: [],
      revision: 3,
    })
    expect(await push(bob)).toMatchObject({
      type: 'party.presence.snapshot',
      party_revision: 3,
      presence_sequence: 3,
      online_members: [
        { user_id: 'u-ann', username: 'ann' },
        { user_id: 'u-bob', username: 'bob' },
      ],
    })
    const heard = [await push(ann), await push(ann), await push(ann)]
    expect(heard.map(({ type }) => type)).toEqual([
      'party.presence.snapshot',
      'party.presence.delta',
      'party.presence.delta',
    ])
    expect(await call(bob, 'status')).toMatchObject({ party_id, revision: 3 })
  })

  test('[R-CLS-3] who ends leaves the room before the party is sent that it is offline', async () => {
    const members = await together()
    const { ann, bob } = members
    ann.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: flags[1] }))
    ann.create('a')
    while (!(await ann.line()).startsWith('joined'));
    bob.create('a')
    while (!(await ann.line()).endsWith('2:u-bob'));
    forget(members)
    bob.end()
    expect(await ann.line()).toBe('v1 left 1 2:u-bob:disconnected')
    expect(await push(ann)).toMatchObject({ online_members: [{ user_id: 'u-ann' }] })
  })

  test('[R-PTY-5] errors name the party first, then membership, then leadership', async () => {
    const { ann, bob, cid, blocked, party_id } = await together()
    const guest = await joinAs(crowd.realtime)
    const refusals: [Player, string, object, string][] = [
      [guest, 'create', {}, 'authentication required'],
      [ann, 'create', { color: 1 }, 'invalid JSON body'],
      [ann, 'create', {}, 'user already belongs to a party'],
      [cid, 'update', { party_id: 'x', open: true }, 'party not found'],
      [cid, 'update', { party_id, open: true }, 'party membership required'],
      [bob, 'update', { party_id, open: true }, 'party leader required'],
      [ann, 'invite', { party_id, target_user_id: 'u-ann' }, 'user already belongs to a party'],
      [ann, 'invite', { party_id, target_user_id: 'nobody' }, 'user not found'],
      [ann, 'invite', { party_id }, 'user not found'],
      [cid, 'accept', { party_id }, 'party invitation not found'],
      [cid, 'decline', { party_id }, 'party invitation not found'],
      [cid, 'accept', { party_id: 'x' }, 'party not found'],
      [cid, 'join', { party_id: 'x' }, 'party not found'],
      [ann, 'accept_request', { party_id, target_user_id: 'u-cid' }, 'party request not found'],
      [ann, 'refuse_request', { party_id, target_user_id: 'u-cid' }, 'party request not found'],
      [ann, 'promote', { party_id, target_user_id: 'u-cid' }, 'user not found'],
      [ann, 'remove', { party_id, target_user_id: 'u-cid' }, 'user not found'],
      [cid, 'leave', { party_id }, 'party membership required'],
      [cid, 'status', {}, 'party membership required'],
      [cid, 'status', { party_id }, 'party membership required'],
      [ann, 'send', { party_id }, 'invalid data'],
      [ann, 'send', { party_id, data: 'x'.repeat(1023) }, 'invalid data'],
    ]
    for (const [client, method, payload, text] of refusals) {
      expect([method, await call(client, method, payload)]).toEqual([method, text])
    }
    blocked.push(['u-ann', 'u-cid'])
    const blockedInvite = { party_id, target_user_id: 'u-cid' }
    expect(await call(ann, 'invite', blockedInvite)).toBe('user not found')
    expect(await call(cid, 'join', { party_id })).toBe('party not found')
  })

  test('[R-PTY-3, R-PTY-6] leadership passes to who is connected longest; the last closes', async () => {
    const { ann, bob, party_id } = await together()
    expect(await call(ann, 'leave', { party_id })).toEqual({ left: true })
    expect(await push(bob)).toMatchObject({ type: 'party.presence.delta' })
    expect(await call(bob, 'status')).toMatchObject({ leader_user_id: 'u-bob' })
    expect(await call(bob, 'leave', { party_id })).toEqual({ left: true })
    expect(await push(bob)).toEqual({ type: 'party.closed', party_id, reason: 'expired' })
    expect(await call(bob, 'status')).toBe('party membership required')
  })

  test('[R-PTY-7] promote, remove and close are heard by those whom they concern', async () => {
    const { ann, bob, party_id } = await together()
    const target = { party_id, target_user_id: 'u-bob' }
    expect(await call(ann, 'promote', target)).toMatchObject({ leader_user_id: 'u-bob' })
    const back = { party_id, target_user_id: 'u-ann' }
    await call(bob, 'promote', back)
    forget({ ann, bob, cid: ann })
    expect(await call(ann, 'remove', target)).toMatchObject({ members: [{ user_id: 'u-ann' }] })
    expect(await push(bob)).toEqual({ type: 'party.closed', party_id, reason: 'removed' })
    expect(await call(ann, 'close', { party_id })).toEqual({ closed: true })
    expect(await push(ann)).toMatchObject({ type: 'party.presence.delta' })
    expect(await push(ann)).toEqual({ type: 'party.closed', party_id, reason: 'closed' })
  })

  test('[R-PTY-9] an open party is entered, any other is asked', async () => {
    const { ann, bob, cid } = await start({ party: { max_members: 2 } })
    const { party_id } = await found(ann)
    const asked = { requested: true, expires_at: crowd.realtime.clock.nowUnixMs() + 300_000 }
    expect(await call(bob, 'join', { party_id })).toEqual(asked)
    await crowd.realtime.clock.advance(1000)
    expect(await call(bob, 'join', { party_id })).toEqual(asked)
    expect(await call(cid, 'join', { party_id })).toMatchObject({ requested: true })
    const target = { party_id, target_user_id: 'u-cid' }
    expect(await call(ann, 'refuse_request', target)).toEqual({ refused: true })
    expect(await push(cid)).toEqual({ type: 'party.request_refused', party_id })
    await call(ann, 'update', { party_id, open: true })
    expect(await call(cid, 'join', { party_id })).toMatchObject({ members: [{}, {}] })
    expect(await call(bob, 'join', { party_id })).toBe('party is full')
    const late = { party_id, target_user_id: 'u-bob' }
    expect(await call(ann, 'accept_request', late)).toBe('party is full')
    await crowd.realtime.clock.advance(300_000)
    expect(await call(ann, 'status')).toMatchObject({ requests: [] })
  })

  test('[R-PTY-3, R-PTY-9] a request that expires takes no invitation with it', async () => {
    const { ann, bob } = await start()
    const { party_id } = await found(ann)
    await call(bob, 'join', { party_id })
    await crowd.realtime.clock.advance(200_000)
    await call(ann, 'invite', { party_id, target_user_id: 'u-bob' })
    await crowd.realtime.clock.advance(100_000)
    const invited = { requests: [], invitations: [{ user_id: 'u-bob' }] }
    expect(await call(ann, 'status')).toMatchObject(invited)
    expect(await call(bob, 'accept', { party_id })).toMatchObject({ members: [{}, {}] })
  })

  test('[R-PTY-6] who stays away leaves; who comes back gets the present state', async () => {
    const { ann, bob, party_id } = await together()
    bob.end()
    expect(await push(ann)).toMatchObject({ online_members: [{ user_id: 'u-ann' }] })
    await crowd.realtime.clock.advance(59_000)
    const again = await joinAs(crowd.realtime, 't-bob')
    expect(await push(again)).toMatchObject({ type: 'party.presence.snapshot', party_id })
    await crowd.realtime.clock.advance(2000)
    expect(await call(again, 'status')).toMatchObject({ members: [{}, {}] })
    again.end()
    await expect.poll(async () => (await crowd.realtime.gateway.sessions()).length, waiting).toBe(2)
    await crowd.realtime.clock.advance(60_000)
    expect(await call(ann, 'status')).toMatchObject({ members: [{ user_id: 'u-ann' }] })
  })
})

describe('messages and tickets', () => {
  test('[R-PTY-8] a message goes to everybody but the connection that sent it', async () => {
    const { ann, bob, cid, party_id } = await together()
    const phone = await joinAgain('ann')
    expect(await call(ann, 'send', { party_id, data: { at: [1, null] } })).toEqual({ sent: true })
    const from = `"party_id":"${party_id}","sender_user_id":"u-ann"`
    const text = `{"type":"party.message",${from},"data":{"at":[1,null]}}`
    for (const client of [bob, phone]) expect(textOf((await client.next()).body)).toBe(text)
    expect([ann.received, cid.received]).toEqual([[], []])
    for (let count = 0; count < 19; count += 1) await call(ann, 'send', { party_id, data: count })
    expect(await call(ann, 'send', { party_id, data: 1 })).toBe('too many requests')
    await crowd.realtime.clock.advance(100)
    expect(await call(ann, 'send', { party_id, data: 1 })).toEqual({ sent: true })
  })

  test('[R-PTY-4, R-MM-2] a queued party is frozen, and plays together', async () => {
    const { ann, bob, cid, party_id } = await together()
    const add = (client: Player, criteria: object) => callMethod(client, 'matchmaker.add', criteria)
    expect(await add(bob, { party_id })).toBe('party leader required')
    expect(await add(cid, { party_id })).toBe('party membership required')
    const three = { min_count: 3, max_count: 3 }
    expect(await add(ann, { party_id, ...three })).toMatchObject({ ticket_id: expect.any(String) })
    expect(await add(bob, three)).toBe('ticket already queued')
    const frozen = 'party is queued; cancel its matchmaker ticket first'
    expect(await call(ann, 'invite', { party_id, target_user_id: 'u-cid' })).toBe(frozen)
    expect(await call(ann, 'close', { party_id })).toBe(frozen)
    expect(await call(ann, 'promote', { party_id, target_user_id: 'u-bob' })).toBe(frozen)
    expect(await call(cid, 'join', { party_id })).toBe(frozen)
    expect(await call(ann, 'update', { party_id, open: true })).toMatchObject({ open: true })
    forget({ ann, bob, cid })
    await add(cid, three)
    for (const client of [ann, bob, cid]) expect((await client.next()).kind).toBe(26)
    await add(ann, { party_id, ...three })
    await call(bob, 'leave', { party_id })
    expect(crowd.realtime.gateway.matchmaker()).toMatchObject({
      queued_tickets: 0,
      matches_formed_total: 1,
      tickets_formed_total: 2,
      tickets_cancelled_total: 1,
    })
  })

  test.each([
    ['as it was, and waits again', false, 2],
    ['left by a member, and does not', true, 1],
  ])('[R-MM-13] a party whose match lost its room is %s', async (_, leaves, queued) => {
    const { ann, bob, cid, party_id } = await together()
    const { script, gateway } = crowd.realtime
    script.boundTo = { revision_id: 'r', generation: 1 }
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    script.onMatched = async () => {
      asked.resolve()
      await answer.promise
      return { status: 'absent' }
    }
    for (const [client, of] of [
      [ann, { party_id }],
      [cid, {}],
    ] as const) {
      await callMethod(client, 'matchmaker.add', { ...of, min_count: 3 })
    }
    await asked.promise
    expect(gateway.matchmaker()).toMatchObject({ queued_tickets: 0 })
    if (leaves) await call(bob, 'leave', { party_id })
    gateway.closeBoundRooms(1)
    answer.resolve()
    await expect.poll(() => gateway.matchmaker().queued_tickets, waiting).toBe(queued)
  })

  test('[R-MM-2] all members must be connected to queue', async () => {
    const { ann, bob, party_id } = await together()
    bob.end()
    expect(await push(ann)).toMatchObject({ online_members: [{ user_id: 'u-ann' }] })
    expect(await callMethod(ann, 'matchmaker.add', { party_id })).toBe(
      'all party members must be connected',
    )
  })
})
