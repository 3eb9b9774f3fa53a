import type { LivePlayers } from '../../kernel/play/delivery.ts'
import { defineFeature, mount } from '../feature.ts'
import { createChatCheck } from './chat.checks.store.ts'
import { createHistoryPruner } from './chat.jobs.ts'
import { chatHandlers } from './chat.routes.ts'
import { chatFunctions } from './chat.script.ts'
import { type ChatDeps, createChat } from './chat.service.ts'

type ChatFeatureDeps = Omit<ChatDeps, 'historyLimit' | 'moderationRetentionDays'> & {
  config: { chat: { history_limit: number }; logs: { audit_retention_days: number } }
  players: Pick<LivePlayers, 'push'>
}

/** Channels with their newest messages. */
export function chatFeature({ config, players, ...deps }: ChatFeatureDeps) {
  const historyLimit = config.chat.history_limit
  const moderationRetentionDays = config.logs.audit_retention_days
  const chat = createChat({ ...deps, historyLimit, moderationRetentionDays })
  return defineFeature({
    routes: mount({ chat: chatHandlers(chat) }),
    script: chatFunctions(chat, players),
    checks: [createChatCheck(historyLimit)],
    crash: {
      chat_channels: 'chat',
      chat_messages: 'chat',
      chat_moderation: 'chat',
    },
    pruners: {
      chat_messages: createHistoryPruner(deps.db, historyLimit),
      chat_moderation: chat.pruneModeration,
    },
  })
}
