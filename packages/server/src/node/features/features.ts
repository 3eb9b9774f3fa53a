import type { LoadedConfig } from '../../config/load.ts'
import { describeConfig } from '../../config/redact.ts'
import { createEndedBootsPruner } from '../../database/jobs/node-claim.ts'
import type { TableName } from '../../database/tables/index.ts'
import { createSequencesCheck } from '../../doctor/sequences.store.ts'
import { accountsFeature } from '../../features/accounts/accounts.feature.ts'
import { admissionFeature } from '../../features/admission/admission.feature.ts'
import { apiKeysFeature } from '../../features/api-keys/api-keys.feature.ts'
import { auditFeature } from '../../features/audit/audit.feature.ts'
import { chatFeature } from '../../features/chat/chat.feature.ts'
import { configFeature } from '../../features/config/config.feature.ts'
import { consoleFeature } from '../../features/console/console.feature.ts'
import { consoleAccountsFeature } from '../../features/console-accounts/console-accounts.feature.ts'
import { consoleSessionsFeature } from '../../features/console-sessions/console-sessions.feature.ts'
import { databaseFeature } from '../../features/database/database.feature.ts'
import { defineFeature, type FoundBy } from '../../features/feature.ts'
import { friendsFeature } from '../../features/friends/friends.feature.ts'
import { groupsFeature } from '../../features/groups/groups.feature.ts'
import { idempotencyFeature } from '../../features/idempotency/idempotency.feature.ts'
import { lagFeature } from '../../features/lag/lag.feature.ts'
import { leaderboardsFeature } from '../../features/leaderboards/leaderboards.feature.ts'
import { matchRecordsFeature } from '../../features/match-records/match-records.feature.ts'
import { notificationsFeature } from '../../features/notifications/notifications.feature.ts'
import { outboundHttpFeature } from '../../features/outbound-http/outbound-http.feature.ts'
import { outboxFeature } from '../../features/outbox/outbox.feature.ts'
import { purchasesFeature } from '../../features/purchases/purchases.feature.ts'
import { schedulesFeature } from '../../features/schedules/schedules.feature.ts'
import { scriptLogsFeature } from '../../features/script-logs/script-logs.feature.ts'
import { sessionsFeature } from '../../features/sessions/sessions.feature.ts'
import { signInFeature } from '../../features/sign-in/sign-in.feature.ts'
import { storageFeature } from '../../features/storage/storage.feature.ts'
import { telemetryFeature } from '../../features/telemetry/telemetry.feature.ts'
import { tournamentsFeature } from '../../features/tournaments/tournaments.feature.ts'
import { transactionsFeature } from '../../features/transactions/transactions.feature.ts'
import { walletFeature } from '../../features/wallet/wallet.feature.ts'
import { createHashing } from '../../kernel/auth/hashing.ts'
import type { ErrorJournal } from '../../kernel/errors/error-journal.ts'
import type { LivePlayers } from '../../kernel/play/delivery.ts'
import type { RecordingPlayers } from '../../kernel/play/recording.ts'
import type { Secrets } from '../database/store.ts'
import { joinCrash, joinRelated, joinStories } from './joined.ts'
import type { Shared } from './shared.ts'

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
  /** Those of them whose clients can record for diagnostics. */
  recording: RecordingPlayers
  /** Whether a boot of another node is gone; undefined on a node that plays with itself. */
  isBootGone?: ((bootId: string) => boolean) | undefined
  journal: Pick<ErrorJournal, 'record'>
}

export type Features = ReturnType<typeof createFeatures>

/**
 * Builds the features that need neither the gateway nor the script, each after those that it needs
 * something of. Tasks, checks and the end of the node follow the order of the list.
 */
