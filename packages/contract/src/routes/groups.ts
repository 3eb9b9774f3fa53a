import { z } from 'zod'
import {
  isBlank,
  limit,
  optional,
  presentReference,
  reference,
  trimmed,
  unixMs,
  utf8Bytes,
} from '../values/fields.ts'
import { offset, pageOf, pathInteger } from '../values/numbers.ts'
import { defineApi } from './route.ts'

/** The ladder of a group's members, from the lowest rung. */
export const groupRoles = ['member', 'admin', 'superadmin'] as const
export type GroupRole = (typeof groupRoles)[number]

export const GroupSummary = z.strictObject({
  id: z.int().min(1),
  name: z.string(),
  description: z.string(),
  open: z.boolean().meta({ description: 'Advisory: nothing enforces it' }),
  max_size: z.int().min(0).meta({ description: '0 is unlimited' }),
  member_count: z.int().min(0),
  created_at_unix_ms: unixMs,
})
export type GroupSummary = z.output<typeof GroupSummary>

export const GroupDetail = z.strictObject({
  ...GroupSummary.shape,
  members: z
    .array(
      z.strictObject({
        user_id: z.string(),
        role: z.enum(groupRoles),
        joined_at_unix_ms: unixMs,
      }),
    )
    .meta({ description: 'In the order of joining' }),
})
export type GroupDetail = z.output<typeof GroupDetail>

const groupPath = z.strictObject({ id: pathInteger })
const memberPath = z.strictObject({ id: pathInteger, user_id: presentReference() })
const description = reference(4096)
const maxSize = z.int().min(0).max(4_294_967_295)

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
    query: z.strictObject({
      filter: reference().optional(),
      limit: limit({ default: 50, cap: 200 }),
      offset,
    }),
    ok: pageOf(GroupSummary),
  },
  create: {
    method: 'POST',
    path: '/console/v1/groups',
    access: 'admin',
    audit: 'groups.create',
    summary: 'Founds a group; the creator becomes its superadmin',
    body: z.strictObject({
      name: trimmedReference(),
      description: optional(description),
      open: optional(z.boolean()),
      max_size: optional(maxSize),
      creator_user_id: optional(trimmedReference()),
    }),
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
    body: z.strictObject({
      description: optional(description),
      open: optional(z.boolean()),
      max_size: optional(maxSize),
    }),
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
    body: z.strictObject({ user_id: presentReference() }),
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

/** Trimmed before it is checked and stored. */
function trimmedReference() {
  return z
    .string()
    .transform(trimmed)
    .refine((value) => !isBlank(value) && utf8Bytes(value) <= 1024 && !value.includes('\0'), {
      error: 'must be 1..1024 bytes, not blank and without U+0000',
    })
    .meta({ jsonSchema: { type: 'string', minLength: 1, maxLength: 1024 } })
}
