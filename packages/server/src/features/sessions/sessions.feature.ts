import { defineFeature, mount } from '../feature.ts'
import { sessionPruners } from './sessions.jobs.ts'
import { sessionHandlers } from './sessions.routes.ts'
import { createSessions, type SessionsDeps } from './sessions.service.ts'
import { signInStory } from './sessions.story.store.ts'

type SessionsFeatureDeps = Omit<SessionsDeps, 'config' | 'secret'> & {
  config: { sessions: SessionsDeps['config'] }
  secrets: { sessions: SessionsDeps['secret'] }
}

/** Sessions of players. */
export function sessionsFeature({ config, secrets, ...deps }: SessionsFeatureDeps) {
  const secret = secrets.sessions
  const sessions = createSessions({ ...deps, config: config.sessions, secret })
  const accessTtlSec = config.sessions.access_ttl_sec
  return defineFeature(
    {
      routes: mount({ sessions: sessionHandlers(sessions, accessTtlSec) }),
      pruners: sessionPruners({ ...deps, config: config.sessions }),
      stories: { sign_in: signInStory },
      crash: {
        sessions: 'players',
        account_last_seen: { not: 'written a day after what it says, with the rows that said it' },
        rotated_refresh_digests: { not: 'the load refreshes no sessions' },
        session_revocations: { not: 'read by other nodes for a minute; the sessions are held' },
      },
    },
    { ...sessions, accessTtlSec },
  )
}
