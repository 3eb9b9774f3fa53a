import { defineFeature, mount } from '../feature.ts'
import { consoleSessionHandlers } from './console-sessions.routes.ts'
import { type ConsoleSessionsDeps, createConsoleSessions } from './console-sessions.service.ts'

/** Sessions of accounts as operators see and end them. */
export function consoleSessionsFeature(deps: ConsoleSessionsDeps) {
  const sessions = createConsoleSessions(deps)
  return defineFeature({ routes: mount({ consoleSessions: consoleSessionHandlers(sessions) }) })
}
