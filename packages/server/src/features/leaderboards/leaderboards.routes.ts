import type { leaderboardsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Leaderboards } from './leaderboards.service.ts'

export function leaderboardHandlers(boards: Leaderboards): ServerHandlers<typeof leaderboardsApi> {
  return {
    list: () => boards.list(),
    create: ({ mutation, body }) => boards.create(mutation, body),
    delete: ({ mutation, params }) => boards.delete(mutation, params.id),
    submit: ({ mutation, params, body }) => boards.submit(mutation, params.id, body),
    records: ({ params, query }) => boards.records(params.id, query),
    ranks: async ({ params }) => ({ items: await boards.ranksOf(params.id) }),
    deleteRecord: ({ mutation, params }) =>
      boards.deleteRecord(mutation, params.id, params.user_id),
  }
}
