import { defineFeature, mount } from '../feature.ts'
import { sessionPruners } from './sessions.jobs.ts'
import { sessionHandlers } from './sessions.routes.ts'
import { createSessions, type SessionsDeps } from './sessions.service.ts'

/** Sessions of players. */
export function sessionsFeature(deps: SessionsDeps) {
  const sessions = createSessions(deps)
  return defineFeature(
    {
      routes: mount({ sessions: sessionHandlers(sessions) }),
      pruners: sessionPruners(deps.db, deps.clock),
    },
    sessions,
  )
}
