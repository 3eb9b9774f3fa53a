import { defineFeature, mount } from '../feature.ts'
import { sessionPruners } from './sessions.jobs.ts'
import { sessionHandlers } from './sessions.routes.ts'
import { createSessions, type SessionsDeps } from './sessions.service.ts'

/** Sessions of players. */
export function sessionsFeature(deps: SessionsDeps) {
  const sessions = createSessions(deps)
  const accessTtlSec = deps.config.access_ttl_sec
  return defineFeature(
    {
      routes: mount({ sessions: sessionHandlers(sessions, accessTtlSec) }),
      pruners: sessionPruners(deps.db, deps.clock),
    },
    { ...sessions, accessTtlSec },
  )
}
