/**
 * The entry point of players: codecs, constants and types of what crosses the wire. Nothing here
 * needs the schema library, neither when it runs nor for its types. The main entry point has the
 * tables and their schemas.
 */

export type {
  Party,
  RoomPage,
  RoomQuery,
  RoomRow,
  TicketCriteria,
  TicketStatus,
} from './built-in-rpcs.ts'
export { type ErrorBody, type ErrorCode, errorTable } from './errors.ts'
export type {
  BodyOfKind,
  DownKind,
  GameTypes,
  MethodOf,
  OwnOf,
  RefusalOf,
  StateOf,
  UpKind,
} from './game-types.ts'
export {
  type DiagFlush,
  type DiagStart,
  type DiagStatus,
  diagCapabilitiesBody,
  diagClockSyncBody,
  diagFeatures,
  diagFlushBody,
  diagServerTimeBody,
  diagStartBody,
  diagStatusBody,
} from './kinds/diagnostics.ts'
export {
  decodeDatagram,
  type Envelope,
  encodeDatagram,
  encodeFrame,
  envelopeBytesMax,
  FrameDecoder,
  WireError,
} from './kinds/envelope.ts'
export { applicationKindMin, kinds } from './kinds/kinds.ts'
export {
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
  peerPositionBody,
  plainFailure,
  positionBody,
  positionBytesMax,
  type RpcFailure,
  rpcFailureBody,
  rpcMethodBytesMax,
  rpcRequestBody,
  rpcResponseBody,
  splitSender,
  tagWithSender,
} from './kinds/play.ts'
export {
  type Departure,
  type PresenceEntry,
  type RoomPresence,
  roomPresenceBody,
} from './kinds/presence.ts'
export {
  matchClosedBody,
  type RoomEnter,
  type RoomJoined,
  roomEnterBody,
  roomJoinedBody,
  roomOptionsBytesMax,
  roomReferenceBody,
  roomRejectBody,
  roomTextBytesMax,
} from './kinds/rooms.ts'
export {
  type AuthResult,
  authBody,
  authResultBody,
  type Notice,
  noticeBody,
  type SessionInfo,
  sessionFlags,
  sessionInfoBody,
  sessionOptionsBody,
} from './kinds/session.ts'
export type {
  CredentialSignInBody,
  EmailSignInBody,
  LookupBody,
  Profile,
  ProfilePatchBody,
  SessionTokens,
} from './players.ts'
export type {
  ChatPush,
  MatchmakerMatched,
  MatchmakerRemoved,
  NotificationPush,
  PartyPush,
} from './pushes.ts'
export { StateDecoder, type StatePathChange, type StateUpdate } from './state/state-decoder.ts'
export { parseExact, stringifyExact } from './values/exact-json.ts'
export type { Json, JsonObject } from './values/json.ts'