export function createFeatures(deps: FeaturesDeps, trail: Trail = createTrail(deps)) {
  const { config, observeHash: observe, settingSources, leases } = deps
  const { mutate, mutateMany, recorder } = trail.audit
  const jobLease = (name: string) => (config.scheduler.enabled ? leases.of(name) : undefined)
  const own = { nodeId: config.server.node_id, onHold: deps.clockWatch.onHold, jobLease }
  const base = { ...deps, ...own, mutate, mutateMany, recorder }
  const sourceOf = (key: string) => settingSources?.get(key)?.text ?? 'default'

  const hashing = createHashing({ ...base, config: config.authentication.hashing, observe })
  const admission = admissionFeature(base)
  const accounts = accountsFeature(base)
  const sessions = sessionsFeature(base)
  const outbox = outboxFeature(base)
  const notifications = notificationsFeature(base)
  const tournaments = tournamentsFeature({ ...base, accounts, outbox, notifications })
  const wallet = walletFeature({ ...base, accounts })
  const storage = storageFeature(base)
  const scriptLogs = scriptLogsFeature(base)
  const telemetry = telemetryFeature(base)
  const lag = lagFeature(base)

  const features = {
    ...trail,
    hashing,
    admission,
    accounts,
    sessions,
    signIn: signInFeature({ ...base, hashing, accounts, sessions, admission }),
    console: consoleFeature({ ...base, hashing, admission }),
    apiKeys: apiKeysFeature(base),
    config: configFeature({ ...base, groups: describeConfig(config), sourceOf }),
    database: databaseFeature(base),
    consoleSessions: consoleSessionsFeature({ ...base, accounts, sessions }),
    wallet,
    friends: friendsFeature({ ...base, accounts }),
    groups: groupsFeature(base),
    chat: chatFeature(base),
    notifications,
    storage,
    transactions: transactionsFeature({ ...base, wallet, storage, notifications }),
    leaderboards: leaderboardsFeature({ ...base, tournaments }),
    outboundHttp: outboundHttpFeature(base),
    outbox,
    schedules: schedulesFeature({ ...base, outbox }),
    tournaments,
    purchases: purchasesFeature(base),
    scriptLogs,
    telemetry,
    lag,
    matchRecords: matchRecordsFeature({ ...base, scriptLogs, telemetry, lag }),
    node: nodeOwn(deps),
  }
  // The last one, because an account's export and timeline have a part of each of them.
  const [related, stories] = [joinRelated(features), joinStories(features)]
  const all = { ...base, related, stories, sessions }
  return { ...features, consoleAccounts: consoleAccountsFeature(all) }
}

type Trail = ReturnType<typeof createTrail>

/** What every change of an operator goes through. */
export function createTrail(deps: FeaturesDeps) {
  const idempotency = idempotencyFeature(deps)
  const audit = auditFeature({ ...deps, nodeId: deps.config.server.node_id, idempotency })
  return { idempotency, audit }
}

/** What is of the node itself and of no feature. */
function nodeOwn({ db, config }: FeaturesDeps) {
  const sequences = createSequencesCheck({
    backend: db.backend,
    notificationsMax: config.notifications.capacity,
    ledgerMax: config.wallet.ledger_retention,
  })
  return defineFeature({
    checks: [sequences],
    pruners: { ended_boots: createEndedBootsPruner(db) },
    crash: {
      schema_migrations: 'doctor',
      schema_lease: { not: 'of a running migration; the next one takes it' },
      deployment_secrets: { not: 'written once, before the node listens' },
      leases: { not: 'of a running job; the next node takes it' },
      node_boots: { not: 'a killed process leaves its row open, as it must' },
      totals: 'doctor',
      cluster_nodes: { not: 'who plays now; a killed node leaves its row, which others free' },
      cluster_names: { not: 'of rooms that are open now' },
      cluster_sessions: { not: 'of connections that are open now' },
      cluster_numbers: { not: 'their order among connections that are open now' },
      cluster_seats: { not: 'of seats that wait now' },
      cluster_roles: { not: 'of a running node; the next one takes it' },
    },
  })
}

/**
 * What finds the rows of each table that a crash loses. A table that no feature declares does not
 * compile here; neither does one that two declare.
 */
export function crashModels(features: Features): Readonly<Record<TableName, FoundBy>> {
  return joinCrash(features)
}
