import type {
  BodyOfKind,
  ChatPush,
  Envelope,
  GameTypes,
  MethodOf,
  Notice,
  NotificationPush,
  PartyPush,
  RoomPage,
  RoomQuery,
  TicketCriteria,
  UpKind,
} from '@guildhall/contract/wire'
import type { Off } from '../listeners.ts'
import type { PartyCalls } from '../rooms/party-types.ts'
import type { Room } from '../rooms/room-types.ts'
import type { Matched, Search } from '../rooms/search.ts'
import type {
  CallOptions,
  FormOf,
  FormOfDefault,
  ReplyForm,
  RpcOptions,
  SendOptions,
} from './call-options.ts'
import type { Message } from './sending/payload.ts'

export type ConnectOptions = {
  /** `auto` (default) is WebTransport where runtime and node have it, else WebSocket. */
  transport?: 'auto' | 'websocket' | 'webtransport'
  /** Where the node offers WebTransport, instead of asking it. */
  webTransport?: { url: string; certificateSha256?: string }
  /** Bound of one attempt in milliseconds; default 10,000. */
  connectTimeoutMs?: number
  /** False: a lost connection stays closed. */
  reconnect?: false | ReconnectOptions
  /**
   * When nothing has arrived for so many milliseconds, the SDK asks the server for a sign of life,
   * and takes the connection for lost after 5 s without one; default 10,000, 0 = never. It also
   * asks when the network is back and when the page is shown again.
   */
  idleMs?: number
  /** The server says what it ignored; for development. */
  notices?: boolean
  /** Any address, ws(s):// for WebSocket or https:// for WebTransport; for tools. */
  url?: string
  /** `guest` ignores the session. */
  as?: 'guest'
}

export type ReconnectOptions = {
  /** Upper bound of the first pause; default 500. */
  baseMs?: number
  /** Upper bound of every pause; default 30,000. */
  maxMs?: number
  /** How long to try since the loss; default 300,000, 0 = for ever. */
  giveUpMs?: number
}

export type State = 'connecting' | 'open' | 'reconnecting' | 'closed'

export type ClosedReason =
  | 'closed_by_client'
  | 'auth_rejected'
  | 'session_revoked'
  /** The same session has connected elsewhere, such as in another tab; `connect` takes it back. */
  | 'session_replaced'
  | 'protocol_error'
  | 'gave_up'
  | 'signed_out'
  | 'refused'

/** What a `state` event says. */
export type StateEvent =
  | {
      state: 'open'
      /** The server kept the player's seat: rooms go on. */
      resumed: boolean
      /** Sends that waited and were discarded. */
      dropped: number
      /**
       * The close code of the connection before, if the server could not deliver it, such as 4008
       * to a player who read too slowly; else null.
       */
      lastClose: number | null
    }
  | {
      state: 'reconnecting'
      /** Null for an end without a code. */
      closeCode: number | null
      /** Counts from 0. */
      attempt: number
      delayMs: number
    }
  | { state: 'closed'; reason: ClosedReason; closeCode: number | null }

/** Counters since the connection was made. */
export type Stats = {
  /** Bodies of the service that could not be read. */
  malformed: number
  /** Application envelopes, notifications, chat, party and match events that nobody listened to. */
  unheard: number
  /** Unreliable sends while the connection was not open. */
  unreliableDropped: number
}

/** Events of a connection and what their listeners get. */
export type ConnectionEvents = {
  state: StateEvent
  /** Every application kind. */
  message: Message
  /** Kind 2: the position of another player. */
  position: { participant: number; bytes: Uint8Array }
  notification: NotificationPush
  chat: ChatPush
  party: PartyPush
  /** A match without a Search of this connection. */
  matched: Matched
  notice: Notice
  /** A GuildhallError of the connection, or what a listener has thrown. */
  error: unknown
  /** Every envelope of every kind, before anything else happens; for tools. */
  envelope: Envelope
}

/** A handler that returns null sends nothing, which is read as undefined. */
type ReplyIn<Reply, As extends ReplyForm> = As extends 'text'
  ? string
  : As extends 'bytes'
    ? Uint8Array
    : null extends Reply
      ? Reply | undefined
      : Reply

