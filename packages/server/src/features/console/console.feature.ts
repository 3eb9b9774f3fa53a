import { type AuditRecorder, actorOf, clean } from '../../kernel/audit/recorder.ts'
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
  const operators = createConsole({
    clock,
    ids,
    config: config.console,
    verifyPassword: hashing.verify,
    admit: admission.take,
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
  return defineFeature(
    { routes: mount({ console: consoleHandlers(operators) }) },
    { verifyToken: operators.verify },
  )
}
