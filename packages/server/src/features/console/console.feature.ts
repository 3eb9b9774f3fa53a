import { type AuditRecorder, actorOf, clean } from '../../kernel/audit/recorder.ts'
import type { HumanPrincipal } from '../../kernel/auth/principal.ts'
import { defineFeature, mount } from '../feature.ts'
import { consoleHandlers } from './console.routes.ts'
import { type ConsoleDeps, createConsole } from './console.service.ts'

type ConsoleFeatureDeps = Pick<ConsoleDeps, 'clock' | 'ids'> & {
  config: { console: ConsoleDeps['config'] }
  hashing: { verify: ConsoleDeps['verifyPassword'] }
  admission: { take: ConsoleDeps['admit'] }
  recorder: Pick<AuditRecorder, 'record'>
}

/** Longest part of a name that somebody presented in vain, in bytes. */
const failedNameBytesMax = 128

/** Logins of operators, which the audit trail records. */
export function consoleFeature(deps: ConsoleFeatureDeps) {
  const { clock, ids, config, hashing, admission, recorder } = deps
  function record(operator: HumanPrincipal, action: 'console.login' | 'console.logout'): void {
    const details = `role=${operator.role}`
    recorder.record({ ...actorOf(operator), action, target: 'console', details })
  }
  const operators = createConsole({
    clock,
    ids,
    config: config.console,
    verifyPassword: hashing.verify,
    admit: admission.take,
    recordLogin: (operator) => record(operator, 'console.login'),
    recordLogout: (operator) => record(operator, 'console.logout'),
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
  return defineFeature(
    { routes: mount({ console: consoleHandlers(operators) }) },
    { verifyToken: operators.verify },
  )
}
