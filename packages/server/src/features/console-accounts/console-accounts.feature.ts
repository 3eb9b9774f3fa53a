import { defineFeature, mount } from '../feature.ts'
import { createAccountCount } from './console-accounts.jobs.ts'
import { consoleAccountHandlers } from './console-accounts.routes.ts'
import { accountFunctions } from './console-accounts.script.ts'
import { type ConsoleAccountsDeps, createConsoleAccounts } from './console-accounts.service.ts'

const countIntervalMs = 5000

/** Accounts as operators run them. */
export function consoleAccountsFeature(deps: ConsoleAccountsDeps) {
  const accounts = createConsoleAccounts(deps)
  const run = createAccountCount(deps.db)
  return defineFeature({
    routes: mount({ consoleAccounts: consoleAccountHandlers(accounts) }),
    script: accountFunctions(accounts),
    tasks: [{ name: 'account-count', intervalMs: countIntervalMs, run }],
  })
}
