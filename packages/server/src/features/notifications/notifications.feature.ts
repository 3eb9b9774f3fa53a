import { defineFeature, mount } from '../feature.ts'
import { notificationHandlers } from './notifications.routes.ts'
import { createNotifications, type NotificationsDeps } from './notifications.service.ts'

/** Notices for accounts, of which the deployment keeps the newest. */
export function notificationsFeature(deps: NotificationsDeps) {
  const notifications = createNotifications({
    ...deps,
  })
  return defineFeature(
    {
      routes: mount({ notifications: notificationHandlers(notifications) }),
      surplus: { notifications: notifications.prune },
    },
    { store: notifications.store },
  )
}
