import { accountsApi } from './accounts.ts'
import { apiKeysApi } from './api-keys.ts'
import { auditApi } from './audit.ts'
import { chatApi } from './chat.ts'
import { configApi } from './config.ts'
import { consoleApi } from './console.ts'
import { consoleAccountsApi } from './console-accounts.ts'
import { consoleSessionsApi } from './console-sessions.ts'
import { databaseApi } from './database.ts'
import { errorJournalApi } from './error-journal.ts'
import { friendsApi } from './friends.ts'
import { groupsApi } from './groups.ts'
import { lagApi, lagUploadApi } from './lag.ts'
import { leaderboardsApi } from './leaderboards.ts'
import { matchRecordsApi } from './match-records.ts'
import { matchesApi } from './matches.ts'
import { notificationsApi } from './notifications.ts'
import { purchasesApi } from './purchases.ts'
import { realtimeApi } from './realtime.ts'
import { runtimeApi } from './runtime.ts'
import { scriptLogsApi } from './script-logs.ts'
import { sessionsApi } from './sessions.ts'
import { shellApi } from './shell.ts'
import { signInApi } from './sign-in.ts'
import { storageApi } from './storage.ts'
import { subscriptionsApi } from './subscriptions.ts'
import { historyApi, telemetryApi } from './telemetry.ts'
import { tournamentsApi } from './tournaments.ts'
import { walletApi } from './wallet.ts'

/** Every route of the product by feature and name. */
export const api = {
  signIn: signInApi,
  sessions: sessionsApi,
  accounts: accountsApi,
  console: consoleApi,
  config: configApi,
  audit: auditApi,
  apiKeys: apiKeysApi,
  consoleAccounts: consoleAccountsApi,
  consoleSessions: consoleSessionsApi,
  wallet: walletApi,
  friends: friendsApi,
  groups: groupsApi,
  chat: chatApi,
  notifications: notificationsApi,
  storage: storageApi,
  leaderboards: leaderboardsApi,
  tournaments: tournamentsApi,
  purchases: purchasesApi,
  subscriptions: subscriptionsApi,
  database: databaseApi,
  matches: matchesApi,
  runtime: runtimeApi,
  errorJournal: errorJournalApi,
  matchRecords: matchRecordsApi,
  scriptLogs: scriptLogsApi,
  telemetry: telemetryApi,
  history: historyApi,
  lag: lagApi,
  lagUpload: lagUploadApi,
  realtime: realtimeApi,
  shell: shellApi,
}
