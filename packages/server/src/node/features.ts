import type { LoadedConfig } from '../config/load.ts'
import { describeConfig } from '../config/redact.ts'
import { createEndedBootsPruner } from '../database/jobs/node-claim.ts'
import { accountsFeature } from '../features/accounts/accounts.feature.ts'
import { admissionFeature } from '../features/admission/admission.feature.ts'
import { apiKeysFeature } from '../features/api-keys/api-keys.feature.ts'
import { auditFeature } from '../features/audit/audit.feature.ts'
import { chatFeature } from '../features/chat/chat.feature.ts'
import { configFeature } from '../features/config/config.feature.ts'
import { consoleFeature } from '../features/console/console.feature.ts'
import { consoleAccountsFeature } from '../features/console-accounts/console-accounts.feature.ts'
import { consoleSessionsFeature } from '../features/console-sessions/console-sessions.feature.ts'
import { databaseFeature } from '../features/database/database.feature.ts'
import { defineFeature } from '../features/feature.ts'
import { friendsFeature } from '../features/friends/friends.feature.ts'
import { friendsOf } from '../features/friends/friends.service.ts'
import { groupsFeature } from '../features/groups/groups.feature.ts'
import { groupsOf } from '../features/groups/groups.service.ts'
import { idempotencyFeature } from '../features/idempotency/idempotency.feature.ts'
import { leaderboardsFeature } from '../features/leaderboards/leaderboards.feature.ts'
import { matchRecordsFeature } from '../features/match-records/match-records.feature.ts'
import { notificationsFeature } from '../features/notifications/notifications.feature.ts'
import { outboundHttpFeature } from '../features/outbound-http/outbound-http.feature.ts'
import { outboxFeature } from '../features/outbox/outbox.feature.ts'
import { purchasesFeature } from '../features/purchases/purchases.feature.ts'
import { scriptLogsFeature } from '../features/script-logs/script-logs.feature.ts'
import { sessionsFeature } from '../features/sessions/sessions.feature.ts'
import { signInFeature } from '../features/sign-in/sign-in.feature.ts'
import { storageFeature } from '../features/storage/storage.feature.ts'
import { storageOf } from '../features/storage/storage.service.ts'
import { telemetryFeature } from '../features/telemetry/telemetry.feature.ts'
import { tournamentsFeature } from '../features/tournaments/tournaments.feature.ts'
import { transactionsFeature } from '../features/transactions/transactions.feature.ts'
import { walletFeature } from '../features/wallet/wallet.feature.ts'
import { balancesOf } from '../features/wallet/wallet.service.ts'
import { createHashing } from '../kernel/auth/hashing.ts'
import type { LivePlayers } from '../kernel/play/delivery.ts'
import type { Shared } from './shared.ts'
import type { Secrets } from './store.ts'

export type FeaturesDeps = Shared & {
  secrets: Secrets
  /** Where each key's value came from; without it all are shown as defaults. */
  settingSources?: LoadedConfig['sources']
  /** Called after the commit that revoked these sessions. */
  onRevoked(sessionIds: readonly string[]): void
  /** Called with the time of each password hash, in milliseconds. */
  observeHash?: ((durationMs: number) => void) | undefined
  /** Those who are connected. Nobody is before the gateway is there. */
  players: LivePlayers
}

export type Features = ReturnType<typeof createFeatures>

/**
 * Builds the features that need neither the gateway nor the script, each after those that it needs
 * something of.
 */
export function createFeatures(deps: FeaturesDeps) {
  const trail = createTrail(deps)
  const people = createPeople(deps, trail)
  const game = createGame(deps, trail, people)
  return { ...trail, ...people, ...game, ...createPlayRecords(deps, trail) }
}

export type Trail = ReturnType<typeof createTrail>
type People = ReturnType<typeof createPeople>

/** What every change of an operator goes through. */
export function createTrail({ db, clock, ids, log, config, leases }: FeaturesDeps) {
  const idempotency = idempotencyFeature({ db, clock })
  const audit = auditFeature({
    ...{ db, clock, ids, log },
    nodeId: config.server.node_id,
    config: config.logs,
    lease: db.durable ? leases.of('sealer') : undefined,
    recordAnswer: idempotency.record,
    recordAnswers: idempotency.recordAll,
  })
  const boots = defineFeature({ pruners: { ended_boots: createEndedBootsPruner(db) } })
  return { boots, idempotency, audit }
}

