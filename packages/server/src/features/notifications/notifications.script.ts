import type { notificationsScript } from '@guildhall/contract'
import { byScript, falseWhenNotFound, type ScriptPart } from '../../kernel/play/script.ts'
import type { NotificationPushes } from './notifications.push.ts'
import type { Notifications } from './notifications.service.ts'

/** Notifications for the game's script. Players see them where the script pushes them. */
export function notificationFunctions(
  notifications: Notifications,
  pushes: NotificationPushes,
): ScriptPart<typeof notificationsScript> {
  return {
    'notifications.send': async (caller, { notification: { push, ...request } }) => {
      const row = await notifications.send(byScript(caller), request)
      if (push === true) pushes.push(row)
      return row
    },
    'notifications.list': (_caller, { user_id, options }) =>
      notifications.visibleTo(user_id, options),
    'notifications.mark_read': (caller, { user_id, id }) =>
      notifications.markRead(byScript(caller), { user_id, id }),
    'notifications.remove': (caller, { id }) =>
      falseWhenNotFound(notifications.delete(byScript(caller), id)),
    'notifications.push': (_caller, { notification, user_ids }) =>
      pushes.push(notification, user_ids),
    'notifications.push_unread': async (_caller, { participant, options }) => {
      const userId = pushes.accountOf(participant)
      if (userId === null) return 0
      const rows = await notifications.unreadOf(userId, options.limit)
      pushes.pushTo(participant, rows)
      return rows.length
    },
  }
}
