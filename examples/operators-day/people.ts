import assert from 'node:assert/strict'
import { createPlayer } from '@guildhall/client'
import { type Day, refused } from './diary.ts'

/** Accounts from their creation to their end, and what belongs to them. */
export async function runPeople(day: Day): Promise<void> {
  const ana = await addAccount(day)
  await endSession(day)
  const ben = await banPlayer(day)
  await adjustWallet(day, ana)
  await befriend(day, ana, ben)
  await exportAccount(day, ana, ben)
  await deleteAccount(day, ben)
}

async function addAccount({ client, own, say, expect }: Day): Promise<string> {
  const username = own('ana')
  const metadata = { level: 7, seen: 9_007_199_254_740_993n }
  const made = await client.consoleAccounts.create({ body: { username, metadata } })
  const { id } = made
  expect({ action: 'accounts.create', target: `account ${id}`, details: `username=${username}` })
  assert.deepEqual([made.username, made.display_name, made.state], [username, null, 'active'])
  await refused(client.consoleAccounts.create({ body: { username } }), 'conflict')
  await refused(client.consoleAccounts.create({ body: { username: '  ' } }), 'invalid_request')

  const changed = await client.consoleAccounts.update({
    params: { id },
    body: { display_name: 'Ana the Bold' },
  })
  expect({ action: 'accounts.update', target: `account ${id}`, details: 'fields=display_name' })
  assert.equal(changed.display_name, 'Ana the Bold')
  const detail = await client.consoleAccounts.get({ params: { id } })
  assert.deepEqual([detail.metadata, detail.identities], [metadata, []])
  const found = await client.consoleAccounts.list({ query: { filter: username } })
  assert.deepEqual(found, { items: [changed], total: 1 })
  say(`adds ${username}, gives her a name, and finds her in the list`)
  return id
}

/** A lost phone: one session ends, and the player plays on with the others. */
async function endSession({ baseUrl, client, own, say, expect }: Day): Promise<void> {
  const [player, phone] = [createPlayer(baseUrl), createPlayer(baseUrl)]
  const device = { id: own('tablet'), create: true, username: own('mia') }
  const { user_id: id } = await phone.signIn.device(device)
  const { items } = await client.consoleSessions.list({ params: { id }, query: {} })
  const session_id = items[0]?.id ?? ''
  await player.signIn.device({ id: device.id })
  assert.equal((await client.consoleSessions.list({ params: { id }, query: {} })).total, 2)
  const target = `account ${id}`
  await client.consoleSessions.revoke({ params: { id, session_id } })
  const details = `session=${session_id} sessions_revoked=1`
  expect({ action: 'accounts.sessions.revoke', target, details })
  await refused(phone.refresh(), 'signed_out')
  assert.equal((await player.account.get()).user_id, id)
  say('ends the session of a lost phone')
  const left = await client.consoleSessions.revokeAll({ params: { id } })
  assert.deepEqual(left, { sessions_revoked: 1 })
  expect({ action: 'accounts.sessions.revoke_all', target, details: 'sessions_revoked=1' })
  await refused(player.refresh(), 'signed_out')
}

/** A ban ends the player's sessions at once and keeps the credential out until it is lifted. */
async function banPlayer({ baseUrl, client, own, say, expect }: Day): Promise<string> {
  const player = createPlayer(baseUrl)
  const device = { id: own('device'), create: true, username: own('ben') }
  const { user_id: id } = await player.signIn.device(device)
  assert.equal((await player.account.get()).username, own('ben'))

  const target = `account ${id}`
  assert.equal((await client.consoleAccounts.ban({ params: { id } })).state, 'disabled')
  expect({ action: 'accounts.ban', target, details: 'state=disabled sessions_revoked=1' })
  await refused(player.account.get(), 'signed_out')
  await refused(player.refresh(), 'signed_out')
  await refused(player.signIn.device(device), 'authentication_failed')
  say('bans ben, whose session ends at once')

  assert.equal((await client.consoleAccounts.unban({ params: { id } })).state, 'active')
  expect({ action: 'accounts.unban', target, details: 'state=active sessions_revoked=0' })
  assert.equal((await player.signIn.device(device)).user_id, id)
  say('forgives ben, who signs in again')
  return id
}