/** Players, operators and machines: who they are, and how they sign in. */
export function createPeople(deps: FeaturesDeps, { audit }: Trail) {
  const { db, clock, ids, log, config, secrets, version } = deps
  const base = { db, clock, ids, log, mutate: audit.mutate }
  const { hashing: hashingConfig, limits } = config.authentication
  const observe = deps.observeHash
  const hashing = createHashing({ ...base, config: hashingConfig, ...(observe && { observe }) })
  const admission = admissionFeature({ ...base, secret: secrets.admission, limits })
  const accounts = accountsFeature(base)
  const { onRevoked } = deps
  const sessions = sessionsFeature({
    ...base,
    secret: secrets.sessions,
    config: config.sessions,
    onRevoked,
  })
  const admit = async (plan: Parameters<typeof admission.take>[0]) => {
    await admission.take(plan)
  }
  return {
    hashing,
    admission,
    accounts,
    sessions,
    signIn: signInFeature({ db, hashing, accounts, sessions, admit }),
    console: consoleFeature({
      ...base,
      config: config.console,
      verifyPassword: hashing.verify,
      admit: admission.take,
      recorder: audit.recorder,
    }),
    apiKeys: apiKeysFeature(base),
    config: configFeature(
      {
        node_id: config.server.node_id,
        version,
        backend: db.backend,
        groups: describeConfig(config),
      },
      (key) => deps.settingSources?.get(key)?.text ?? 'default',
    ),
    database: databaseFeature({
      explorer: db.explorer,
      clock,
      ids,
      recorder: audit.recorder,
    }),
    consoleSessions: consoleSessionsFeature({
      ...base,
      ...sessions.forOperators,
      accountExists: accounts.exists,
      isConnected: deps.players.isConnected,
    }),
    consoleAccounts: consoleAccountsFeature({
      ...base,
      ...sessions.forOperators,
      walletOf: balancesOf,
      friendsOf,
      groupsOf,
      storageOf,
    }),
  }
}

/** What is kept of play: matches, lines of scripts, and what they count. */
function createPlayRecords(deps: FeaturesDeps, { audit }: Trail) {
  const { db, clock, ids, log, config, bootId } = deps
  const base = { db, clock, ids, log, bootId, nodeId: config.server.node_id, config: config.logs }
  const scriptLogs = scriptLogsFeature({ ...base, recorder: audit.recorder })
  const telemetry = telemetryFeature(base)
  const matchRecords = matchRecordsFeature({
    ...base,
    recorder: audit.recorder,
    logs: scriptLogs,
    slices: telemetry,
    settled: (match_id) => telemetry.slices.finish({ match_id }),
  })
  return { scriptLogs, telemetry, matchRecords }
}

/** What belongs to players, and what they play for. */
export function createGame(deps: FeaturesDeps, { audit }: Trail, { accounts }: People) {
  const { db, clock, log, clockWatch, config, leases, players } = deps
  const { mutate, mutateMany } = audit
  const base = { db, clock, log, mutate, mutateMany, players, onHold: clockWatch.onHold }
  const leaseOf = (name: string) => (config.scheduler.enabled ? leases.of(name) : undefined)

  const outbox = outboxFeature(base)
  const tournaments = tournamentsFeature({
    ...base,
    config: config.tournaments,
    lease: leaseOf('settlement'),
    accountState: accounts.stateOf,
    leave: outbox.add,
  })
  const wallet = walletFeature({ ...base, config: config.wallet, accountExists: accounts.exists })
  const notifications = notificationsFeature({
    ...base,
    capacity: config.notifications.capacity,
  })
  const storage = storageFeature({ ...base, declared: config.storage.indexes })
  return {
    wallet,
    friends: friendsFeature({ ...base, accountExists: accounts.exists }),
    groups: groupsFeature(base),
    chat: chatFeature({
      ...base,
      nodeId: config.server.node_id,
      historyLimit: config.chat.history_limit,
      moderationRetentionDays: config.logs.audit_retention_days,
    }),
    notifications,
    storage,
    transactions: transactionsFeature({
      ...base,
      config: config.wallet,
      ...{ wallet, storage, notifications },
    }),
    leaderboards: leaderboardsFeature({
      ...base,
      config: config.leaderboards,
      intervalMs: config.scheduler.interval_ms,
      lease: leaseOf('boards'),
      periodClosed: tournaments.periodClosed,
    }),
    outboundHttp: outboundHttpFeature({ clock, config: config.runtime.outbound_http }),
    outbox,
    tournaments,
    purchases: purchasesFeature({ ...base, config: config.purchases }),
  }
}
