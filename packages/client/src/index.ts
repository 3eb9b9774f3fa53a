export type { GameTypes, RefusalOf } from '@guildhall/contract/wire'
export { type ClientErrorCode, GuildhallError, type Refusal } from './error.ts'
export type {
  HostClock,
  HostOptions,
  WebTransportConstructor,
  WebTransportSession,
} from './host.ts'
export type { Off } from './listeners.ts'
export { createPlayer, type Player, type PlayerOptions } from './player.ts'
export type { CallOptions, RpcOptions, SendOptions } from './realtime/call-options.ts'
export type {
  ClosedReason,
  Connection,
  ConnectionEvents,
  ConnectOptions,
  ReconnectOptions,
  RoomCalls,
  RoomOptions,
  State,
  StateEvent,
  Stats,
} from './realtime/connection-types.ts'
export type { Message } from './realtime/sending/payload.ts'
export type { PartyCalls } from './rooms/party-types.ts'
export type { Member, Room, RoomEnd, RoomEvents } from './rooms/room-types.ts'
export type { Matched, Search } from './rooms/search.ts'
export {
  type Later,
  localStorageStore,
  type Session,
  type SessionStore,
  sessionStorageStore,
} from './session/session-store.ts'
