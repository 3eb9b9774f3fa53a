import { defineFeature, mount } from '../feature.ts'
import { createAccountCount } from './console-accounts.jobs.ts'
import { consoleAccountHandlers } from './console-accounts.routes.ts'
import { accountFunctions } from './console-accounts.script.ts'
import { type ConsoleAccountsDeps, createConsoleAccounts } from './console-accounts.service.ts'

const countIntervalMs = 5000

type Endings = 'revokeSessions' | 'endSessions'

type ConsoleAccountsFeatureDeps = Omit<ConsoleAccountsDeps, Endings> & {
  sessions: { forOperators: Pick<ConsoleAccountsDeps, Endings> }
}

/** Accounts as operators run them. */
export function consoleAccountsFeature({ sessions, ...deps }: ConsoleAccountsFeatureDeps) {
  const accounts = createConsoleAccounts({ ...deps, ...sessions.forOperators })
  const run = createAccountCount(deps.db)
  return defineFeature({
    routes: mount({ consoleAccounts: consoleAccountHandlers(accounts) }),
    script: accountFunctions(accounts),
    tasks: [{ name: 'account-count', intervalMs: countIntervalMs, run }],
    crash: { account_totals: 'doctor' },
  })
}
