import { z } from 'zod'
import { NewNotification, Notification } from '../shapes/notifications.ts'
import { limit, reference } from '../values/fields.ts'
import { before, pageOf, pathInteger } from '../values/numbers.ts'
import { defineApi } from './route.ts'

export const notificationsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/notifications',
    access: 'operator',
    scope: 'notifications:read',
    summary: "Notifications, newest first; with user_id that user's and the broadcasts",
    query: () =>
      z.strictObject({
        user_id: reference().optional(),
        limit: limit({ default: 50, cap: 200 }),
        before,
      }),
    ok: () => pageOf(Notification()),
  },
  send: {
    method: 'POST',
    path: '/console/v1/notifications',
    access: 'admin',
    audit: 'notifications.send',
    summary: 'Stores a notification for one user or, without user_id, for everybody',
    body: NewNotification,
    ok: Notification,
    status: 201,
  },
  delete: {
    method: 'DELETE',
    path: '/console/v1/notifications/{id}',
    access: 'admin',
    audit: 'notifications.delete',
    summary: 'Removes a notification',
    params: () => z.strictObject({ id: pathInteger }),
    errors: ['not_found'],
  },
})
