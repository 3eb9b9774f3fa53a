export { accountsApi, Profile } from './accounts.ts'
export { ApiKey, apiKeysApi } from './api-keys.ts'
export { AuditEntry, auditApi } from './audit.ts'
export { type AuditAction, auditActions } from './audit-actions.ts'
export type {
  Party,
  RoomPage,
  RoomQuery,
  RoomRow,
  TicketCriteria,
  TicketStatus,
} from './built-in-rpcs.ts'
export {
  type ChannelType,
  ChatChannel,
  ChatMessage,
  channelTypes,
  chatApi,
} from './chat.ts'
export { configApi } from './config.ts'
export { consoleApi } from './console.ts'
export {
  type AccountChange,
  AccountDetail,
  AccountExport,
  AccountRow,
  consoleAccountsApi,
  type NewAccount,
} from './console-accounts.ts'
export { consoleSessionsApi, SessionRow } from './console-sessions.ts'
export { type Cron, parseCron } from './cron.ts'
export {
  type DatabaseCell,
  type DatabaseFilter,
  type DatabaseRow,
  type DatabaseSort,
  databaseApi,
  type FilterOperator,
  filterOperators,
} from './database.ts'
export { isDurableId } from './durable-ids.ts'
export {
  decodeDatagram,
  type Envelope,
  encodeDatagram,
  encodeFrame,
  envelopeBytesMax,
  envelopeBytesMin,
  FrameDecoder,
  frameHeaderBytes,
  WireError,
  type WireErrorCode,
} from './envelope.ts'
export { errorJournalApi, JournalEntry } from './error-journal.ts'
export { type ErrorBody, type ErrorCode, errorMessageBytesMax, errorTable } from './errors.ts'
export { parseExact, stringifyExact } from './exact-json.ts'
export {
  hasControlCharacter,
  isBlank,
  type Json,
  type JsonObject,
  utf8Bytes,
} from './fields.ts'
export { Friend, friendsApi } from './friends.ts'
export type { BodyOfKind, DownKind, GameTypes, MethodOf, UpKind } from './game-types.ts'
export { GroupDetail, type GroupRole, GroupSummary, groupRoles, groupsApi } from './groups.ts'
export {
  applicationKindMin,
  type KindDirection,
  type KindLane,
  type KindName,
  type KindRow,
  type KindState,
  kindRow,
  kinds,
} from './kinds.ts'
export type { BodyCodec } from './kinds-bytes.ts'
export {
  type DiagCapabilities,
  type DiagClockSync,
  type DiagFilter,
  type DiagFlush,
  type DiagServerTime,
  type DiagStart,
  type DiagStatus,
  diagCapabilitiesBody,
  diagClockSyncBody,
  diagFeatures,
  diagFiltersMax,
  diagFlushBody,
  diagServerTimeBody,
  diagStartBody,
  diagStates,
  diagStatusBody,
} from './kinds-diagnostics.ts'
export {
  type PeerPosition,
  type Position,
  peerPositionBody,
  positionBody,
  positionBytesMax,
  type RpcRequest,
  type RpcResponse,
  rpcMethodBytesMax,
  rpcRequestBody,
  rpcRequestId,
  rpcResponseBody,
  splitSender,
  tagWithSender,
} from './kinds-play.ts'
export {
  type Departure,
  departures,
  type PresenceEntry,
  type PresenceEvent,
  presenceEntriesMax,
  presenceEvents,
  type RoomPresence,
  roomPresenceBody,
} from './kinds-presence.ts'
export {
  type MatchClosed,
  matchClosedBody,
  type RoomCreate,
  type RoomEnter,
  type RoomJoined,
  type RoomReference,
  type RoomReject,
  roomCreateBody,
  roomEnterBody,
  roomEnterModes,
  roomJoinedBody,
  roomOptionsBytesMax,
  roomReferenceBody,
  roomRejectBody,
  roomTextBytesMax,
} from './kinds-rooms.ts'
export {
  type Auth,
  type AuthRejection,
  type AuthResult,
  authBody,
  authRejections,
  authResultBody,
  authTokenBytesMax,
  type Notice,
  noticeBody,
  noticeCodes,
  type SessionInfo,
  type SessionOptions,
  sessionFlags,
  sessionInfoBody,
  sessionOptionsBody,
} from './kinds-session.ts'
export {
  type BoardOperator,
  type BoardSort,
  boardId,
  boardOperators,
  boardSorts,
  Leaderboard,
  LeaderboardRecord,
  leaderboardsApi,
  RankedRecord,
  recordUserId,
} from './leaderboards.ts'
export {
  MatchRecord,
  matchRecordsApi,
  type TerminationReason,
  terminationReasons,
} from './match-records.ts'
export { LiveRoom, MatchmakerTotals, matchesApi } from './matches.ts'
export { Notification, notificationsApi } from './notifications.ts'
export { int64Max, int64Min } from './numbers.ts'
export { type Role, roles, type Scope, scopes } from './principals.ts'
export {
  Purchase,
  type PurchaseStore,
  purchaseStores,
  purchasesApi,
  Receipt,
} from './purchases.ts'
export type { ChatPush, MatchmakerMatched, NotificationPush, PartyPush } from './pushes.ts'
export { realtimeApi } from './realtime.ts'
export {
  type AdminWrite,
  type Answer,
  type Api,
  type Call,
  type Client,
  type ClientInput,
  defineApi,
  type Handlers,
  isForOperators,
  type Method,
  type PrincipalByAccess,
  type Route,
} from './route.ts'
export { RpcAnswer, RuntimeView, runtimeApi } from './runtime.ts'
export { accountsScript, type ScriptAccount } from './script/accounts.ts'
export { type ChatEvent, chatScript } from './script/chat.ts'
export { friendsScript } from './script/friends.ts'
export { groupsScript } from './script/groups.ts'
export {
  type HookContext,
  type HookName,
  type MatchContext,
  type ScriptHook,
  type ScriptOrigin,
  type SeatTimes,
  scriptHooks,
  scriptOrigins,
} from './script/hooks.ts'
export { httpScript } from './script/http.ts'
export { type ScriptFunctionName, scriptApi } from './script/index.ts'
export { leaderboardsScript } from './script/leaderboards.ts'
export { logsScript } from './script/logs.ts'
export { type Session, topicName } from './script/messaging.ts'
export { notificationsScript } from './script/notifications.ts'
export type { RoomLabel, RoomMember, ScriptRoom } from './script/rooms.ts'
export {
  defineScriptApi,
  type ScriptApi,
  type ScriptCommands,
  type ScriptErrorCode,
  type ScriptFunction,
  type ScriptFunctions,
  type ScriptNames,
  type ScriptTier,
  scriptErrorCodes,
} from './script/script-api.ts'
export { storageDelete, storageScript, storageWrite } from './script/storage.ts'
export { tournamentsScript } from './script/tournaments.ts'
export { transactScript } from './script/transact.ts'
export { scriptTypes } from './script/types.ts'
export { walletScript } from './script/wallet.ts'
export { LogDetail, type LogLevel, LogLine, logLevels, scriptLogsApi } from './script-logs.ts'
export { SessionTokens, sessionsApi } from './sessions.ts'
export { Health, Readiness, Status, shellApi } from './shell.ts'
export { CredentialSignIn, EmailSignIn, signInApi } from './sign-in.ts'
export {
  StorageObject,
  StorageRow,
  storageApi,
  storageName,
  storageOwner,
  storageValueBytesMax,
} from './storage.ts'
export { Subscription, subscriptionsApi } from './subscriptions.ts'
export {
  HostTelemetry,
  type SliceCloseReason,
  sliceCloseReasons,
  TelemetrySlice,
  telemetryApi,
} from './telemetry.ts'
export {
  Tournament,
  TournamentEntry,
  TournamentRegistration,
  TournamentResult,
  type TournamentState,
  tournamentId,
  tournamentStates,
  tournamentsApi,
} from './tournaments.ts'
export { Wallet, walletApi } from './wallet.ts'

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
import { telemetryApi } from './telemetry.ts'
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
  realtime: realtimeApi,
  shell: shellApi,
}
