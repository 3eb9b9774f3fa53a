import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { createInvitationRates } from './invitation-rates.ts'
import { call, crowds, found } from './parties.fixture.ts'

const crowd = crowds()
const { start, account } = crowd

const tooMany = 'too many requests'
const party = { party: { max_members: 100 } }
const nobodyYet = { invitations: [] }

test('[R-PTY-10] an account sends ten invitations a minute, and regains them evenly', async () => {
  const { ann } = await start(party)
  const { party_id } = await found(ann)
  const invite = (name: string) => call(ann, 'invite', { party_id, target_user_id: `u-${name}` })
  for (let sent = 0; sent < 10; sent += 1) expect(await invite(`a${sent}`)).not.toBe(tooMany)
  expect(await invite('b')).toBe(tooMany)
  await crowd.realtime.clock.advance(5999)
  expect(await invite('b')).toBe(tooMany)
  await crowd.realtime.clock.advance(1)
  expect(await invite('b')).toMatchObject({ party_id })
  expect(await invite('c')).toBe(tooMany)
})

test('[R-PTY-10, R-PTY-5] repeats and refused invitations are not counted', async () => {
  const { ann } = await start({ party: { max_members: 3 } })
  const { party_id } = await found(ann)
  const invite = (target_user_id: string) => call(ann, 'invite', { party_id, target_user_id })
  for (let again = 0; again < 30; again += 1) {
    expect(await invite('u-bob')).toMatchObject({ invitations: [{ user_id: 'u-bob' }] })
    expect(await invite('nobody')).toBe('user not found')
    expect(await invite('u-ann')).toBe('user already belongs to a party')
  }
  expect(await invite('u-cid')).toMatchObject({ invitations: [{}, {}] })
  expect(await invite('u-dan')).toBe('party is full')
})

test('[R-PTY-10] two invitations a minute by one account to one target, of which it hears no more', async () => {
  const { ann, bob } = await start(party)
  const { party_id } = await found(ann)
  const invite = () => call(ann, 'invite', { party_id, target_user_id: 'u-bob' })
  for (let times = 0; times < 2; times += 1) {
    expect(await invite()).toMatchObject({ invitations: [{}] })
    await call(bob, 'decline', { party_id })
  }
  const heard = bob.received.length
  expect(await invite()).toBe(tooMany)
  expect(await call(ann, 'status')).toMatchObject(nobodyYet)
  expect(bob.received).toHaveLength(heard)
  await crowd.realtime.clock.advance(30_000)
  expect(await invite()).toMatchObject({ invitations: [{}] })
})

test('[R-PTY-10] an account is sent ten invitations a minute by all together', async () => {
  const { bob } = await start(party)
  const invited = { target_user_id: 'u-bob' }
  for (let leader = 0; leader < 10; leader += 1) {
    const client = await account(`leader${leader}`)
    const { party_id } = await found(client)
    expect(await call(client, 'invite', { party_id, ...invited })).toMatchObject({ party_id })
  }
  const late = await account('late')
  const { party_id } = await found(late)
  expect(await call(late, 'invite', { party_id, ...invited })).toBe(tooMany)
  await expect.poll(() => bob.received.length).toBe(10)
})

test('[R-PTY-10] what is kept are the invitations of one minute', async () => {
  const clock = createFakeClock()
  const rates = createInvitationRates(clock)
  for (let sender = 0; sender < 200; sender += 1) {
    for (let target = 0; target < 10; target += 1) rates.take(`s${sender}`, `t${sender}-${target}`)
    await clock.advance(1000)
  }
  expect(rates.size).toBeLessThanOrEqual(60 * 21)
  await clock.advance(60_000)
  rates.take('one', 'other')
  expect(rates.size).toBe(3)
})
