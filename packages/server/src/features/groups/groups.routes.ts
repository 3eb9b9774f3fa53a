import type { groupsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Groups } from './groups.service.ts'

export function groupHandlers(groups: Groups): ServerHandlers<typeof groupsApi> {
  return {
    list: ({ query }) => groups.list(query),
    create: ({ mutation, principal, body }) =>
      groups.create(mutation, {
        ...body,
        creator_user_id: body.creator_user_id ?? principal.username,
      }),
    get: ({ params }) => groups.get(params.id),
    update: ({ mutation, params, body }) => groups.update(mutation, params.id, body),
    delete: ({ mutation, params }) => groups.delete(mutation, params.id),
    addMember: ({ mutation, params, body }) => groups.addMember(mutation, { ...params, ...body }),
    promote: ({ mutation, params }) => groups.move(mutation, params, 'promote'),
    demote: ({ mutation, params }) => groups.move(mutation, params, 'demote'),
    kick: ({ mutation, params }) => groups.move(mutation, params, 'kick'),
  }
}
