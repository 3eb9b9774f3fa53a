import { playerAccountsApi, sessionsApi, signInApi } from '@guildhall/contract'
import { playerAccountHandlers } from '../features/accounts/accounts.routes.ts'
import { createAccounts } from '../features/accounts/accounts.service.ts'
import { createAdmission } from '../features/admission/admission.service.ts'
import { sessionPruners } from '../features/sessions/sessions.jobs.ts'
import { sessionHandlers } from '../features/sessions/sessions.routes.ts'
import { createSessions } from '../features/sessions/sessions.service.ts'
import { signInHandlers } from '../features/sign-in/sign-in.routes.ts'
import { createSignIn } from '../features/sign-in/sign-in.service.ts'
import { createHashing } from '../kernel/auth/hashing.ts'
import { bindHandlers } from '../kernel/http/exchange.ts'
import type { Shared } from './shared.ts'
import type { Secrets } from './store.ts'

export type PlayersDeps = Shared & {
  secrets: Secrets
  /** Called after the commit that revoked these sessions. */
  onRevoked(sessionIds: readonly string[]): void
}

export type Players = ReturnType<typeof createPlayers>

/** Signing in, sessions and profiles, and the limits in front of them. */
export function createPlayers(deps: PlayersDeps) {
  const { db, clock, ids, log, config, onRevoked } = deps
  const counters = { auth_success_total: 0, auth_failure_total: 0, admission_refused_total: 0 }
  const hashing = createHashing({ config: config.authentication.hashing, ids, clock, log })
  const admission = createAdmission({
    db,
    clock,
    secret: deps.secrets.admission,
    limits: config.authentication.limits,
    count: () => {
      counters.admission_refused_total += 1
    },
  })
  const accounts = createAccounts({ db, clock, ids })
  const sessions = createSessions({
    db,
    clock,
    ids,
    secret: deps.secrets.sessions,
    config: config.sessions,
    onRevoked,
  })
  const signIn = createSignIn({
    db,
    hashing,
    accounts,
    sessions,
    admit: async (plan) => void (await admission.take(plan)),
    count: (outcome) => {
      counters[`auth_${outcome}_total`] += 1
    },
  })
  return {
    hashing,
    admission,
    accounts,
    sessions,
    counters: () => ({ ...counters }),
    pruners: { ...sessionPruners(db, clock), admission_windows: admission.prune },
    routes: [
      ...bindHandlers(signInApi, signInHandlers(signIn)),
      ...bindHandlers(sessionsApi, sessionHandlers(sessions)),
      ...bindHandlers(playerAccountsApi, playerAccountHandlers(accounts)),
    ],
  }
}
