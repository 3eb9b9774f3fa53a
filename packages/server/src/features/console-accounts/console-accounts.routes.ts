import type { consoleAccountsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { ConsoleAccounts } from './console-accounts.service.ts'
import type { createSearch } from './search/search.ts'
import type { Timeline } from './timeline/timeline.ts'

type Parts = {
  accounts: ConsoleAccounts
  timeline: Timeline
  search: ReturnType<typeof createSearch>
}

export function consoleAccountHandlers({
  accounts,
  timeline,
  search,
}: Parts): ServerHandlers<typeof consoleAccountsApi> {
  return {
    list: ({ query }) => accounts.list(query),
    search: ({ query }) => search(query),
    usernames: async ({ query }) => ({ items: await accounts.names(query.user_ids) }),
    create: ({ mutation, body }) => accounts.create(mutation, body),
    get: ({ params }) => accounts.get(params.id),
    update: ({ mutation, params, body }) => accounts.update(mutation, params.id, body),
    ban: ({ mutation, params }) => accounts.ban(mutation, params.id),
    unban: ({ mutation, params }) => accounts.unban(mutation, params.id),
    delete: ({ mutation, params }) => accounts.delete(mutation, params.id),
    timeline: ({ principal, params, query }) => timeline(principal, params.id, query),
    export: ({ principal, params }) => accounts.export(principal, params.id),
  }
}