/** A credit under an Idempotency-Key is booked once, however often it is sent. */
async function adjustWallet({ client, own, say, expect }: Day, id: string): Promise<void> {
  const params = { id }
  const target = `account ${id}`
  const action = 'accounts.wallet.adjust'
  const credit = {
    params,
    body: { currency: 'gems', delta: 2n ** 62n, reason: 'sorry for the outage' },
    idempotencyKey: own('credit'),
  }
  const credited = await client.wallet.adjust(credit)
  expect({ action, target, details: `credited gems by ${2n ** 62n} -> ${2n ** 62n}` })
  assert.deepEqual(credited.balances, { gems: 2n ** 62n })
  assert.deepEqual(await client.wallet.adjust(credit), credited)
  assert.deepEqual(await client.wallet.get({ params }), credited)
  assert.equal(credited.ledger.length, 1)
  const other = { ...credit, body: { currency: 'gems', delta: 1 } }
  await refused(client.wallet.adjust(other), 'conflict')
  say('credits 2^62 gems, sends it again by mistake, and it is booked once')

  const debited = await client.wallet.adjust({ params, body: { currency: 'gems', delta: -12 } })
  expect({ action, target, details: `debited gems by -12 -> ${2n ** 62n - 12n}` })
  assert.deepEqual(debited.balances, { gems: 2n ** 62n - 12n })
  assert.deepEqual(
    debited.ledger.map(({ delta, reason }) => [BigInt(delta), reason]),
    [
      [-12n, 'console adjustment'],
      [2n ** 62n, 'sorry for the outage'],
    ],
  )
  const overdraw = { params, body: { currency: 'gold', delta: -1 } }
  await refused(client.wallet.adjust(overdraw), 'conflict')
  await refused(client.wallet.get({ params: { id: 'nobody' } }), 'not_found')
  say('debits 12 of them; gold that is not there stays out of reach')
}

async function befriend({ client, say, expect }: Day, ana: string, ben: string): Promise<void> {
  const action = 'accounts.friends.add'
  const invited = await client.friends.add({ params: { id: ana }, body: { user_id: ben } })
  expect({ action, target: `account ${ana}`, details: `other=${ben} state=invited_sent` })
  assert.deepEqual(
    invited.map(({ user_id, state }) => [user_id, state]),
    [[ben, 'invited_sent']],
  )
  await client.friends.add({ params: { id: ben }, body: { user_id: ana } })
  expect({ action, target: `account ${ben}`, details: `other=${ana} state=friend` })
  const [friend] = await client.friends.list({ params: { id: ana } })
  assert.deepEqual([friend?.user_id, friend?.state], [ben, 'friend'])
  const oneself = { params: { id: ana }, body: { user_id: ana } }
  await refused(client.friends.add(oneself), 'invalid_request')
  say('makes the two friends, from either side')
}

async function exportAccount({ client, say }: Day, ana: string, ben: string): Promise<void> {
  const { related, ...detail } = await client.consoleAccounts.export({ params: { id: ana } })
  assert.deepEqual(detail, await client.consoleAccounts.get({ params: { id: ana } }))
  assert.deepEqual(related.wallet, { gems: 2n ** 62n - 12n })
  assert.deepEqual(
    related.friends.map(({ user_id }) => user_id),
    [ben],
  )
  assert.deepEqual([related.groups, related.storage], [[], []])
  say('exports everything of ana')
}

/** The account stays to be read, and its name stays taken. */
async function deleteAccount({ client, own, say, expect }: Day, id: string): Promise<void> {
  const target = `account ${id}`
  await client.consoleAccounts.delete({ params: { id } })
  const details = 'credentials_unlinked=1 sessions_revoked=1'
  expect({ action: 'accounts.delete', target, details })
  assert.equal((await client.consoleAccounts.get({ params: { id } })).state, 'tombstoned')
  await refused(client.consoleAccounts.ban({ params: { id } }), 'conflict')
  await refused(client.consoleAccounts.create({ body: { username: own('ben') } }), 'conflict')
  await refused(client.consoleAccounts.delete({ params: { id: 'nobody' } }), 'not_found')
  say('deletes ben, whose name nobody else gets')
}
