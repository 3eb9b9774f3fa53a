export type {
  Party,
  RoomPage,
  RoomQuery,
  RoomRow,
  TicketCriteria,
  TicketStatus,
} from './built-in-rpcs.ts'
export { type ErrorBody, type ErrorCode, errorMessageBytesMax, errorTable } from './errors.ts'
export type { BodyOfKind, DownKind, GameTypes, MethodOf, UpKind } from './game-types.ts'
export type { BodyCodec } from './kinds/bytes.ts'
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
} from './kinds/diagnostics.ts'
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
} from './kinds/envelope.ts'
export {
  applicationKindMin,
  type KindDirection,
  type KindLane,
  type KindName,
  type KindRow,
  type KindState,
  kindRow,
  kinds,
} from './kinds/kinds.ts'
export {
  decodeLagHeader,
  encodeLagHeader,
  type LagClockSample,
  type LagHeader,
  lagClockSamplesMax,
  lagContentType,
  lagFlags,
  lagHeaderBytes,
  lagRecordBytes,
} from './kinds/lag-artifact.ts'
export {
  type PeerPosition,
  type Position,
  peerPositionBody,
  plainFailure,
  positionBody,
  positionBytesMax,
  type RpcFailure,
  type RpcRequest,
  type RpcResponse,
  rpcFailureBody,
  rpcMethodBytesMax,
  rpcRequestBody,
  rpcRequestId,
  rpcResponseBody,
  splitSender,
  tagWithSender,
} from './kinds/play.ts'
export {
  type Departure,
  departures,
  type PresenceEntry,
  type PresenceEvent,
  presenceEntriesMax,
  presenceEvents,
  type RoomPresence,
  roomPresenceBody,
} from './kinds/presence.ts'
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
} from './kinds/rooms.ts'
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
} from './kinds/session.ts'
export type {
  ChatPush,
  MatchmakerMatched,
  MatchmakerRemoved,
  NotificationPush,
  PartyPush,
} from './pushes.ts'
export { accountsApi, Profile } from './routes/accounts.ts'
export { api } from './routes/api.ts'
export { ApiKey, apiKeysApi } from './routes/api-keys.ts'
export { AuditEntry, auditApi } from './routes/audit.ts'
export { type AuditAction, auditActions } from './routes/audit-actions.ts'
export { ChatChannel, chatApi } from './routes/chat.ts'
export { configApi } from './routes/config.ts'
export { consoleApi } from './routes/console.ts'
export {
  type AccountChange,
  AccountExport,
  type AccountName,
  consoleAccountsApi,
  type NewAccount,
} from './routes/console-accounts.ts'
export { consoleSessionsApi, SessionRow } from './routes/console-sessions.ts'
export {
  type DatabaseCell,
  type DatabaseFilter,
  type DatabaseRow,
  type DatabaseSort,
  databaseApi,
  type FilterOperator,
  filterOperators,
} from './routes/database.ts'
export { errorJournalApi, JournalEntry } from './routes/error-journal.ts'
export { friendsApi } from './routes/friends.ts'
export { groupsApi } from './routes/groups.ts'
export {
  isLagId,
  LagArtifact,
  LagCapture,
  LagQuality,
  LagReport,
  LagSummary,
  LagWindow,
  lagApi,
  lagEdgesUs,
  lagUploadApi,
} from './routes/lag.ts'
export { leaderboardsApi } from './routes/leaderboards.ts'
export {
  MatchRecord,
  matchRecordsApi,
  type TerminationReason,
  terminationReasons,
} from './routes/match-records.ts'
export { DeploymentNode, LiveRoom, MatchmakerTotals, matchesApi } from './routes/matches.ts'
export { notificationsApi } from './routes/notifications.ts'
export { type Role, roles, type Scope, scopes } from './routes/principals.ts'
export {
  Purchase,
  type PurchaseStore,
  purchaseStores,
  purchaseSumsMax,
  purchasesApi,
  Receipt,
} from './routes/purchases.ts'
export { realtimeApi } from './routes/realtime.ts'
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
} from './routes/route.ts'
export {
  HandlerCost,
  HandlerFailure,
  RpcAnswer,
  RuntimeView,
  runtimeApi,
  ScriptActivation,
  ScriptFailures,
} from './routes/runtime.ts'
export {
  type LogLevel,
  LogLine,
  linesLookedThrough,
  logLevels,
  scriptLogsApi,
} from './routes/script-logs.ts'
export { SessionTokens, sessionsApi } from './routes/sessions.ts'
export { Health, Readiness, Status, shellApi } from './routes/shell.ts'
export { CredentialSignIn, EmailSignIn, signInApi } from './routes/sign-in.ts'
export {
  ImportedObject,
  type ImportMode,
  importModes,
  StorageObject,
  StorageRow,
  storageApi,
  storageImportMax,
} from './routes/storage.ts'
export { Subscription, subscriptionsApi } from './routes/subscriptions.ts'
export {
  HostTelemetry,
  type SliceCloseReason,
  sliceCloseReasons,
  TelemetrySlice,
  telemetryApi,
} from './routes/telemetry.ts'
export { tournamentsApi } from './routes/tournaments.ts'
export { Wallet, walletApi } from './routes/wallet.ts'
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
export {
  LagFlushed,
  LagOne,
  type LagSkip,
  LagStart,
  LagStarted,
  LagState,
  lagScript,
} from './script/lag.ts'
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
export { AccountDetail, AccountRow } from './shapes/accounts.ts'
export { ChatMessage, channelTypes } from './shapes/chat.ts'
export { Friend } from './shapes/friends.ts'
export { GroupDetail, type GroupRole, GroupSummary, groupRoles } from './shapes/groups.ts'
export {
  type CaptureState,
  captureStates,
  type LagDelivery,
  type LagDirection,
  type LagOutcome,
  lagDeliveries,
  lagDirections,
  lagOutcomes,
  type RecorderStatus,
  recorderStatuses,
} from './shapes/lag.ts'
export {
  type BoardOperator,
  type BoardSort,
  boardId,
  boardOperators,
  boardSorts,
  Leaderboard,
  LeaderboardRecord,
  RankedRecord,
} from './shapes/leaderboards.ts'
export { Notification } from './shapes/notifications.ts'
export { storageName, storageOwner, storageValueBytesMax } from './shapes/storage.ts'
export {
  Tournament,
  TournamentEntry,
  TournamentRegistration,
  TournamentResult,
  type TournamentState,
  tournamentId,
  tournamentStates,
} from './shapes/tournaments.ts'
export { type Cron, parseCron } from './values/cron.ts'
export { isDurableId } from './values/durable-ids.ts'
export { parseExact, stringifyExact } from './values/exact-json.ts'
export { hasControlCharacter, isBlank, utf8Bytes } from './values/fields.ts'
export { int64Max, int64Min } from './values/int64.ts'
export type { Json, JsonObject } from './values/json.ts'
export { once, type ReadRows } from './values/once.ts'
