import type { notificationsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Notifications } from './notifications.service.ts'

export function notificationHandlers(
  notifications: Notifications,
): ServerHandlers<typeof notificationsApi> {
  return {
    list: ({ query }) => notifications.list(query),
    send: ({ mutation, body }) => notifications.send(mutation, body),
    delete: ({ mutation, params }) => notifications.delete(mutation, params.id),
  }
}
