import { z } from 'zod'
import { Friend } from '../shapes/friends.ts'
import { presentReference } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

const ownerPath = once(() => z.strictObject({ id: presentReference() }))

export const friendsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/friends',
    access: 'operator',
    scope: 'accounts:read',
    summary: "An account's relations, by the other account's id",
    params: ownerPath,
    ok: () => z.array(Friend()),
    errors: ['not_found'],
  },
  add: {
    method: 'POST',
    path: '/console/v1/accounts/{id}/friends',
    access: 'admin',
    audit: 'accounts.friends.add',
    summary: 'Invites, or accepts the invitation that the other side sent',
    params: ownerPath,
    body: () => z.strictObject({ user_id: presentReference() }),
    ok: () => z.array(Friend()),
    errors: ['not_found', 'conflict'],
  },
  remove: {
    method: 'DELETE',
    path: '/console/v1/accounts/{id}/friends/{other}',
    access: 'admin',
    audit: 'accounts.friends.remove',
    summary: 'Ends the relation on both sides; lifts a block',
    params: () => z.strictObject({ id: presentReference(), other: presentReference() }),
  },
})
