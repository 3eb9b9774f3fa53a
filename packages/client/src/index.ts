export { type ConsoleClient, createConsoleClient, type Operator } from './console-client.ts'
export { createHttpClient, GuildhallError, type HttpClientOptions } from './http-client.ts'
export { createPlayer, type Player } from './player.ts'
export {
  connectRealtime,
  type Realtime,
  RealtimeClosed,
  type RealtimeOptions,
  RpcError,
} from './realtime-client.ts'
