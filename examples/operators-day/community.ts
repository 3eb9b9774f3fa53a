import assert from 'node:assert/strict'
import { type Day, refused } from './diary.ts'

/** What players do together. */
export async function runCommunity(day: Day): Promise<void> {
  const id = await foundGroup(day)
  await climb(day, id)
  await endGroup(day, id)
  await moderate(day)
  await notify(day)
}

async function foundGroup({ client, own, say, expect }: Day): Promise<number> {
  const name = own('Red Team')
  const request = { name, max_size: 2, creator_user_id: 'ana' }
  const group = await client.groups.create({ body: request })
  const { id } = group
  expect({ action: 'groups.create', target: `${id}`, details: `name=${name}` })
  assert.deepEqual(
    group.members.map(({ user_id, role }) => [user_id, role]),
    [['ana', 'superadmin']],
  )
  await refused(client.groups.create({ body: request }), 'conflict')

  await client.groups.addMember({ params: { id }, body: { user_id: 'ben' } })
  expect({ action: 'groups.member.add', target: `${id}/ben`, details: 'role=member' })
  await refused(client.groups.addMember({ params: { id }, body: { user_id: 'cem' } }), 'conflict')
  say(`founds ${name} with room for two, and a third one stays outside`)
  return id
}

/** Up the ladder rung by rung; the last superadmin stays where they are. */
async function climb({ client, say, expect }: Day, id: number): Promise<void> {
  const ben = { params: { id, user_id: 'ben' } }
  const ana = { params: { id, user_id: 'ana' } }
  for (const role of ['admin', 'superadmin']) {
    const { members } = await client.groups.promote(ben)
    expect({ action: 'groups.member.promote', target: `${id}/ben`, details: `role=${role}` })
    assert.equal(members[1]?.role, role)
  }
  await refused(client.groups.promote(ben), 'conflict')
  await client.groups.demote(ana)
  expect({ action: 'groups.member.demote', target: `${id}/ana`, details: 'role=admin' })
  await refused(client.groups.demote(ben), 'conflict')
  await refused(client.groups.kick(ben), 'conflict')
  await client.groups.kick(ana)
  expect({ action: 'groups.member.kick', target: `${id}/ana`, details: 'kicked' })
  say('lets ben take over from ana; the last superadmin cannot go')
}

async function endGroup({ client, own, say, expect }: Day, id: number): Promise<void> {
  const changed = await client.groups.update({ params: { id }, body: { description: 'retired' } })
  const details = `name=${own('Red Team')}`
  expect({ action: 'groups.update', target: `${id}`, details })
  assert.deepEqual([changed.description, changed.member_count], ['retired', 1])
  await client.groups.delete({ params: { id } })
  expect({ action: 'groups.delete', target: `${id}`, details })
  await refused(client.groups.get({ params: { id } }), 'not_found')
  say('ends the group')
}

/** A deleted message keeps its place and loses its words. */
async function moderate({ client, own, say, expect }: Day): Promise<void> {
  const channel = own('lobby')
  for (const [index, content] of ['hello', 'buy cheap gems!!!', 'who is this?'].entries()) {
    const params = { channel }
    const message = await client.chat.append({ params, body: { sender: 'cem', content } })
    const target = `${channel}#${index + 1}`
    expect({ action: 'chat.message.append', target, details: 'sender=cem' })
    assert.deepEqual([message.id, message.content, message.revision], [index + 1, content, 1])
  }
  for (const _once of ['the first time', 'the second time']) {
    await client.chat.delete({ params: { channel, id: 2 } })
    const target = `${channel}#2`
    expect({ action: 'chat.message.delete', target, details: 'tombstone' })
  }
  const { items } = await client.chat.history({ params: { channel }, query: {} })
  assert.deepEqual(
    items.map(({ id, content, deleted, revision }) => [id, content, deleted, revision]),
    [
      [3, 'who is this?', false, 1],
      [2, '', true, 2],
      [1, 'hello', false, 1],
    ],
  )
  await refused(client.chat.delete({ params: { channel, id: 4 } }), 'not_found')
  say('removes an advertisement from the lobby')
}

async function notify({ client, own, say, expect }: Day): Promise<void> {
  const user_id = own('dora')
  const sent = await client.notifications.send({
    body: { user_id, subject: 'Welcome', content: { gift: 100 }, code: 7 },
  })
  const { id } = sent
  expect({ action: 'notifications.send', target: `user ${user_id}`, details: `id=${id} code=7` })
  assert.deepEqual([sent.read, sent.content], [false, { gift: 100 }])
  const news = await client.notifications.send({ body: { subject: 'Maintenance at noon' } })
  const details = `id=${news.id} code=0`
  expect({ action: 'notifications.send', target: 'broadcast', details })
  const seen = await client.notifications.list({ query: { user_id, limit: 2 } })
  assert.deepEqual(seen.items, [news, sent])
  await client.notifications.delete({ params: { id: news.id } })
  expect({ action: 'notifications.delete', target: `${news.id}`, details: 'deleted' })
  await refused(client.notifications.delete({ params: { id: news.id } }), 'not_found')
  say('welcomes one player, announces an outage to everybody, and takes that back')
}
