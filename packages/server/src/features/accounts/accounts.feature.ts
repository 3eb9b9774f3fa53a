import { defineFeature, mount } from '../feature.ts'
import { accountHandlers } from './accounts.routes.ts'
import { type AccountsDeps, createAccounts } from './accounts.service.ts'

/** Accounts as their players see them. */
export function accountsFeature(deps: AccountsDeps) {
  const accounts = createAccounts(deps)
  return defineFeature({ routes: mount({ accounts: accountHandlers(accounts) }) }, accounts)
}
