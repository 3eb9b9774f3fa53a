import { auditApi, configApi, consoleApi } from '@guildhall/contract'
import { describeConfig } from '../config/redact.ts'
import { auditHandlers } from '../features/audit/audit.routes.ts'
import { configHandlers } from '../features/config/config.routes.ts'
import { consoleHandlers } from '../features/console/console.routes.ts'
import { createConsole } from '../features/console/console.service.ts'
import { actorOf, clean } from '../kernel/audit/recorder.ts'
import { bindHandlers } from '../kernel/http/exchange.ts'
import type { Players } from './players.ts'
import type { Shared } from './shared.ts'
import type { Trail } from './trail.ts'

/** Longest part of a name that somebody presented in vain, in bytes. */
const failedNameBytesMax = 128

/** The operators' door, and what they may see of the node itself. */
export function createOperators(
  shared: Shared,
  { trail, players }: { trail: Trail; players: Players },
) {
  const { db, clock, ids, config, version } = shared
  const { recorder } = trail
  const operators = createConsole({
    clock,
    ids,
    config: config.console,
    verifyPassword: players.hashing.verify,
    admit: players.admission.take,
    recordLogin: (operator) =>
      recorder.record({
        ...actorOf(operator),
        action: 'console.login',
        target: 'console',
        details: `role=${operator.role}`,
      }),
    recordFailedLogin: (presentedUsername) =>
      recorder.record({
        actor_type: 'human',
        actor: clean(presentedUsername, failedNameBytesMax),
        role: '-',
        action: 'console.login_failed',
        target: 'console',
        details: 'invalid credentials',
      }),
  })
  const view = {
    node_id: config.server.node_id,
    version,
    backend: db.backend,
    groups: describeConfig(config),
  }
  return {
    verifyToken: operators.verify,
    pruners: { audit_entries: trail.audit.prune },
    routes: [
      ...bindHandlers(consoleApi, consoleHandlers(operators)),
      ...bindHandlers(configApi, configHandlers(view)),
      ...bindHandlers(auditApi, auditHandlers(trail.audit)),
    ],
  }
}
