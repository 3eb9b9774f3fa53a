import { z } from 'zod'
import { GroupChange, GroupDetail, GroupSummary, NewGroup } from '../shapes/groups.ts'
import { limit, presentReference, reference } from '../values/fields.ts'
import { offset, pageOf, pathInteger } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

const groupPath = once(() => z.strictObject({ id: pathInteger }))
const memberPath = once(() => z.strictObject({ id: pathInteger, user_id: presentReference() }))

const onMember = {
  method: 'POST',
  access: 'admin',
  params: memberPath,
  ok: GroupDetail,
  errors: ['not_found', 'conflict'],
} as const

export const groupsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/groups',
    access: 'operator',
    scope: 'groups:read',
    summary: 'Groups by id; the filter is a substring of the name',
    query: () =>
      z.strictObject({
        filter: reference().optional(),
        limit: limit({ default: 50, cap: 200 }),
        offset,
      }),
    ok: () => pageOf(GroupSummary()),
  },
  create: {
    method: 'POST',
    path: '/console/v1/groups',
    access: 'admin',
    audit: 'groups.create',
    summary: 'Founds a group; the creator becomes its superadmin',
    body: NewGroup,
    ok: GroupDetail,
    status: 201,
    errors: ['conflict'],
  },
  get: {
    method: 'GET',
    path: '/console/v1/groups/{id}',
    access: 'operator',
    scope: 'groups:read',
    summary: 'One group with its members',
    params: groupPath,
    ok: GroupDetail,
    errors: ['not_found'],
  },
  update: {
    method: 'PUT',
    path: '/console/v1/groups/{id}',
    access: 'admin',
    audit: 'groups.update',
    summary: 'Changes description, open flag or size; the name stays',
    params: groupPath,
    body: GroupChange,
    ok: GroupDetail,
    errors: ['not_found'],
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/groups/{id}',
    access: 'admin',
    audit: 'groups.delete',
    summary: 'Ends a group and its memberships',
    params: groupPath,
    errors: ['not_found'],
  },
  addMember: {
    method: 'POST',
    path: '/console/v1/groups/{id}/members',
    access: 'admin',
    audit: 'groups.member.add',
    summary: 'Adds a member, last in the order of joining',
    params: groupPath,
    body: () => z.strictObject({ user_id: presentReference() }),
    ok: GroupDetail,
    errors: ['not_found', 'conflict'],
  },
  promote: {
    ...onMember,
    path: '/console/v1/groups/{id}/members/{user_id}/promote',
    audit: 'groups.member.promote',
    summary: 'Moves a member one rung up',
  },
  demote: {
    ...onMember,
    path: '/console/v1/groups/{id}/members/{user_id}/demote',
    audit: 'groups.member.demote',
    summary: 'Moves a member one rung down; the last superadmin stays',
  },
  kick: {
    ...onMember,
    path: '/console/v1/groups/{id}/members/{user_id}/kick',
    audit: 'groups.member.kick',
    summary: 'Removes a member; the last superadmin stays',
  },
})
