import {
  auditApi,
  configApi,
  consoleApi,
  playerAccountsApi,
  sessionsApi,
  signInApi,
} from '@guildhall/contract'
import { describeConfig } from '../config/redact.ts'
import type { Config } from '../config/schema.ts'
import type { Database } from '../database/database.ts'
import { playerAccountHandlers } from '../features/accounts/accounts.routes.ts'
import { createAccounts } from '../features/accounts/accounts.service.ts'
import { createAdmission } from '../features/admission/admission.service.ts'
import { auditHandlers } from '../features/audit/audit.routes.ts'
import { createAudit } from '../features/audit/audit.service.ts'
import { configHandlers } from '../features/config/config.routes.ts'
import { consoleHandlers } from '../features/console/console.routes.ts'
import { createConsole } from '../features/console/console.service.ts'
import { sessionPruners } from '../features/sessions/sessions.jobs.ts'
import { sessionHandlers } from '../features/sessions/sessions.routes.ts'
import { createSessions } from '../features/sessions/sessions.service.ts'
import { signInHandlers } from '../features/sign-in/sign-in.routes.ts'
import { createSignIn } from '../features/sign-in/sign-in.service.ts'
import { actorOf, clean, createAuditRecorder, keyReadEvent } from '../kernel/audit/recorder.ts'
import { createHashing } from '../kernel/auth/hashing.ts'
import type { Verifiers } from '../kernel/auth/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import { bindHandlers } from '../kernel/http/exchange.ts'
import { writeJson } from '../kernel/http/json-writer.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { createWriteBehind } from '../kernel/write-behind.ts'

export type FeaturesDeps = {
  db: Database
  clock: Clock
  ids: Ids
  log: Log
  config: Config
  version: string
  admissionSecret: Uint8Array
  onRevoked(sessionIds: readonly string[]): void
}

export type Features = ReturnType<typeof createFeatures>

/** Builds every feature and hands each what it needs of the others. */
export function createFeatures(deps: FeaturesDeps) {
  const { db, clock, ids, log, config } = deps
  const counters = { auth_success_total: 0, auth_failure_total: 0, admission_refused_total: 0 }
  const hashing = createHashing({ config: config.authentication.hashing, ids, clock, log })
  const trail = createTrail(deps)
  const admission = createAdmission({
    db,
    clock,
    secret: deps.admissionSecret,
    limits: config.authentication.limits,
    count: () => {
      counters.admission_refused_total += 1
    },
  })
  const accounts = createAccounts({ db, clock, ids, writeJson })
  const sessions = createSessions({
    db,
    clock,
    ids,
    config: config.sessions,
    onRevoked: deps.onRevoked,
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
  const operators = createConsole({
    clock,
    ids,
    config: config.console,
    verifyPassword: hashing.verify,
    admit: admission.take,
    recordLogin: (operator) =>
      trail.recorder.record({
        ...actorOf(operator),
        action: 'console.login',
        target: 'console',
        details: `role=${operator.role}`,
      }),
    recordFailedLogin: (presentedUsername) =>
      trail.recorder.record({
        actor_type: 'human',
        actor: clean(presentedUsername, 128),
        role: '-',
        action: 'console.login_failed',
        target: 'console',
        details: 'invalid credentials',
      }),
  })
  const verifiers: Verifiers = {
    accessToken: sessions.verifyAccess,
    consoleToken: operators.verify,
    // No key can exist yet, so none is valid.
    apiKey: async () => undefined,
  }
  const view = {
    node_id: config.server.node_id,
    version: deps.version,
    backend: db.backend,
    groups: describeConfig(config),
  }
  return {
    sessions,
    hashing,
    verifiers,
    recordKeyRead: (...key: Parameters<typeof keyReadEvent>) =>
      trail.recorder.record(keyReadEvent(...key)),
    queues: trail.queue === undefined ? [] : [trail.queue],
    pruners: {
      ...sessionPruners(db, clock),
      admission_windows: admission.prune,
      audit_entries: trail.audit.prune,
    },
    routes: [
      ...bindHandlers(signInApi, signInHandlers(signIn)),
      ...bindHandlers(sessionsApi, sessionHandlers(sessions)),
      ...bindHandlers(playerAccountsApi, playerAccountHandlers(accounts)),
      ...bindHandlers(consoleApi, consoleHandlers(operators)),
      ...bindHandlers(configApi, configHandlers(view)),
      ...bindHandlers(auditApi, auditHandlers(trail.audit)),
    ],
    counters: () => ({
      ...counters,
      audit_dropped_total: trail.queue === undefined ? 0 : lostOf(trail.queue.counts()),
    }),
  }
}

/** The recorder, its queue on a durable backend, and the reader of both. */
function createTrail({ db, clock, ids, log, config }: FeaturesDeps) {
  const { logs } = config
  const queue = db.durable
    ? createWriteBehind<Parameters<typeof audit.write>[0][number]>({
        name: 'audit',
        capacity: logs.audit_max_queue_items,
        batchItems: logs.flush_batch_items,
        flushIntervalMs: logs.flush_interval_ms,
        write: (events) => audit.write(events),
        clock,
        log,
      })
    : undefined
  const recorder = createAuditRecorder({
    clock,
    ids,
    ringCapacity: logs.audit_ring_capacity,
    ...(queue === undefined ? {} : { enqueue: (event) => queue.add(event) }),
  })
  const audit = createAudit({
    db,
    clock,
    nodeId: config.server.node_id,
    recorder,
    retentionDays: logs.audit_retention_days,
    ...(queue === undefined
      ? {}
      : {
          queue: {
            flush: (timeoutMs) => queue.flush(timeoutMs),
            dropped: () => lostOf(queue.counts()),
          },
        }),
  })
  return { recorder, audit, queue }
}

/** Entries that will never be written. */
function lostOf({ dropped, abandoned }: { dropped: number; abandoned: number }): number {
  return dropped + abandoned
}
