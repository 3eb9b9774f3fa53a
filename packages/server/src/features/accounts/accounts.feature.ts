import { defineFeature, mount } from '../feature.ts'
import { accountsCheck } from './accounts.checks.store.ts'
import { accountHandlers } from './accounts.routes.ts'
import { type AccountsDeps, createAccounts } from './accounts.service.ts'

/** Accounts as their players see them. */
export function accountsFeature(deps: AccountsDeps) {
  const accounts = createAccounts(deps)
  const routes = mount({ accounts: accountHandlers(accounts) })
  return defineFeature(
    {
      routes,
      checks: [accountsCheck],
      crash: { accounts: 'players', identities: 'players' },
    },
    accounts,
  )
}
