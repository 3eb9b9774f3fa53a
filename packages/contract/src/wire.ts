/**
 * The entry point for bundles: codecs and constants of what crosses the wire, without the schema
 * library. Everything here is also part of the main entry point, which has all types too.
 */

export { type ErrorBody, type ErrorCode, errorTable } from './errors.ts'
export { diagClockSyncBody } from './kinds/diagnostics.ts'
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
  peerPositionBody,
  positionBody,
  positionBytesMax,
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
export { parseExact, stringifyExact } from './values/exact-json.ts'
