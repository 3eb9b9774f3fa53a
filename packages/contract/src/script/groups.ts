import { z } from 'zod'
import { GroupChange, GroupDetail, GroupSummary, NewGroup } from '../shapes/groups.ts'
import { optional, presentReference, reference } from '../values/fields.ts'
import { pageOf } from '../values/numbers.ts'
import { options, pageLimit, pageOffset, raw, rowId } from './fields.ts'
import { defineScriptApi } from './script-api.ts'

const id = rowId
const user_id = presentReference()

const trusted = { tier: 'trusted', runs: 'node' } as const
/** For answers that are handed on. */
const handedOn = { raw: true, ...trusted } as const
const onMember = {
  args: () => ({ id, user_id }),
  ok: GroupDetail,
  errors: ['not_found', 'conflict'],
  ...trusted,
} as const

export const groupsScript = defineScriptApi({
  'groups.create': {
    doc: 'Founds a group; the creator becomes its superadmin.',
    args: () => {
      const { name, description, open, max_size } = NewGroup().shape
      const group = { name, creator_user_id: name, description, open, max_size }
      return { group: z.strictObject(group) }
    },
    ok: GroupDetail,
    errors: ['conflict'],
    ...trusted,
  },
  'groups.list': {
    doc: 'Groups by id; the filter is a substring of the name.',
    args: () => ({
      options: options({
        filter: optional(reference()),
        limit: pageLimit({ default: 50, cap: 200 }),
        offset: pageOffset,
        raw,
      }),
    }),
    ok: () => pageOf(GroupSummary()),
    ...handedOn,
  },
  'groups.get': {
    doc: 'One group with its members, or null.',
    args: () => ({ id }),
    ok: () => GroupDetail().nullable(),
    ...trusted,
  },
  'groups.of_user': {
    doc: 'The groups of a user.',
    args: () => ({ user_id }),
    ok: () => z.array(GroupSummary()),
    ...trusted,
  },
  'groups.update': {
    doc: 'Changes description, open flag or size; the name stays.',
    args: () => ({ id, patch: GroupChange() }),
    ok: GroupDetail,
    errors: ['not_found'],
    ...trusted,
  },
  'groups.remove': {
    doc: 'Ends a group and its memberships; false if there is none.',
    args: () => ({ id }),
    ok: () => z.boolean(),
    ...trusted,
  },
  'groups.add_member': { doc: 'Adds a member, last in the order of joining.', ...onMember },
  'groups.promote': { doc: 'Moves a member one rung up.', ...onMember },
  'groups.demote': {
    doc: 'Moves a member one rung down; the last superadmin stays.',
    ...onMember,
  },
  'groups.kick': { doc: 'Removes a member; the last superadmin stays.', ...onMember },
})
