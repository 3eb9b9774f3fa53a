import { keyReadEvent } from '../kernel/audit/recorder.ts'
import type { Verifiers } from '../kernel/auth/principal.ts'
import { createOperators } from './operators.ts'
import { createPeople } from './people.ts'
import { createPlayers, type PlayersDeps } from './players.ts'
import { createTrail } from './trail.ts'

export type Features = ReturnType<typeof createFeatures>

/** Builds every feature and hands each what it needs of the others. */
export function createFeatures(deps: PlayersDeps) {
  const trail = createTrail(deps)
  const players = createPlayers(deps)
  const operators = createOperators(deps, { trail, players })
  const people = createPeople(deps, { trail, players })
  const verifiers: Verifiers = {
    accessToken: players.sessions.verifyAccess,
    consoleToken: operators.verifyToken,
    // No key can exist yet, so none is valid.
    apiKey: async () => undefined,
  }
  return {
    sessions: players.sessions,
    hashing: players.hashing,
    verifiers,
    idempotency: trail.idempotency,
    recordKeyRead: (...read: Parameters<typeof keyReadEvent>) =>
      trail.recorder.record(keyReadEvent(...read)),
    queues: trail.queue === undefined ? [] : [trail.queue],
    pruners: {
      ...players.pruners,
      ...operators.pruners,
      ...people.pruners,
      idempotency_records: trail.idempotency.prune,
    },
    routes: [...players.routes, ...operators.routes, ...people.routes],
    counters: () => ({ ...players.counters(), audit_dropped_total: trail.dropped() }),
  }
}
