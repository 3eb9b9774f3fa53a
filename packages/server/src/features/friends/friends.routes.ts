import type { friendsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Friends } from './friends.service.ts'

export function friendHandlers(friends: Friends): ServerHandlers<typeof friendsApi> {
  return {
    list: ({ params }) => friends.list(params.id),
    add: ({ mutation, params, body }) =>
      friends.add(mutation, { user_id: params.id, other_id: body.user_id }),
    remove: async ({ mutation, params }) => {
      await friends.remove(mutation, { user_id: params.id, other_id: params.other })
    },
  }
}
