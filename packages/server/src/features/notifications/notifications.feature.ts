import type { LivePlayers } from '../../kernel/play/delivery.ts'
import { defineFeature, mount } from '../feature.ts'
import { createPushes } from './notifications.push.ts'
import { notificationHandlers } from './notifications.routes.ts'
import { notificationFunctions } from './notifications.script.ts'
import { createNotifications, type NotificationsDeps } from './notifications.service.ts'
import { noticeStory } from './notifications.story.store.ts'

type NotificationsFeatureDeps = Omit<NotificationsDeps, 'capacity'> & {
  config: { notifications: Pick<NotificationsDeps, 'capacity'> }
  players: LivePlayers
}

/** Notices for accounts, of which the deployment keeps the newest. */
export function notificationsFeature({ config, players, ...deps }: NotificationsFeatureDeps) {
  const notifications = createNotifications({ ...deps, ...config.notifications })
  const pushes = createPushes(players)
  return defineFeature(
    {
      routes: mount({ notifications: notificationHandlers(notifications) }),
      script: notificationFunctions(notifications, pushes),
      surplus: { notifications: notifications.prune },
      stories: { notice: noticeStory },
      crash: {
        notifications: 'notifications',
        notification_totals: 'doctor',
      },
    },
    { store: notifications.store, push: pushes.push },
  )
}
