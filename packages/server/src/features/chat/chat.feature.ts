import type { LivePlayers } from '../../kernel/play/delivery.ts'
import { defineFeature, mount } from '../feature.ts'
import { createChatCheck } from './chat.checks.store.ts'
import { createHistoryPruner } from './chat.jobs.ts'
import { chatHandlers } from './chat.routes.ts'
import { chatFunctions } from './chat.script.ts'
import { type ChatDeps, createChat } from './chat.service.ts'

/** Channels with their newest messages. */
export function chatFeature(deps: ChatDeps & { players: Pick<LivePlayers, 'push'> }) {
  const chat = createChat(deps)
  return defineFeature({
    routes: mount({ chat: chatHandlers(chat) }),
    script: chatFunctions(chat, deps.players),
    checks: [createChatCheck(deps.historyLimit)],
    pruners: {
      chat_messages: createHistoryPruner(deps.db, deps.historyLimit),
      chat_moderation: chat.pruneModeration,
    },
  })
}
