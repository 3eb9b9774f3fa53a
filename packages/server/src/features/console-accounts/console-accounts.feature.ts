import { defineFeature, mount } from '../feature.ts'
import { createAccountCount } from './console-accounts.jobs.ts'
import { consoleAccountHandlers } from './console-accounts.routes.ts'
import { accountFunctions } from './console-accounts.script.ts'
import { type ConsoleAccountsDeps, createConsoleAccounts } from './console-accounts.service.ts'
import { createNameFolding, createSearch } from './search/search.ts'
import { createTimeline, type TimelineDeps } from './timeline/timeline.ts'

const countIntervalMs = 5000
/** Only the first run of a store from before finds any. */
const namesIntervalMs = 60_000

type Endings = 'revokeSessions' | 'forgetLastSeen' | 'endSessions'

type ConsoleAccountsFeatureDeps = Omit<ConsoleAccountsDeps, Endings> & {
  sessions: { forOperators: Pick<ConsoleAccountsDeps, Endings> }
  stories: TimelineDeps['stories']
}

/** Accounts as operators run them. */
export function consoleAccountsFeature({ sessions, stories, ...deps }: ConsoleAccountsFeatureDeps) {
  const accounts = createConsoleAccounts({ ...deps, ...sessions.forOperators })
  const timeline = createTimeline({ db: deps.db, stories, find: accounts.find })
  const run = createAccountCount(deps.db)
  return defineFeature({
    routes: mount({
      consoleAccounts: consoleAccountHandlers({
        accounts,
        timeline,
        search: createSearch(deps.db),
      }),
    }),
    script: accountFunctions(accounts),
    tasks: [
      { name: 'account-count', intervalMs: countIntervalMs, run },
      { name: 'account-names', intervalMs: namesIntervalMs, run: createNameFolding(deps.db) },
    ],
    crash: { account_totals: 'doctor' },
  })
}
