import type { chatApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Chat } from './chat.service.ts'

export function chatHandlers(chat: Chat): ServerHandlers<typeof chatApi> {
  return {
    list: ({ query }) => chat.list(query),
    append: ({ mutation, params, body }) => chat.append(mutation, { ...params, ...body }),
    history: ({ params, query }) => chat.history({ ...params, ...query }),
    delete: async ({ mutation, params }) => {
      await chat.delete(mutation, params)
    },
  }
}
