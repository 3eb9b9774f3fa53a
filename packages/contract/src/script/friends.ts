import { z } from 'zod'
import { Friend } from '../shapes/friends.ts'
import { presentReference } from '../values/fields.ts'
import { defineScriptApi } from './script-api.ts'

const user_id = presentReference()
const other = user_id

const trusted = { tier: 'trusted', runs: 'node' } as const

export const friendsScript = defineScriptApi({
  'friends.list': {
    doc: "An account's relations, by the other account's id.",
    args: () => ({ user_id }),
    ok: () => z.array(Friend()),
    errors: ['not_found'],
    ...trusted,
  },
  'friends.add': {
    doc: 'Invites, or accepts the invitation of the other side.',
    args: () => ({ user_id, other }),
    ok: () => z.array(Friend()),
    errors: ['not_found', 'conflict'],
    ...trusted,
  },
  'friends.remove': {
    doc: 'Ends the relation on both sides and lifts a block; false if there is none.',
    args: () => ({ user_id, other }),
    ok: () => z.boolean(),
    ...trusted,
  },
  'friends.block': {
    doc: "Blocks the other account and ends the other's relation.",
    args: () => ({ user_id, other }),
    ok: () => z.array(Friend()),
    errors: ['not_found', 'conflict'],
    ...trusted,
  },
})