type Rpcs<G extends GameTypes, M extends string> = G['rpcs'][M]

/** A payload may be left out where it may be undefined, `as` where the reply is JSON. */
type RpcArguments<Payload, Reply, As extends ReplyForm> =
  'json' extends FormOf<Reply>
    ? undefined extends Payload
      ? [payload?: Payload, options?: RpcOptions<As>]
      : [payload: Payload, options?: RpcOptions<As>]
    : [payload: Payload, options: RpcOptions<As> & { as: As }]

export type Send<G extends GameTypes> = {
  /**
   * Sends an envelope of kind 1 or 100..65535. A Uint8Array goes as it is, a string as UTF-8,
   * undefined as nothing, anything else as JSON.
   *
   * @throws GuildhallError `invalid_argument`, `queue_full`, `closed`
   */
  <K extends UpKind<G>>(kind: K, payload: BodyOfKind<G, K, 'up'>, options?: SendOptions): void
  /** A position is of every game. */
  (kind: 1, payload: Uint8Array, options?: SendOptions): void
}

/** A player's place in the game. It survives lost connections until it is `closed`. */
export type Connection<G extends GameTypes = GameTypes> = {
  /** Null for a guest. */
  readonly userId: string | null
  /** The server's number for this player. */
  readonly participant: number
  readonly transport: 'websocket' | 'webtransport'
  readonly state: State
  readonly stats: Readonly<Stats>
  /** Adds a listener; the answer removes it. */
  on<E extends keyof ConnectionEvents>(event: E, call: (value: ConnectionEvents[E]) => unknown): Off
  send: Send<G>
  /**
   * Calls a method of the game's script.
   *
   * @throws GuildhallError `rpc_refused` with the script's text, `timeout`, `aborted`,
   * `connection_lost`, `closed`, `queue_full`, `malformed_reply`
   */
  rpc<
    M extends MethodOf<G>,
    As extends FormOf<Rpcs<G, M>['reply']> = FormOfDefault<Rpcs<G, M>['reply']>,
  >(
    method: M,
    ...rest: RpcArguments<Rpcs<G, M>['payload'], Rpcs<G, M>['reply'], As>
  ): Promise<ReplyIn<Rpcs<G, M>['reply'], As>>
  rooms: RoomCalls<G>
  matchmaker: {
    /** Resolves when the ticket is queued. */
    find(criteria?: TicketCriteria, call?: CallOptions): Promise<Search<G>>
  }
  party: PartyCalls
  /** The server's time in Unix milliseconds; null until it is known. */
  serverNow(): number | null
  /** How far `serverNow` may be off; null until it is known. */
  readonly serverTimeUncertaintyMs: number | null
  /**
   * Gives the present link up and makes a new one at once, without the pause of the next attempt.
   * The server keeps the player's seat as after any loss.
   *
   * @throws GuildhallError `closed` when the connection ends for good instead
   */
  reconnect(): Promise<void>
  /**
   * Ends for good; resolves when the connection is gone.
   *
   * @param code 1000 (default) or 3000 to 4999
   * @param reason At most 123 bytes
   * @throws GuildhallError `invalid_argument`, and then nothing is closed
   */
  close(code?: number, reason?: string): Promise<void>
}

/** Rejections of the three that enter: `room_refused` with the server's text, `timeout`, ... */
export type RoomCalls<G extends GameTypes = GameTypes> = {
  /** Makes a room; null makes one without a name, which is joined by id only. */
  create(name: string | null, options?: RoomOptions, call?: CallOptions): Promise<Room<G>>
  join(id: number, options?: RoomOptions, call?: CallOptions): Promise<Room<G>>
  joinOrCreate(name: string, options?: RoomOptions, call?: CallOptions): Promise<Room<G>>
  /** The rooms that their scripts have listed. */
  list(query?: RoomQuery): Promise<RoomPage>
  /** Resolves when the room has ended for the player; at once outside a room. */
  leave(): Promise<void>
  readonly current: Room<G> | null
}

/** What a script gets as `ctx.options`: at most 1,024 bytes as JSON and 16 levels. */
export type RoomOptions = { [name: string]: unknown }
