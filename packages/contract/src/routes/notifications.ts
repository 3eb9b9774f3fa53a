import { z } from 'zod'
import {
  freeObject,
  limit,
  optional,
  presentReference,
  reference,
  unixMs,
} from '../values/fields.ts'
import { before, pageOf, pathInteger } from '../values/numbers.ts'
import { defineApi } from './route.ts'

export const Notification = z.strictObject({
  id: z.int().min(1),
  user_id: z.string().nullable().meta({ description: 'Null reaches everybody' }),
  subject: z.string(),
  content: freeObject,
  code: z.int(),
  created_at_unix_ms: unixMs,
  read: z.boolean(),
})

export const notificationsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/notifications',
    access: 'operator',
    scope: 'notifications:read',
    summary: "Notifications, newest first; with user_id that user's and the broadcasts",
    query: z.strictObject({
      user_id: reference().optional(),
      limit: limit({ default: 50, cap: 200 }),
      before,
    }),
    ok: pageOf(Notification),
  },
  send: {
    method: 'POST',
    path: '/console/v1/notifications',
    access: 'admin',
    audit: 'notifications.send',
    summary: 'Stores a notification for one user or, without user_id, for everybody',
    body: z.strictObject({
      user_id: optional(presentReference()),
      subject: presentReference(),
      content: freeObject.optional(),
      code: optional(z.int().min(-2_147_483_648).max(2_147_483_647)),
    }),
    ok: Notification,
    status: 201,
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/notifications/{id}',
    access: 'admin',
    audit: 'notifications.delete',
    summary: 'Removes a notification',
    params: z.strictObject({ id: pathInteger }),
    errors: ['not_found'],
  },
})
