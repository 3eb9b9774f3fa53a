import { type AuditRecorder, actorOf, clean } from '../../kernel/audit/recorder.ts'
import { defineFeature, mount } from '../feature.ts'
import { consoleHandlers } from './console.routes.ts'
import { type ConsoleDeps, createConsole } from './console.service.ts'

type ConsoleFeatureDeps = Omit<ConsoleDeps, 'recordLogin' | 'recordFailedLogin'> & {
  recorder: Pick<AuditRecorder, 'record'>
}

/** Longest part of a name that somebody presented in vain, in bytes. */
const failedNameBytesMax = 128

/** Logins of operators, which the audit trail records. */
export function consoleFeature({ recorder, ...deps }: ConsoleFeatureDeps) {
  const operators = createConsole({
    ...deps,
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
