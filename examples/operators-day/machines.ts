import assert from 'node:assert/strict'
import { createConsoleClient } from '@guildhall/client/console'
import { type Day, refused } from './diary.ts'

/** A machine credential from its creation to its end. */
export async function runMachines(day: Day): Promise<void> {
  const { baseUrl, client, own, say, expect } = day
  const name = own('monitoring')
  const scopes = ['purchases:read', 'groups:read'] as const
  const made = await client.apiKeys.create({ body: { name, scopes: [...scopes] } })
  const { id } = made.key
  const details = `name=${name} generation=1 scopes=groups:read,purchases:read`
  expect({ action: 'api_keys.create', target: id, details })
  assert.deepEqual([made.key.status, made.key.last_used_at], ['active', null])
  say('makes a key that may read groups and purchases')

  await useKey(day, { id, secret: made.secret })
  const { last_used_at } = await client.apiKeys.get({ params: { id } })
  assert.notEqual(last_used_at, null)

  const rotation = { params: { id }, body: { generation: 1 } }
  const rotated = await client.apiKeys.rotate(rotation)
  expect({ action: 'api_keys.rotate', target: id, details: `name=${name} generation=2` })
  const [old, current] = [made, rotated].map(({ secret }) => createConsoleClient(baseUrl, secret))
  if (old === undefined || current === undefined) throw new Error('there are two secrets')
  await refused(old.console.me({}), 'authentication_failed')
  assert.deepEqual(await current.console.me({}), {
    actor_type: 'api_key',
    credential_id: id,
    key_name: name,
    scopes: ['groups:read', 'purchases:read'],
    generation: 2,
  })
  expectRead(day, id, '/console/v1/me')
  await refused(client.apiKeys.rotate(rotation), 'conflict')
  say('rotates it: the old value stops, the new one works')

  const revoked = await client.apiKeys.revoke({ params: { id }, body: { generation: 2 } })
  expect({ action: 'api_keys.revoke', target: id, details: `name=${name} generation=2` })
  assert.equal(revoked.status, 'revoked')
  await refused(current.console.me({}), 'authentication_failed')
  say('revokes it')
}

/** It reads what its scopes allow, and changes nothing. */
async function useKey(day: Day, { id, secret }: { id: string; secret: string }): Promise<void> {
  const machine = createConsoleClient(day.baseUrl, secret)
  const query = { limit: 1 }
  assert.equal((await machine.purchases.list({ query })).items.length, 1)
  expectRead(day, id, '/console/v1/purchases')
  await machine.groups.list({ query })
  expectRead(day, id, '/console/v1/groups')
  await refused(machine.subscriptions.list({ query }), 'forbidden')
  await refused(machine.apiKeys.list({}), 'forbidden')
  await refused(machine.groups.create({ body: { name: day.own('Machines') } }), 'forbidden')
  day.say('lets a machine read with it; everything else is forbidden')
}

function expectRead({ expect }: Day, id: string, path: string): void {
  const details = `method=GET path=${path}`
  expect({ actor: id, action: 'console.read', target: path, details })
}
