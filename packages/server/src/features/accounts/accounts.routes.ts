import type { accountsApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import { type Accounts, profileOf } from './accounts.service.ts'

export function accountHandlers(accounts: Accounts): ServerHandlers<typeof accountsApi> {
  return {
    // The credential check has just read the account; a second read would answer the same.
    get: async ({ principal }) => profileOf({ ...principal, id: principal.user_id }),
    patch: ({ principal, body }) => accounts.patchProfile(principal.user_id, body),
    lookup: async ({ body }) => ({
      users: await accounts.lookup({
        user_ids: body.user_ids ?? [],
        usernames: body.usernames ?? [],
      }),
    }),
  }
}
