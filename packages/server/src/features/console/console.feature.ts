import { type AuditRecorder, actorOf, clean } from '../../kernel/audit/recorder.ts'
import type { HumanPrincipal } from '../../kernel/auth/principal.ts'
import { defineFeature, mount } from '../feature.ts'
import { consoleHandlers } from './console.routes.ts'
import { type ConsoleDeps, createConsole, knowsOperator } from './console.service.ts'
import { consoleStore } from './console.store.ts'
import { createOwnTokens, createSharedTokens, type SharedTokensDeps } from './console.tokens.ts'

type ConsoleFeatureDeps = Pick<SharedTokensDeps, 'db' | 'clock' | 'ids' | 'bootId'> & {
  /** Whether a boot of another node is gone; undefined on a node that plays with itself. */
  isBootGone?: SharedTokensDeps['isBootGone'] | undefined
  config: { console: ConsoleDeps['config'] }
  hashing: { verify: ConsoleDeps['verifyPassword'] }
  admission: { take: ConsoleDeps['admit'] }
  recorder: Pick<AuditRecorder, 'record'>
}

/** Longest part of a name that somebody presented in vain, in bytes. */
const failedNameBytesMax = 128

/** Logins of operators, which the audit trail records. */
export function consoleFeature(deps: ConsoleFeatureDeps) {
  const { db, clock, config, hashing, admission, recorder, isBootGone } = deps
  function record(operator: HumanPrincipal, action: 'console.login' | 'console.logout'): void {
    const details = `role=${operator.role}`
    recorder.record({ ...actorOf(operator), action, target: 'console', details })
  }
  const own = { ...deps, expirySec: config.console.token_expiry_sec }
  const operators = createConsole({
    tokens:
      isBootGone === undefined
        ? createOwnTokens(own)
        : createSharedTokens({
            ...own,
            isBootGone,
            isKnown: (username, role) => knowsOperator(config.console, username, role),
          }),
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
    {
      routes: mount({ console: consoleHandlers(operators) }),
      pruners: {
        console_tokens: (batch_items, transact = db.transaction) => {
          const bounds = { now_unix_ms: clock.nowUnixMs(), batch_items }
          return transact((tx) => consoleStore.pruneExpired(tx, bounds))
        },
      },
      crash: { console_tokens: { not: 'who loses one signs in again' } },
    },
    { verifyToken: operators.verify },
  )
}
