import { createEndedBootsPruner } from '../database/jobs/node-claim.ts'
import { isReadOfRecords, keyReadEvent } from '../kernel/audit/recorder.ts'
import type { Verifiers } from '../kernel/auth/principal.ts'
import { createGame } from './game.ts'
import { createOperators } from './operators.ts'
import { createPeople } from './people.ts'
import { createPlayers, type PlayersDeps } from './players.ts'
import { createScriptFunctions } from './script-functions.ts'
import { createTrail } from './trail.ts'

export type Features = ReturnType<typeof createFeatures>

/** Builds every feature and hands each what it needs of the others. */
export function createFeatures(deps: PlayersDeps) {
  const trail = createTrail(deps)
  const players = createPlayers(deps)
  const operators = createOperators(deps, { trail, players })
  const people = createPeople(deps, { trail, players })
  const game = createGame(deps, { trail, players, people })
  const verifiers: Verifiers = {
    accessToken: players.sessions.verifyAccess,
    consoleToken: operators.verifyToken,
    apiKey: people.verifyKey,
  }
  return {
    sessions: players.sessions,
    hashing: players.hashing,
    verifiers,
    idempotency: trail.idempotency,
    /** A key passed the checks of a route: that is recorded, and counts as its use. */
    recordKeyRead(...read: Parameters<typeof keyReadEvent>) {
      const [key, route] = read
      people.keyUse.note(key)
      trail.recorder.record(keyReadEvent(...read), { ringOnly: isReadOfRecords(route) })
    },
    flushKeyUse: people.keyUse.flush,
    countAccounts: people.countAccounts,
    storage: game.storage,
    tournaments: game.tournaments,
    scriptFunctions: createScriptFunctions(game.tournaments),
    resets: game.resets,
    queues: trail.queue === undefined ? [] : [trail.queue],
    pruners: {
      ...players.pruners,
      ...operators.pruners,
      ...people.pruners,
      ...game.pruners,
      ended_boots: createEndedBootsPruner(deps.db),
      idempotency_records: trail.idempotency.prune,
    },
    routes: [...players.routes, ...operators.routes, ...people.routes, ...game.routes],
    counters: () => ({
      ...players.counters(),
      audit_dropped_total: trail.dropped(),
      key_use_dropped_total: people.keyUse.dropped(),
      outbox_dropped_total: game.tournaments.outboxDropped(),
    }),
  }
}
