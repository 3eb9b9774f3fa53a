import { defineFeature, mount } from '../feature.ts'
import { createHistoryPruner } from './chat.jobs.ts'
import { chatHandlers } from './chat.routes.ts'
import { type ChatDeps, createChat } from './chat.service.ts'

/** Channels with their newest messages. */
export function chatFeature(deps: ChatDeps) {
  const chat = createChat(deps)
  return defineFeature({
    routes: mount({ chat: chatHandlers(chat) }),
    pruners: {
      chat_messages: createHistoryPruner(deps.db, deps.historyLimit),
      chat_moderation: chat.pruneModeration,
    },
  })
}
