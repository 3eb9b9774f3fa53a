import { defineFeature, mount } from '../feature.ts'
import { consoleSessionHandlers } from './console-sessions.routes.ts'
import { type ConsoleSessionsDeps, createConsoleSessions } from './console-sessions.service.ts'

type Own = Pick<ConsoleSessionsDeps, 'db' | 'clock'>

type ConsoleSessionsFeatureDeps = Own & {
  accounts: { exists: ConsoleSessionsDeps['accountExists'] }
  sessions: { forOperators: Omit<ConsoleSessionsDeps, keyof Own | 'accountExists' | 'isConnected'> }
  players: Pick<ConsoleSessionsDeps, 'isConnected'>
}

/** Sessions of accounts as operators see and end them. */
export function consoleSessionsFeature(deps: ConsoleSessionsFeatureDeps) {
  const { accounts, players } = deps
  const sessions = createConsoleSessions({
    ...deps,
    ...deps.sessions.forOperators,
    accountExists: accounts.exists,
    isConnected: players.isConnected,
  })
  return defineFeature({ routes: mount({ consoleSessions: consoleSessionHandlers(sessions) }) })
}
