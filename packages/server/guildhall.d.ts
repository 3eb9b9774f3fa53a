// biome-ignore-all lint: generated
/**
 * The script interface of Guildhall, generated from packages/contract/src/script by
 * `npm run docs`. With this line at the top of a script, and the path to this file, an editor
 * knows everything:
 *
 *     /// <reference path="../guildhall.d.ts" />
 *
 * Functions raise an `Error` with a `code` at the call that is wrong: `invalid_argument` for
 * a value of the wrong type or out of its bounds, and the codes that stand at each function.
 */
declare const guildhall: Guildhall<any>

/** Bytes of a message or reply. A string stands for its UTF-8 bytes. */
type GuildhallBytes = Uint8Array | string

/** Whatever JSON can say; a bigint is written as an integer. */
type GuildhallJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | GuildhallJson[]
  | { [key: string]: GuildhallJson | undefined }

/** A JSON object: look at what is in it. */
type GuildhallJsonObject = { [key: string]: any }

type GuildhallErrorCode =
  | 'invalid_argument'
  | 'not_found'
  | 'conflict'
  | 'forbidden'
  | 'unavailable'
  | 'timeout'
  | 'limit_exceeded'
  | 'http_error'
  | 'internal'

type GuildhallContext = {
  sender: number
  user_id: string | null
  username: string | null
  room_id: number | null
  match_id: string | null
  origin: 'player' | 'console' | 'server'
}

type GuildhallSession = {
  participant: number
  user_id: string | null
  username: string | null
  room_id: number | null
}

type GuildhallRoom = {
  room_id: number
  match_id: string
  name: string | null
  map: string
  mode: string
  max_players: number
  open: boolean
  tick: boolean
  listed: boolean
  properties: GuildhallJsonObject
  players: number
}

type GuildhallRoomMember = {
  participant: number
  user_id: string | null
  username: string | null
  connected: boolean
}

type GuildhallLabel = {
  map?: string
  mode?: string
  max_players?: number
  open?: boolean
  tick?: boolean
  listed?: boolean
  properties?: GuildhallJsonObject
}

type GuildhallObject = {
  value: GuildhallJsonObject
  version: string
  read_permission: number
  write_permission: number
}

type GuildhallObjectRow = {
  user_id: string | null
  collection: string
  key: string
  value: GuildhallJsonObject
  version: string
  read_permission: number
  write_permission: number
}

type GuildhallRange = {
  gte?: string | number | bigint
  gt?: string | number | bigint
  lte?: string | number | bigint
  lt?: string | number | bigint
}

type GuildhallLedgerEntry = {
  seq: number
  user_id: string
  currency: string
  delta: bigint
  balance_after: bigint
  reason: string
  time_unix_ms: number
}

type GuildhallLeaderboard = {
  id: string
  sort: 'asc' | 'desc'
  operator: 'best' | 'set' | 'incr'
  reset_schedule: string | null
  records: number
}

type GuildhallRecord = {
  user_id: string
  score: bigint
  subscore: bigint
  metadata: GuildhallJsonObject | null
  updated_at_unix_ms: number
  submissions: number
}

type GuildhallRankedRecord = {
  rank: number
  user_id: string
  score: bigint
  subscore: bigint
  metadata: GuildhallJsonObject | null
  updated_at_unix_ms: number
  submissions: number
}

type GuildhallTournament = {
  id: string
  leaderboard_id: string
  state: 'draft' | 'registration_open' | 'running' | 'finalizing' | 'completed' | 'cancelled'
  registration_opens_at_unix_ms: number
  registration_closes_at_unix_ms: number
  starts_at_unix_ms: number
  ends_at_unix_ms: number
  settled_epoch_due_at_unix_ms: number | null
  created_at_unix_ms: number
  updated_at_unix_ms: number
}

type GuildhallTournamentEntry = { tournament_id: string; user_id: string; registered_at: number }

type GuildhallTournamentResult = {
  tournament_id: string
  user_id: string
  rank: number
  score: bigint
  subscore: bigint
}

type GuildhallGroup = {
  id: number
  name: string
  description: string
  open: boolean
  max_size: number
  member_count: number
  created_at_unix_ms: number
  members: { user_id: string; role: 'member' | 'admin' | 'superadmin'; joined_at_unix_ms: number }[]
}

type GuildhallGroupSummary = {
  id: number
  name: string
  description: string
  open: boolean
  max_size: number
  member_count: number
  created_at_unix_ms: number
}

type GuildhallFriend = {
  user_id: string
  state: 'invited_sent' | 'invited_received' | 'friend' | 'blocked'
  updated_unix_ms: number
}

type GuildhallChatMessage = {
  id: number
  sender: string
  content: string
  created_at_unix_ms: number
  updated_at_unix_ms: number
  revision: number
  last_event_id: number
  deleted: boolean
}

type GuildhallChatEvent = {
  type:
    | 'message.create'
    | 'message.update'
    | 'message.remove'
    | 'presence.join'
    | 'presence.leave'
    | 'typing'
    | 'access.revoked'
    | 'resync_required'
  channel_id: string
  message?: GuildhallChatMessage | null
  presence?: { presence_id: string; user_id: string } | null
  expires_at?: number | null
  watermark_event_id?: number | null
}

type GuildhallNotification = {
  id: number
  user_id: string | null
  subject: string
  content: GuildhallJsonObject
  code: number
  created_at_unix_ms: number
  read: boolean
  read_at_unix_ms: number | null
}

type GuildhallAccount = {
  user_id: string
  username: string
  display_name: string | null
  state: 'active' | 'disabled' | 'tombstoned'
  metadata: GuildhallJsonObject | null
  created_at_unix_ms: number
  updated_at_unix_ms: number
}

type GuildhallOp =
  | {
      op: 'wallet'
      user_id: string
      currency: string
      delta: bigint | number
      reason?: string | null
    }
  | {
      op: 'write'
      owner: string | null
      collection: string
      key: string
      value: GuildhallJsonObject
      version?: string | null
      read_permission?: number | null
      write_permission?: number | null
    }
  | { op: 'delete'; owner: string | null; collection: string; key: string; version?: string | null }
  | {
      op: 'notify'
      user_id?: string | null
      subject: string
      content?: GuildhallJsonObject
      code?: number | null
      push?: boolean | null
    }

/** What a handler may return when its result is not looked at. */
type GuildhallDone = void | Promise<void>

type GuildhallAnswer<T> = T | void | Promise<T | void>

/**
 * The types of one game, as its clients have them: `const game: Guildhall<MyGame> = guildhall`.
 * With `as` in its place the compiler would not see that `game.fail` never returns.
 */
type GuildhallGame = {
  rpcs: { [method: string]: { payload: any; reply: any } }
  kinds: { [kind: number]: { up?: any; down?: any } }
  /** By the name of their definition: what members see, and each of them alone. */
  rooms?: { [definition: string]: { state: any; own?: any } }
  /** By the code that `fail` gives: the data that it gives with it. */
  refusals?: { [code: string]: any }
}

/** Bytes that `json.decode` makes a T of. */
type GuildhallBody<T> = Uint8Array & { readonly __json?: T }

/** The kinds of a game in one direction; without types of its own, every kind. */
type GuildhallKindWith<
  G extends GuildhallGame,
  D extends 'up' | 'down',
> = number extends keyof G['kinds']
  ? number
  : {
      [K in keyof G['kinds'] & number]: D extends keyof G['kinds'][K] ? K : never
    }[keyof G['kinds'] & number]

type GuildhallOf<G extends GuildhallGame, K, D> = K extends keyof G['kinds']
  ? D extends keyof G['kinds'][K]
    ? G['kinds'][K][D]
    : unknown
  : unknown

/** Code and data of a failure, by those of the game; without types of its own, any. */
type GuildhallFailure<G extends GuildhallGame> = G extends { refusals: infer R }
  ? { [C in keyof R & string]: { code: C; data: R[C] } }[keyof R & string]
  : { code?: string; data?: GuildhallJson }

/** What operations answer, each in its place. */
type GuildhallResults<O extends readonly GuildhallOp[]> = {
  -readonly [N in keyof O]: GuildhallResult<O[N]>
}

type GuildhallResult<O extends GuildhallOp> = O extends { op: 'wallet' }
  ? { balance: bigint; seq: number }
  : O extends { op: 'write' }
    ? { version: string }
    : O extends { op: 'delete' }
      ? { removed: boolean }
      : { id: number }

type GuildhallReply = GuildhallBytes | GuildhallJson | undefined

type GuildhallReplyOf<T> = T | GuildhallBytes | void | Promise<T | GuildhallBytes | void>

type GuildhallPlainMember = {
  readonly participant: number
  readonly user_id: string | null
  readonly username: string | null
}

/** The definitions of a game; without types of its own, every name. */
type GuildhallRoomName<G extends GuildhallGame> = G extends { rooms: infer R }
  ? keyof R & string
  : string

type GuildhallRoomPart<G extends GuildhallGame, N, D extends 'state' | 'own'> = G extends {
  rooms: infer R
}
  ? N extends keyof R
    ? D extends keyof R[N]
      ? GuildhallReadonly<R[N][D]>
      : undefined
    : unknown
  : unknown

type GuildhallReadonly<T> = T extends object
  ? { readonly [N in keyof T]: GuildhallReadonly<T[N]> }
  : T

/** A state that is not what members see needs a view. */
type GuildhallRoomView<G extends GuildhallGame, N, S> = [S] extends [
  GuildhallRoomPart<G, N, 'state'>,
]
  ? unknown
  : { view: unknown }

/** A room with state, as its handlers have it. A handler that throws leaves `state` as it was. */
type GuildhallStateRoom<S, G extends GuildhallGame = any> = {
  readonly room_id: number
  readonly match_id: string
  readonly name: string | null
  /** A JSON value of at most 256 KiB. */
  state: S
  get label(): Required<GuildhallLabel>
  set label(label: GuildhallLabel)
  readonly members: readonly GuildhallPlainMember[]
  /** To the members; with `after_state` behind the next state that they are sent. */
  broadcast<K extends GuildhallKindWith<G, 'down'>>(
    kind: K,
    body: GuildhallBody<GuildhallOf<G, K, 'down'>> | string,
    options?: { unreliable?: boolean; except?: number[]; after_state?: boolean },
  ): void
  send<K extends GuildhallKindWith<G, 'down'>>(
    participant: number,
    kind: K,
    body: GuildhallBody<GuildhallOf<G, K, 'down'>> | string,
    options?: { unreliable?: boolean; after_state?: boolean },
  ): void
  /** Runs once, among the handlers of the room; at most 16 of a room wait. */
  after(delay_ms: number, fn: () => GuildhallDone): number
}

type GuildhallRoomDefinition<G extends GuildhallGame, N, S> = {
  /** Ticks a second, 0 to 120; 0 by default. */
  tick_hz?: number
  /** States a second at most, 1 to 60; 20 by default. */
  sync_hz?: number
  /** Makes the state of a new room, or the pair of state and label. */
  create(
    ctx: GuildhallContext & { name: string | null; options: GuildhallJsonObject },
    options: GuildhallJsonObject,
  ): S | { state: S; label: GuildhallLabel } | Promise<S | { state: S; label: GuildhallLabel }>
  /** Instead of `create` after a restart or reload; by default the state as it was. */
  restore?(state: any, room: GuildhallStateRoom<S, G>): S | Promise<S>
  /** true, or the text of the refusal. */
  admit?(
    ctx: GuildhallContext & { options: GuildhallJsonObject },
    room: GuildhallStateRoom<S, G>,
  ): boolean | string | Promise<boolean | string>
  join?(
    ctx: GuildhallContext & { properties: GuildhallJsonObject | null },
    room: GuildhallStateRoom<S, G>,
  ): GuildhallDone
  leave?(ctx: GuildhallContext, room: GuildhallStateRoom<S, G>): GuildhallDone
  drop?(ctx: GuildhallContext, room: GuildhallStateRoom<S, G>): GuildhallDone
  return?(ctx: GuildhallContext, room: GuildhallStateRoom<S, G>): GuildhallDone
  message?: {
    [K in GuildhallKindWith<G, 'up'> | 1]?: (
      ctx: GuildhallContext & { kind: number; unreliable: boolean },
      body: GuildhallBody<GuildhallOf<G, K, 'up'>>,
      room: GuildhallStateRoom<S, G>,
    ) => GuildhallDone
  }
  /** Before the methods of `on_rpc`, for members of such rooms. */
  rpc?: {
    [M in keyof G['rpcs'] & string]?: (
      ctx: GuildhallContext & { method: string },
      body: GuildhallBody<G['rpcs'][M]['payload']>,
      room: GuildhallStateRoom<S, G>,
    ) => GuildhallReplyOf<G['rpcs'][M]['reply']>
  }
  tick?(dt: number, room: GuildhallStateRoom<S, G>): GuildhallDone
  /** What all members see; without it the state. Changes nothing. */
  view?(state: S): GuildhallRoomPart<G, N, 'state'>
  /** What one member sees besides; needs `view`. Changes nothing. */
  own?(state: S, member: GuildhallPlainMember): GuildhallRoomPart<G, N, 'own'>
  /** Numbers, or those under these names, are sent with so many decimals, 0 to 6. */
  decimals?: number | { [name: string]: number }
  /** The state notes writes: a hint for large states that change little. */
  track?: boolean
  /** The result of the match. */
  ended?(
    room: GuildhallStateRoom<S, G>,
  ): GuildhallJsonObject | void | Promise<GuildhallJsonObject | void>
}

interface Guildhall<G extends GuildhallGame = GuildhallGame> {
  /** The name of this node. */
  readonly node_id: string

  /** `sha256:` and 64 hex digits: the content of the script. */
  readonly revision_id: string

  /** Grows by 1 with every start of the script on this node. */
  readonly generation: number

  readonly tier: 'trusted' | 'sandboxed'

  /**
   * Runs first in a fresh worker; calls wait until it has settled, its timers do not.
   *
   * @example
   * guildhall.on_start(({ reason }) => guildhall.trace('started: ' + reason))
   */
  on_start(
    fn: (start: {
      reason: 'boot' | 'reload' | 'restart' | 'rollback'
      state: GuildhallJson
    }) => GuildhallDone,
  ): void

  /**
   * Runs last, before another revision takes over or the node stops; returns the state.
   *
   * @example
   * guildhall.on_unload(() => ({ scores: [...scores] }))
   * guildhall.on_start(({ state }) => state && restore(state))
   */
  on_unload(fn: (unload: { reason: 'reload' | 'stop' }) => GuildhallAnswer<GuildhallJson>): void

  /**
   * Runs when a player or guest has connected; its messages and RPCs wait for it.
   */
  on_join(fn: (ctx: GuildhallContext) => GuildhallDone): void

  /**
   * Runs when a participant is gone, after its last message, before it leaves its room.
   */
  on_leave(fn: (ctx: GuildhallContext) => GuildhallDone): void

  /**
   * Handles messages of one kind: 100 to 65535, or 1 in place of the position relay.
   *
   * @example
   * guildhall.on_message(100, (ctx, body) => guildhall.broadcast(100, body))
   */
  on_message<K extends GuildhallKindWith<G, 'up'> | 1>(
    kind: K,
    fn: (
      ctx: GuildhallContext & { kind: number; unreliable: boolean },
      body: GuildhallBody<GuildhallOf<G, K, 'up'>>,
    ) => GuildhallDone,
  ): void

  /**
   * Answers an RPC with bytes, text, nothing or a JSON value, at most 64 KiB.
   *
   * @example
   * guildhall.on_rpc('ping', () => 'pong')
   */
  on_rpc<M extends keyof G['rpcs'] & string>(
    method: M,
    fn: (
      ctx: GuildhallContext & { method: string },
      body: GuildhallBody<G['rpcs'][M]['payload']>,
    ) => GuildhallReplyOf<G['rpcs'][M]['reply']>,
  ): void

  /**
   * Runs runtime.tick_hz times a second: without a room, then in each room with tick.
   */
  on_tick(fn: (dt: number, room_id: number | null) => GuildhallDone): void

  /**
   * Runs at least once after a board was reset, on one node; again later when it throws.
   */
  on_leaderboard_reset(
    fn: (reset: {
      leaderboard_id: string
      due_at_unix_ms: number
      fencing_token: number
    }) => GuildhallDone,
  ): void

  /**
   * Runs at least once after a tournament has results: the place for rewards.
   *
   * @example
   * guildhall.on_tournament_completed(async ({ tournament_id }) => {
   *   const [winner] = await guildhall.tournaments.results(tournament_id)
   * })
   */
  on_tournament_completed(
    fn: (completed: {
      tournament_id: string
      leaderboard_id: string
      results_total: number
    }) => GuildhallDone,
  ): void

  /**
   * Runs a function at the times of a cron expression in UTC, on one node of the deployment.
   *
   * @example
   * guildhall.schedule('cup', '0 18 * * fri', async ({ due_at_unix_ms }) => {
   *   await openCup(due_at_unix_ms)
   * })
   */
  schedule(
    name: string,
    cron: string,
    fn: (run: { name: string; due_at_unix_ms: number; fencing_token: number }) => GuildhallDone,
  ): void

  /**
   * Runs when the connection of a participant with a seat is lost, and its seat is kept.
   */
  on_drop(
    fn: (ctx: {
      sender: number
      user_id: string | null
      username: string | null
      room_id: number | null
      match_id: string | null
      origin: 'player' | 'console' | 'server'
      grace_ms: number
      away_ms: number
    }) => GuildhallDone,
  ): void

  /**
   * Runs when a dropped participant is back; its messages and RPCs wait for it.
   */
  on_return(
    fn: (ctx: {
      sender: number
      user_id: string | null
      username: string | null
      room_id: number | null
      match_id: string | null
      origin: 'player' | 'console' | 'server'
      grace_ms: number
      away_ms: number
    }) => GuildhallDone,
  ): void

  /**
   * Decides on a room that a client makes: its label, or a refusal.
   */
  on_room_create(
    fn: (
      ctx: {
        sender: number
        user_id: string | null
        username: string | null
        room_id: number | null
        match_id: string | null
        origin: 'player' | 'console' | 'server'
        options: GuildhallJsonObject
      },
      name: string | null,
    ) => GuildhallAnswer<null | undefined | string | GuildhallLabel | false | { refuse: string }>,
  ): void

  /**
   * Decides whether a participant may join a room by id or name.
   */
  on_room_join(
    fn: (
      ctx: {
        sender: number
        user_id: string | null
        username: string | null
        room_id: number | null
        match_id: string | null
        origin: 'player' | 'console' | 'server'
        options: GuildhallJsonObject
      },
      room: GuildhallRoom,
    ) => GuildhallAnswer<null | undefined | boolean | string>,
  ): void

  /**
   * Decides on a ticket before it waits: as it was asked for, changed, or refused.
   *
   * @example
   * guildhall.on_matchmaker_add(async (ctx, { properties }) => {
   *   const entry = await guildhall.leaderboards.get('ratings', ctx.user_id)
   *   return { properties: { ...properties, rating: Number(entry?.score ?? 1000n) } }
   * })
   */
  on_matchmaker_add(
    fn: (
      ctx: GuildhallContext,
      request: {
        query: string
        wide_query: string
        properties: { [name: string]: string | number | bigint }
        min_count: number
        max_count: number
        count_multiple: number
        ttl_ms: number
        backfill: boolean
        party_id: string | null
        user_ids: (string | null)[]
      },
    ) => GuildhallAnswer<
      | null
      | undefined
      | { refuse: string }
      | {
          query?: string
          wide_query?: string
          properties?: { [name: string]: string | number | bigint }
          min_count?: number
          max_count?: number
          count_multiple?: number
          ttl_ms?: number
          backfill?: boolean
          party_id?: string | null
          user_ids?: (string | null)[]
        }
    >,
  ): void

  /**
   * Labels the room of a match that the matchmaker has made; it cannot refuse.
   */
  on_matchmaker_matched(
    fn: (match: {
      room_id: number
      members: { user_id: string | null; participant: number; properties: GuildhallJsonObject }[]
    }) => GuildhallAnswer<null | undefined | string | GuildhallLabel>,
  ): void

  /**
   * Runs when a room has been made.
   */
  on_match_created(
    fn: (ctx: {
      room_id: number
      match_id: string
      name: string | null
      map: string
      mode: string
      max_players: number
      open: boolean
      participants: number
    }) => GuildhallDone,
  ): void

  /**
   * Runs when the first participant has entered a room.
   */
  on_match_started(
    fn: (ctx: {
      room_id: number
      match_id: string
      name: string | null
      map: string
      mode: string
      max_players: number
      open: boolean
      participants: number
    }) => GuildhallDone,
  ): void

  /**
   * Runs when a participant has entered a room.
   */
  on_match_join(
    fn: (ctx: {
      room_id: number
      match_id: string
      name: string | null
      map: string
      mode: string
      max_players: number
      open: boolean
      participants: number
      participant: number
      user_id: string | null
      properties: GuildhallJsonObject | null
    }) => GuildhallDone,
  ): void

  /**
   * Runs when a participant has left a room.
   */
  on_match_leave(
    fn: (ctx: {
      room_id: number
      match_id: string
      name: string | null
      map: string
      mode: string
      max_players: number
      open: boolean
      participants: number
      participant: number
      user_id: string | null
    }) => GuildhallDone,
  ): void

  /**
   * Runs when a room has ended; a result that it sets still counts.
   */
  on_match_ended(
    fn: (ctx: {
      room_id: number
      match_id: string
      name: string | null
      map: string
      mode: string
      max_players: number
      open: boolean
      participants: number
      termination_reason: string
    }) => GuildhallDone,
  ): void

  /**
   * Decides, at once, whether an object of a storage index is indexed.
   *
   * @example
   * guildhall.register_storage_index_filter('by_level', ({ value }) => value.level > 10)
   */
  register_storage_index_filter(
    index: string,
    fn: (candidate: {
      user_id: string | null
      collection: string
      key: string
      value: GuildhallJsonObject
    }) => boolean,
  ): void

  /**
   * Defines rooms with state, by the name that their labels have as mode. The script keeps the
   * state; members follow it, or what `view` makes of it and what `own` adds for one of them.
   * What they see is of the types that `rooms` of the game has under that name.
   *
   * @example
   * guildhall.room('arena', {
   *   tick_hz: 20,
   *   decimals: 2,
   *   create: () => ({ players: {} }),
   *   join: (ctx, room) => void (room.state.players[ctx.sender] = { x: 0 }),
   *   leave: (ctx, room) => void delete room.state.players[ctx.sender],
   *   message: { 100: (ctx, body, room) => void (room.state.players[ctx.sender].x += 1) },
   * })
   */
  room<S = any, N extends GuildhallRoomName<G> = GuildhallRoomName<G>>(
    name: N,
    definition: GuildhallRoomDefinition<G, N, S> & GuildhallRoomView<G, N, S>,
  ): void

  /**
   * Sends to the sender's room but the sender; without a room, to all of this node.
   * Raises `limit_exceeded`.
   *
   * @example
   * guildhall.broadcast(100, 'the gate is open', false, { scope: 'all' })
   */
  broadcast<K extends GuildhallKindWith<G, 'down'> | 2>(
    kind: K,
    body: GuildhallBody<GuildhallOf<G, K, 'down'>> | string,
    unreliable?: boolean,
    options?: { scope?: 'room' | 'all'; room_id?: number; topic?: string; except?: number[] },
  ): void

  /**
   * Sends to one participant of this node; an id that nobody has is no error.
   * Raises `limit_exceeded`.
   *
   * @example
   * for (const member of party) guildhall.send(member, 101, state)
   */
  send<K extends GuildhallKindWith<G, 'down'> | 2>(
    session: number,
    kind: K,
    body: GuildhallBody<GuildhallOf<G, K, 'down'>> | string,
    unreliable?: boolean,
  ): void

  /**
   * The connections of this node.
   * Suspends the handler: other handlers run until it goes on.
   */
  session_list(): Promise<GuildhallSession[]>

  /**
   * Those of the accounts that are connected to this node now, in the order given.
   * Suspends the handler: other handlers run until it goes on.
   */
  online(user_ids: string[]): Promise<string[]>

  /**
   * Puts a participant into a topic; an unknown one is no error.
   * Takes effect when the slice ends.
   * Raises `limit_exceeded`.
   *
   * @example
   * guildhall.topic_join('lobby', ctx.sender)
   */
  topic_join(topic: string, participant: number): void

  /**
   * Takes a participant out of a topic.
   * Takes effect when the slice ends.
   * Raises `limit_exceeded`.
   */
  topic_leave(topic: string, participant: number): void

  /**
   * The rooms of this node.
   * Suspends the handler: other handlers run until it goes on.
   */
  room_list(): Promise<GuildhallRoom[]>

  /**
   * Who is in a room of this node; of an unknown room nobody.
   * Suspends the handler: other handlers run until it goes on.
   */
  room_members(room_id: number): Promise<GuildhallRoomMember[]>

  /**
   * Changes the label of a room; members that are not given stay.
   * Takes effect when the slice ends.
   * Raises `limit_exceeded`.
   *
   * @example
   * guildhall.room_update(ctx.room_id, { open: false })
   */
  room_update(room_id: number, label: GuildhallLabel): void

  /**
   * Takes a participant out of a room; the last one ends the room.
   * Takes effect when the slice ends.
   * Raises `limit_exceeded`.
   */
  room_remove(room_id: number, participant: number): void

  /**
   * Runs a function once after a time, without sender and room; timers end with the worker.
   * Raises `limit_exceeded`.
   */
  after(delay_ms: number, fn: () => GuildhallDone): number

  /**
   * Runs a function each interval; a run is skipped while the one before has not settled.
   * Raises `limit_exceeded`.
   */
  every(interval_ms: number, fn: () => GuildhallDone): number

  /**
   * Waits; other handlers run meanwhile. The time of the whole call still holds.
   * Suspends the handler: other handlers run until it goes on.
   *
   * @example
   * await guildhall.sleep(500)
   */
  sleep(ms: number): Promise<void>

  /**
   * Stops a timer; false if there is none (any more).
   */
  cancel(timer: number): boolean

  /**
   * Wall time of the node in Unix milliseconds.
   */
  now_ms(): number

  /**
   * Takes one of the tokens of a key, which come back evenly over the window; false if none.
   *
   * @example
   * if (!guildhall.allow('emote:' + ctx.sender, 5, 10_000)) return
   */
  allow(key: string, limit: number, window_ms: number): boolean

  /**
   * Ends an RPC handler with an error text of 1 to 256 bytes for the client, and a code and data of at most 4 KiB of JSON for its program. In a hook that answers nothing it drops what the slice has done.
   *
   * @example
   * if (gold < price) guildhall.fail('not enough gold')
   * guildhall.fail('not enough gold', { code: 'gold', data: { missing: price - gold } })
   */
  fail(text: string, options?: GuildhallFailure<G>): never

  /**
   * Writes a line to the node's own log at once, at most 100 a second and 4,096 characters.
   */
  trace(message: string, level?: 'trace' | 'debug' | 'info' | 'warn' | 'error'): void

  /**
   * An integer from 0 to 2^64 - 1 as 8 bytes, the highest first.
   */
  pack_u64(n: number | bigint): Uint8Array

  /**
   * One stored object, or null.
   * Suspends the handler: other handlers run until it goes on.
   *
   * @example
   * const save = await guildhall.storage_read(ctx.user_id, 'saves', 'slot')
   */
  storage_read(
    owner: string | null,
    collection: string,
    key: string,
    options: { as?: string | null; raw: true },
  ): Promise<GuildhallBody<GuildhallObject | null>>
  storage_read(
    owner: string | null,
    collection: string,
    key: string,
    options?: { as?: string | null; raw?: false | null },
  ): Promise<GuildhallObject | null>

  /**
   * Stores an object whole; with a version only in place of that one, "" only creates.
   * Suspends the handler: other handlers run until it goes on.
   * Raises `conflict`, `forbidden`.
   *
   * @example
   * await guildhall.storage_write(ctx.user_id, 'saves', 'slot', { level: 3 })
   */
  storage_write(
    owner: string | null,
    collection: string,
    key: string,
    value: GuildhallJsonObject,
    options?: {
      version?: string | null
      read_permission?: number | null
      write_permission?: number | null
      as?: string | null
    },
  ): Promise<{ version: string }>

  /**
   * Removes an object; false if there was none.
   * Suspends the handler: other handlers run until it goes on.
   * Raises `conflict`, `forbidden`.
   */
  storage_delete(
    owner: string | null,
    collection: string,
    key: string,
    options?: { version?: string | null; as?: string | null },
  ): Promise<boolean>

  /**
   * A page of the objects of one owner in a collection, by key.
   * Suspends the handler: other handlers run until it goes on.
   *
   * @example
   * const { items, next } = await guildhall.storage_list(ctx.user_id, 'saves', { prefix: 'a' })
   */
  storage_list(
    owner: string | null,
    collection: string,
    options: {
      prefix?: string | null
      after?: string | null
      limit?: number | null
      as?: string | null
      raw: true
    },
  ): Promise<GuildhallBody<{ items: GuildhallObjectRow[]; next: string | null }>>
  storage_list(
    owner: string | null,
    collection: string,
    options?: {
      prefix?: string | null
      after?: string | null
      limit?: number | null
      as?: string | null
      raw?: false | null
    },
  ): Promise<{ items: GuildhallObjectRow[]; next: string | null }>

  /**
   * A page of the objects of an index whose fields fit all the filters.
   * Suspends the handler: other handlers run until it goes on.
   * Raises `not_found`, `unavailable`.
   *
   * @example
   * await guildhall.storage_index_query('by_level', { hero: 'owl', level: { gte: 10 } },
   *   { order: '-level' })
   */
  storage_index_query(
    index: string,
    filters: { [field: string]: string | number | bigint | boolean | GuildhallRange },
    options: {
      limit?: number | null
      after?: string | null
      order?: string | null
      as?: string | null
      raw: true
    },
  ): Promise<GuildhallBody<{ items: GuildhallObjectRow[]; next: string | null }>>
  storage_index_query(
    index: string,
    filters: { [field: string]: string | number | bigint | boolean | GuildhallRange },
    options?: {
      limit?: number | null
      after?: string | null
      order?: string | null
      as?: string | null
      raw?: false | null
    },
  ): Promise<{ items: GuildhallObjectRow[]; next: string | null }>

  /**
   * Up to 100 writes and deletes, values of at most 4 MiB in all: all of them or none.
   * Suspends the handler: other handlers run until it goes on.
   * Raises `conflict`, `forbidden`.
   */
  storage_write_many<const O extends readonly Extract<GuildhallOp, { op: 'write' | 'delete' }>[]>(
    ops: O,
    options?: { as?: string | null },
  ): Promise<GuildhallResults<O>>

  /**
   * Up to 64 operations in one transaction: all of them or none, in their order.
   * Suspends the handler: other handlers run until it goes on.
   * Raises `not_found`, `conflict`, `forbidden`, `unavailable`.
   *
   * @example
   * await guildhall.transact([
   *   { op: 'wallet', user_id, currency: 'gold', delta: -5 },
   *   { op: 'write', owner: user_id, collection: 'bag', key: 'sword', value: { level: 1 } },
   * ])
   */
  transact<const O extends readonly GuildhallOp[]>(
    ops: O,
    options?: { idempotency_key?: string | null; as?: string | null },
  ): Promise<{ replayed: boolean; results: GuildhallResults<O> }>

  readonly json: {
    /**
     * A value as JSON in UTF-8 without white space; a bigint becomes a JSON integer.
     */
    encode<T>(value: T): GuildhallBody<T>

    /**
     * The value of a JSON text of at most 64 levels; integers beyond 2^53 are bigint.
     */
    decode<T = GuildhallJson>(body: GuildhallBody<T> | string): T
  }

  readonly matchmaker: {
    /**
     * Offers free seats of a running room to waiting tickets, and returns the id of the offer.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`, `unavailable`.
     */
    backfill(
      room_id: number,
      seats: number,
      properties?: { [name: string]: string | number },
      options?: { query?: string | null; ttl_ms?: number | null },
    ): Promise<string>

    /**
     * Ends an offer; tokens that were given stay valid. False if there is none.
     * Suspends the handler: other handlers run until it goes on.
     */
    backfill_cancel(ticket_id: string): Promise<boolean>

    /**
     * The seats left of an offer and the tokens not yet used, or null.
     * Suspends the handler: other handlers run until it goes on.
     */
    backfill_status(ticket_id: string): Promise<{ seats: number; waiting: number } | null>
  }

  readonly wallet: {
    /**
     * The balances of an account by currency.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    get(user_id: string): Promise<{ [name: string]: bigint }>

    /**
     * Adds to or takes from a balance; never below zero.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     *
     * @example
     * await guildhall.wallet.adjust(ctx.user_id, 'gold', -5, { reason: 'sword' })
     */
    adjust(
      user_id: string,
      currency: string,
      delta: bigint | number,
      options?: { reason?: string | null; idempotency_key?: string | null },
    ): Promise<{ balance: bigint; seq: number; replayed: boolean }>

    /**
     * The bookings of an account, newest first; `before` compares seq.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    ledger(
      user_id: string,
      options: { limit?: number | null; offset?: number | null; before?: number | null; raw: true },
    ): Promise<GuildhallBody<GuildhallLedgerEntry[]>>
    ledger(
      user_id: string,
      options?: {
        limit?: number | null
        offset?: number | null
        before?: number | null
        raw?: false | null
      },
    ): Promise<GuildhallLedgerEntry[]>

    /**
     * Moves an amount of one currency from one account to another, all or nothing.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`, `unavailable`.
     */
    transfer(
      from: string,
      to: string,
      currency: string,
      amount: bigint | number,
      options?: { reason?: string | null; idempotency_key?: string | null },
    ): Promise<{
      from: { balance: bigint; seq: number }
      to: { balance: bigint; seq: number }
      replayed: boolean
    }>
  }

  readonly leaderboards: {
    /**
     * All boards by id.
     * Suspends the handler: other handlers run until it goes on.
     */
    list(options: { raw: true }): Promise<GuildhallBody<GuildhallLeaderboard[]>>
    list(options?: { raw?: false | null }): Promise<GuildhallLeaderboard[]>

    /**
     * Opens a board; the best score counts by default. Resets need execute_reset_schedules.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `conflict`.
     */
    create(board: {
      id: string
      sort?: 'asc' | 'desc' | null
      operator?: 'best' | 'set' | 'incr' | null
      reset_schedule?: string | null
    }): Promise<GuildhallLeaderboard>

    /**
     * Ends a board and all its records; false if there was none. Its tournaments stay.
     * Suspends the handler: other handlers run until it goes on.
     */
    delete(board: string): Promise<boolean>

    /**
     * Submits a score under the rule of the board, and returns the record that counts now.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     *
     * @example
     * await guildhall.leaderboards.submit('weekly', ctx.user_id, 1200)
     */
    submit(
      board: string,
      user_id: string,
      score: bigint | number,
      options?: { subscore?: bigint | number; metadata?: GuildhallJsonObject | null },
    ): Promise<GuildhallRecord>

    /**
     * The record of a user with its rank, or null.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    get(
      board: string,
      user_id: string,
      options: { raw: true },
    ): Promise<GuildhallBody<GuildhallRankedRecord | null>>
    get(
      board: string,
      user_id: string,
      options?: { raw?: false | null },
    ): Promise<GuildhallRankedRecord | null>

    /**
     * Records by rank; total is the number of all.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     *
     * @example
     * guildhall.on_rpc('top', () =>
     *   guildhall.leaderboards.records('weekly', { limit: 100, raw: true }))
     */
    records(
      board: string,
      options: { limit?: number | null; offset?: number | null; raw: true },
    ): Promise<GuildhallBody<{ total: number; items: GuildhallRankedRecord[] }>>
    records(
      board: string,
      options?: { limit?: number | null; offset?: number | null; raw?: false | null },
    ): Promise<{ total: number; items: GuildhallRankedRecord[] }>

    /**
     * Removes a user's record; false if there was none.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    remove(board: string, user_id: string): Promise<boolean>

    /**
     * A user's record between those that rank right before and after it.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    around(
      board: string,
      user_id: string,
      before: number,
      after: number,
      options: { raw: true },
    ): Promise<GuildhallBody<GuildhallRankedRecord[]>>
    around(
      board: string,
      user_id: string,
      before: number,
      after: number,
      options?: { raw?: false | null },
    ): Promise<GuildhallRankedRecord[]>

    /**
     * The records of up to 100 users by rank; users without one are left out.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    of_users(
      board: string,
      user_ids: string[],
      options: { raw: true },
    ): Promise<GuildhallBody<GuildhallRankedRecord[]>>
    of_users(
      board: string,
      user_ids: string[],
      options?: { raw?: false | null },
    ): Promise<GuildhallRankedRecord[]>
  }

  readonly tournaments: {
    /**
     * All tournaments by start time, then id.
     * Suspends the handler: other handlers run until it goes on.
     */
    list(): Promise<GuildhallTournament[]>

    /**
     * One tournament, or null.
     * Suspends the handler: other handlers run until it goes on.
     */
    get(id: string): Promise<GuildhallTournament | null>

    /**
     * Drafts a tournament; its board need not exist yet.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `conflict`.
     *
     * @example
     * await guildhall.tournaments.create({ id: 'cup', leaderboard_id: 'weekly', ...times })
     * await guildhall.tournaments.transition('cup', 'registration_open')
     */
    create(definition: {
      id: string
      leaderboard_id: string
      registration_opens_at_unix_ms: number
      registration_closes_at_unix_ms: number
      starts_at_unix_ms: number
      ends_at_unix_ms: number
    }): Promise<GuildhallTournament>

    /**
     * Opens the registration, starts or cancels a tournament, under the rules of operators.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    transition(
      id: string,
      to: 'draft' | 'registration_open' | 'running' | 'finalizing' | 'completed' | 'cancelled',
    ): Promise<GuildhallTournament>

    /**
     * Registers an active account while registration is open; a repeat changes nothing.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     *
     * @example
     * await guildhall.tournaments.register('cup', ctx.user_id)
     */
    register(id: string, user_id: string): Promise<GuildhallTournamentEntry>

    /**
     * Who is registered, by the time of registering.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    entries(id: string): Promise<GuildhallTournamentEntry[]>

    /**
     * The final ranking by rank; empty before the settlement.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    results(id: string): Promise<GuildhallTournamentResult[]>
  }

  readonly groups: {
    /**
     * Founds a group; the creator becomes its superadmin.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `conflict`.
     */
    create(group: {
      name: string
      creator_user_id: string
      description?: string | null
      open?: boolean | null
      max_size?: number | null
    }): Promise<GuildhallGroup>

    /**
     * Groups by id; the filter is a substring of the name.
     * Suspends the handler: other handlers run until it goes on.
     */
    list(options: {
      filter?: string | null
      limit?: number | null
      offset?: number | null
      raw: true
    }): Promise<GuildhallBody<{ items: GuildhallGroupSummary[]; total: number }>>
    list(options?: {
      filter?: string | null
      limit?: number | null
      offset?: number | null
      raw?: false | null
    }): Promise<{ items: GuildhallGroupSummary[]; total: number }>

    /**
     * One group with its members, or null.
     * Suspends the handler: other handlers run until it goes on.
     */
    get(id: number): Promise<GuildhallGroup | null>

    /**
     * The groups of a user.
     * Suspends the handler: other handlers run until it goes on.
     */
    of_user(user_id: string): Promise<GuildhallGroupSummary[]>

    /**
     * Changes description, open flag or size; the name stays.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    update(
      id: number,
      patch: { description?: string | null; open?: boolean | null; max_size?: number | null },
    ): Promise<GuildhallGroup>

    /**
     * Ends a group and its memberships; false if there is none.
     * Suspends the handler: other handlers run until it goes on.
     */
    remove(id: number): Promise<boolean>

    /**
     * Adds a member, last in the order of joining.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    add_member(id: number, user_id: string): Promise<GuildhallGroup>

    /**
     * Moves a member one rung up.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    promote(id: number, user_id: string): Promise<GuildhallGroup>

    /**
     * Moves a member one rung down; the last superadmin stays.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    demote(id: number, user_id: string): Promise<GuildhallGroup>

    /**
     * Removes a member; the last superadmin stays.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    kick(id: number, user_id: string): Promise<GuildhallGroup>
  }

  readonly friends: {
    /**
     * An account's relations, by the other account's id.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    list(user_id: string): Promise<GuildhallFriend[]>

    /**
     * Invites, or accepts the invitation of the other side.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    add(user_id: string, other: string): Promise<GuildhallFriend[]>

    /**
     * Ends the relation on both sides and lifts a block; false if there is none.
     * Suspends the handler: other handlers run until it goes on.
     */
    remove(user_id: string, other: string): Promise<boolean>

    /**
     * Blocks the other account and ends the other's relation.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    block(user_id: string, other: string): Promise<GuildhallFriend[]>
  }

  readonly chat: {
    /**
     * Appends a message; the first one makes the channel. The sender need not be an account.
     * Suspends the handler: other handlers run until it goes on.
     */
    append(
      channel: string,
      sender: string,
      content: string,
      options?: { channel_type?: 'room' | 'group' | 'direct' | null },
    ): Promise<GuildhallChatMessage>

    /**
     * Messages, newest first; an unknown channel is an empty page.
     * Suspends the handler: other handlers run until it goes on.
     */
    history(
      channel: string,
      options: { limit?: number | null; before?: number | null; raw: true },
    ): Promise<GuildhallBody<{ items: GuildhallChatMessage[]; next: number | null }>>
    history(
      channel: string,
      options?: { limit?: number | null; before?: number | null; raw?: false | null },
    ): Promise<{ items: GuildhallChatMessage[]; next: number | null }>

    /**
     * Blanks a message; a repeat changes nothing.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`.
     */
    remove(channel: string, id: number): Promise<GuildhallChatMessage>

    /**
     * Sends an event (kind 28) to the live connections of up to 1,000 accounts.
     * Takes effect when the slice ends.
     * Raises `limit_exceeded`.
     */
    push(user_ids: string[], event: GuildhallChatEvent): void
  }

  readonly notifications: {
    /**
     * Stores a notification for one user or, without user_id, for everybody.
     * Suspends the handler: other handlers run until it goes on.
     */
    send(notification: {
      user_id?: string | null
      subject: string
      content?: GuildhallJsonObject
      code?: number | null
      push?: boolean | null
    }): Promise<GuildhallNotification>

    /**
     * A user's notifications and the broadcasts, newest first.
     * Suspends the handler: other handlers run until it goes on.
     */
    list(
      user_id: string,
      options: { limit?: number | null; before?: number | null; raw: true },
    ): Promise<GuildhallBody<GuildhallNotification[]>>
    list(
      user_id: string,
      options?: { limit?: number | null; before?: number | null; raw?: false | null },
    ): Promise<GuildhallNotification[]>

    /**
     * True for a row addressed to the user, whose time of reading stays; else false.
     * Suspends the handler: other handlers run until it goes on.
     */
    mark_read(user_id: string, id: number): Promise<boolean>

    /**
     * Removes a notification; false if there is none.
     * Suspends the handler: other handlers run until it goes on.
     */
    remove(id: number): Promise<boolean>

    /**
     * Sends a notification (kind 27) to accounts, else to the row's user, else to all.
     * Takes effect when the slice ends.
     * Raises `limit_exceeded`.
     */
    push(notification: GuildhallNotification, user_ids?: string[]): void

    /**
     * Sends the newest unread rows to a participant, oldest first, and returns how many.
     * Suspends the handler: other handlers run until it goes on.
     */
    push_unread(participant: number, options?: { limit?: number | null }): Promise<number>
  }

  readonly accounts: {
    /**
     * One account, or null.
     * Suspends the handler: other handlers run until it goes on.
     */
    get(user_id: string): Promise<GuildhallAccount | null>

    /**
     * The active accounts among up to 100 ids and usernames.
     * Suspends the handler: other handlers run until it goes on.
     */
    lookup(keys: { user_ids?: string[]; usernames?: string[] }): Promise<GuildhallAccount[]>

    /**
     * Changes display name or metadata; members that are not given stay.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    update(
      user_id: string,
      patch: { display_name?: string | null; metadata?: GuildhallJsonObject | null },
    ): Promise<GuildhallAccount>

    /**
     * Disables an account, revokes its sessions and closes its connections.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    ban(user_id: string): Promise<GuildhallAccount>

    /**
     * Enables a disabled account.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`.
     */
    unban(user_id: string): Promise<GuildhallAccount>
  }

  readonly log: {
    /**
     * Writes a durable line and returns its id at once; null without a durable backend.
     * Takes effect when the slice ends.
     * Raises `limit_exceeded`.
     *
     * @example
     * guildhall.log.write('info', 'shop', 'sold', { item: 'sword' })
     */
    write(level: string, tag: string, message: string, payload?: GuildhallJson): string | null
  }

  readonly match: {
    /**
     * Sets the result of the room's match: a JSON object of at most 4,096 bytes, or its text.
     * Takes effect when the slice ends.
     * Raises `limit_exceeded`.
     */
    set_result(result: GuildhallJson): boolean
  }

  readonly telemetry: {
    /**
     * Opens a telemetry slice of the room, or of the node without one; closes the one before.
     * Takes effect when the slice ends.
     * Raises `limit_exceeded`.
     */
    begin(context?: string): void

    /**
     * Counts a marker in the open slice; without one, nothing.
     * Takes effect when the slice ends.
     * Raises `limit_exceeded`.
     */
    mark(marker: string, outcome?: 'accepted' | 'rejected' | 'corrected'): void

    /**
     * Closes the open slice; without one, nothing.
     * Takes effect when the slice ends.
     * Raises `limit_exceeded`.
     */
    finish(): void
  }

  readonly http: {
    /**
     * Sends an HTTP request to a public host; a response of any status is a success.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `http_error`.
     */
    fetch(request: {
      url: string
      method?: string
      headers?: { [name: string]: string }
      body?: GuildhallBytes
      timeout_ms?: number
    }): Promise<{ status: number; headers: { [name: string]: string }; body: Uint8Array }>
  }

  readonly lag: {
    /**
     * Asks clients that agreed to it to record when envelopes come; check who asks for it.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `limit_exceeded`, `unavailable`.
     *
     * @example
     * const capture = await guildhall.lag.start({
     *   room_id: 7, duration_ms: 60_000, filters: [{ kind: 2, direction: 'inbound' }],
     * })
     */
    start(options: {
      participants?: number[] | null
      user_ids?: string[] | null
      room_id?: number | null
      label?: string | null
      filters: { kind: number; direction: 'inbound' | 'outbound' }[]
      duration_ms: number
      max_bytes?: number | null
      analyze?: boolean | null
      send_rate_hz?: number | null
    }): Promise<{
      capture_id: string
      started: number[]
      skipped: {
        participant: number
        reason: 'unknown' | 'guest' | 'not_capable' | 'busy' | 'attempts' | 'not_recording'
      }[]
    }>

    /**
     * Asks the recorders of a capture to upload what they have.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `not_found`, `conflict`, `limit_exceeded`, `unavailable`.
     *
     * @example
     * await guildhall.lag.flush(capture.capture_id)
     */
    flush(capture_id: string): Promise<{
      attempts: { participant: number; attempt: number }[]
      skipped: {
        participant: number
        reason: 'unknown' | 'guest' | 'not_capable' | 'busy' | 'attempts' | 'not_recording'
      }[]
    }>

    /**
     * The state of a capture of this boot and of its recorders, or null.
     * Suspends the handler: other handlers run until it goes on.
     * Raises `unavailable`.
     *
     * @example
     * const state = await guildhall.lag.status(capture.capture_id)
     */
    status(capture_id: string): Promise<{
      capture_id: string
      state: 'recording' | 'minting' | 'flushing' | 'sealed' | 'expired'
      deadline_unix_ms: number
      recorders: {
        participant: number
        status: 'offered' | 'recording' | 'failed' | 'flushing' | 'uploaded' | 'missed' | 'gone'
        attempt: number
        packets: number
        dropped: number
        bytes: number
      }[]
    } | null>
  }
}

/**
 * For tests that `guildhall test-script` runs: files named `*.test.ts` (or `.js`) in the
 * folder of the game, written with node:test.
 *
 * @example
 * import assert from 'node:assert/strict'
 * import { test } from 'node:test'
 * import { openGame } from 'guildhall/test'
 *
 * test('counts messages', async (t) => {
 *   const game = await openGame(t)
 *   const ana = await game.signIn('ana')
 *   ana.send(100, { hello: true })
 *   assert.deepEqual((await ana.message(101)).json(), { score: 1 })
 * })
 */
declare module 'guildhall/test' {
  /**
   * Starts the game on a node of its own, with a database in memory and a clock that stands still,
   * and ends it with the test.
   */
  export function openGame<G extends TestedGame = TestedGame>(
    test: { after(end: () => Promise<void>): void },
    options?: {
      /** Configuration keys that differ, e.g. `{ 'runtime.tick_hz': '20' }`. */
      settings?: { readonly [key: string]: string }
      /** What the clock begins with; 2025-01-01 00:00 UTC. */
      now?: Date
    },
  ): Promise<TestGame<G>>

  /** The types of a game, as its clients have them; without them everything is `unknown`. */
  export type TestedGame = {
    rpcs: { [method: string]: { payload: unknown; reply: unknown } }
    kinds: { [kind: number]: { up?: unknown; down?: unknown } }
    rooms?: { [definition: string]: { state: unknown; own?: unknown } }
  }

  /** What a player sees of the rooms of a game. */
  export type SeenOf<G extends TestedGame, D extends 'state' | 'own'> = G extends {
    rooms: infer R
  }
    ? string extends keyof R
      ? unknown
      : { [N in keyof R]: D extends keyof R[N] ? GuildhallReadonly<R[N][D]> : never }[keyof R]
    : unknown

  export type TestGame<G extends TestedGame = TestedGame> = {
    /** Where the node listens, e.g. `http://127.0.0.1:40123`. */
    readonly url: string
    /** What `guildhall.now_ms()` gives. */
    now(): number
    /** Signs a player in, registering it if the name is new, and connects it. */
    signIn(username: string): Promise<TestPlayer<G>>
    /** Connects a player without an account. */
    guest(): Promise<TestPlayer<G>>
    /**
     * Moves the clock, and with it ticks, timers and schedules, each at its own moment. Resolves
     * when all that this led to has arrived at the players.
     */
    advance(ms: number): Promise<void>
    /** Resolves when the script has nothing to do and all has arrived at the players. */
    settled(): Promise<void>
    /** Lines of the node's log so far; those of the script from `trace` on. */
    log(): readonly {
      readonly level: string
      readonly component: string
      readonly msg: string
      readonly [field: string]: unknown
    }[]
    /** The routes of the console, for an operator: `(await game.console()).wallet.get({...})`. */
    console(): Promise<TestConsole>
    /** Ends the game before its test does. */
    close(): Promise<void>
  }

  /** A handler that returns null sends nothing, which is read as undefined. */
  type ReplyIn<Reply, As extends 'json' | 'text' | 'bytes'> = As extends 'text'
    ? string
    : As extends 'bytes'
      ? Uint8Array
      : null extends Reply
        ? Reply | undefined
        : Reply

  export type TestPlayer<G extends TestedGame = TestedGame> = {
    /** Null for a guest. */
    readonly user_id: string | null
    readonly username: string | null
    /** What handlers read as `ctx.sender`. */
    readonly participant: number
    /** Bytes go as they are, text as UTF-8, anything else as JSON. */
    send<K extends GuildhallKindWith<G, 'up'>>(
      kind: K,
      body?: GuildhallOf<G, K, 'up'>,
      unreliable?: boolean,
    ): void
    /** The reply, as the client SDK reads it. Rejects with the text of a refusal. */
    rpc<M extends keyof G['rpcs'] & string, As extends 'json' | 'text' | 'bytes' = 'json'>(
      method: M,
      payload?: G['rpcs'][M]['payload'],
      options?: { as?: As },
    ): Promise<ReplyIn<G['rpcs'][M]['reply'], As>>
    /** The first message of a kind that was not taken yet, once it has come; 5 s at most. */
    message<K extends GuildhallKindWith<G, 'down'>>(
      kind: K,
    ): Promise<TestMessage<GuildhallOf<G, K, 'down'>>>
    /** The first notification that was not taken yet, once it has come. */
    notification(): Promise<TestNotification>
    /** The first chat event that was not taken yet, once it has come. */
    chat(): Promise<TestChatEvent>
    /** Every message so far, taken or not. */
    readonly received: readonly TestMessage[]
    /** What the player sees of a room with state, as it was last sent: look once it is settled. */
    readonly state: SeenOf<G, 'state'> | undefined
    /** What the player alone sees of it. */
    readonly own: SeenOf<G, 'own'> | undefined
    readonly rooms: {
      create(name: string | null, options?: { [name: string]: unknown }): Promise<TestRoom>
      join(id: number, options?: { [name: string]: unknown }): Promise<TestRoom>
      joinOrCreate(name: string, options?: { [name: string]: unknown }): Promise<TestRoom>
      leave(): Promise<void>
    }
    /** The connection of the client SDK. */
    readonly connection: TestConnection
    /**
     * Loses the connection without a word, as a network does. The node keeps the seat for
     * `rooms.reconnect_grace_ms`; the client comes back by itself as the clock goes on.
     */
    drop(): Promise<void>
    /** Ends the connection. */
    leave(): Promise<void>
  }

  export type TestMessage<Body = unknown> = {
    readonly kind: number
    readonly bytes: Uint8Array
    text(): string
    json(): Body
  }

  /** What kind 27 says of a notification. */
  export type TestNotification = {
    id: number
    code: number
    subject: string
    content: GuildhallJsonObject
    created_at_unix_ms: number
    read_at_unix_ms: number | null
  }

  /** What kind 28 says of a channel. */
  export type TestChatEvent = {
    type: GuildhallChatEvent['type']
    channel_id: string
    event_id: number | null
    message: GuildhallJsonObject | null
    presence: { presence_id: string; user_id: string } | null
    expires_at: number | null
    watermark_event_id: number | null
  }

  /** Of the connection of the client SDK what tests look at most. */
  export type TestConnection = {
    readonly state: 'connecting' | 'open' | 'reconnecting' | 'closed'
    readonly matchmaker: {
      /** Resolves when the ticket is queued. */
      find(criteria?: {
        query?: string
        wide_query?: string
        properties?: { [name: string]: string | number | bigint }
        min_count?: number
        max_count?: number
        party_id?: string
        ttl_ms?: number
      }): Promise<{
        readonly ticketId: string
        readonly room: Promise<TestRoom>
        cancel(): Promise<boolean>
      }>
    }
    readonly party: {
      create(options?: { open?: boolean }): Promise<{ party_id: string }>
      join(party: { party_id: string }): Promise<object>
      leave(party: { party_id: string }): Promise<object>
    }
  }

  export type TestRoom = {
    readonly id: number
    readonly map: string
    readonly mode: string
    leave(): Promise<void>
  }

  /** The routes of the console, for an operator; each takes the parts that it declares. */
  export type TestConsole = {
    readonly console: {
      login(input: {
        body: { username: string; password: string }
      }): Promise<{ token: string; role: 'admin' | 'viewer'; expires_in_sec: number }>
      logout(input: {}): Promise<undefined>
      me(input: {}): Promise<
        | { username: string; role: 'admin' | 'viewer' }
        | {
            actor_type: 'api_key'
            credential_id: string
            key_name: string
            scopes: (
              | 'telemetry:read'
              | 'config:read'
              | 'audit:read'
              | 'errors:read'
              | 'accounts:read'
              | 'groups:read'
              | 'runtime:read'
              | 'matches:read'
              | 'storage:read'
              | 'database:read'
              | 'chat:read'
              | 'notifications:read'
              | 'leaderboards:read'
              | 'tournaments:read'
              | 'purchases:read'
              | 'subscriptions:read'
              | 'logs:read'
            )[]
            generation: number
          }
      >
    }
    readonly config: {
      get(input: { query: { sources?: 'true' | 'false' } }): Promise<{
        node_id: string
        version: string
        backend: 'in-memory' | 'sqlite' | 'postgres'
        groups: { name: string; entries: { key: string; value: string; source?: string }[] }[]
      }>
    }
    readonly audit: {
      list(input: {
        query: {
          limit?: string
          actor?: string
          action?: string
          match_id?: string
          after?: string
        }
      }): Promise<{
        entries: {
          time_unix_ms: number
          actor_type: 'human' | 'api_key' | 'script'
          actor: string
          credential_id?: string
          key_name?: string
          scopes?: (
            | 'telemetry:read'
            | 'config:read'
            | 'audit:read'
            | 'errors:read'
            | 'accounts:read'
            | 'groups:read'
            | 'runtime:read'
            | 'matches:read'
            | 'storage:read'
            | 'database:read'
            | 'chat:read'
            | 'notifications:read'
            | 'leaderboards:read'
            | 'tournaments:read'
            | 'purchases:read'
            | 'subscriptions:read'
            | 'logs:read'
          )[]
          role: 'admin' | 'viewer' | 'api_key' | '-'
          action:
            | 'console.login'
            | 'console.login_failed'
            | 'console.logout'
            | 'console.read'
            | 'storage.write'
            | 'storage.delete'
            | 'accounts.create'
            | 'accounts.update'
            | 'accounts.ban'
            | 'accounts.unban'
            | 'accounts.delete'
            | 'accounts.sessions.revoke'
            | 'accounts.sessions.revoke_all'
            | 'accounts.wallet.adjust'
            | 'accounts.friends.add'
            | 'accounts.friends.remove'
            | 'groups.create'
            | 'groups.update'
            | 'groups.delete'
            | 'groups.member.add'
            | 'groups.member.promote'
            | 'groups.member.demote'
            | 'groups.member.kick'
            | 'chat.message.append'
            | 'chat.message.delete'
            | 'notifications.send'
            | 'notifications.delete'
            | 'leaderboards.create'
            | 'leaderboards.delete'
            | 'leaderboards.record.submit'
            | 'leaderboards.record.delete'
            | 'purchases.validate'
            | 'runtime.rpc'
            | 'tournaments.create'
            | 'tournaments.transition'
            | 'api_keys.create'
            | 'api_keys.rotate'
            | 'api_keys.revoke'
            | 'logs.list'
            | 'logs.detail'
            | 'match.close'
            | 'match.remove'
            | 'matchlog.list'
            | 'matchlog.detail'
            | 'matchlog.entries'
            | 'database.tables'
            | 'database.describe'
            | 'database.rows'
            | 'database.row'
            | 'lag.start'
            | 'lag.flush'
            | 'lag.raw.list'
            | 'lag.raw.download'
            | 'lag.raw.delete'
            | 'lag.regenerate'
          target: string
          details: string
          match_id?: string
        }[]
        retained: number
        capacity: number
        next_after?: string
        durable: boolean
        dropped_total: number
      }>
    }
    readonly apiKeys: {
      list(input: { idempotencyKey?: string }): Promise<{
        keys: {
          id: string
          name: string
          scopes: (
            | 'telemetry:read'
            | 'config:read'
            | 'audit:read'
            | 'errors:read'
            | 'accounts:read'
            | 'groups:read'
            | 'runtime:read'
            | 'matches:read'
            | 'storage:read'
            | 'database:read'
            | 'chat:read'
            | 'notifications:read'
            | 'leaderboards:read'
            | 'tournaments:read'
            | 'purchases:read'
            | 'subscriptions:read'
            | 'logs:read'
          )[]
          generation: number
          created_at: number
          expires_at: number | null
          revoked_at: number | null
          last_used_at: number | null
          status: 'active' | 'expired' | 'revoked'
        }[]
      }>
      create(input: {
        body: {
          name: string
          scopes: (
            | 'telemetry:read'
            | 'config:read'
            | 'audit:read'
            | 'errors:read'
            | 'accounts:read'
            | 'groups:read'
            | 'runtime:read'
            | 'matches:read'
            | 'storage:read'
            | 'database:read'
            | 'chat:read'
            | 'notifications:read'
            | 'leaderboards:read'
            | 'tournaments:read'
            | 'purchases:read'
            | 'subscriptions:read'
            | 'logs:read'
          )[]
          expires_at?: number | null
        }
        idempotencyKey?: string
      }): Promise<{
        key: {
          id: string
          name: string
          scopes: (
            | 'telemetry:read'
            | 'config:read'
            | 'audit:read'
            | 'errors:read'
            | 'accounts:read'
            | 'groups:read'
            | 'runtime:read'
            | 'matches:read'
            | 'storage:read'
            | 'database:read'
            | 'chat:read'
            | 'notifications:read'
            | 'leaderboards:read'
            | 'tournaments:read'
            | 'purchases:read'
            | 'subscriptions:read'
            | 'logs:read'
          )[]
          generation: number
          created_at: number
          expires_at: number | null
          revoked_at: number | null
          last_used_at: number | null
          status: 'active' | 'expired' | 'revoked'
        }
        secret: string
      }>
      get(input: { params: { id: string }; idempotencyKey?: string }): Promise<{
        id: string
        name: string
        scopes: (
          | 'telemetry:read'
          | 'config:read'
          | 'audit:read'
          | 'errors:read'
          | 'accounts:read'
          | 'groups:read'
          | 'runtime:read'
          | 'matches:read'
          | 'storage:read'
          | 'database:read'
          | 'chat:read'
          | 'notifications:read'
          | 'leaderboards:read'
          | 'tournaments:read'
          | 'purchases:read'
          | 'subscriptions:read'
          | 'logs:read'
        )[]
        generation: number
        created_at: number
        expires_at: number | null
        revoked_at: number | null
        last_used_at: number | null
        status: 'active' | 'expired' | 'revoked'
      }>
      rotate(input: {
        params: { id: string }
        body: { generation: number }
        idempotencyKey?: string
      }): Promise<{
        key: {
          id: string
          name: string
          scopes: (
            | 'telemetry:read'
            | 'config:read'
            | 'audit:read'
            | 'errors:read'
            | 'accounts:read'
            | 'groups:read'
            | 'runtime:read'
            | 'matches:read'
            | 'storage:read'
            | 'database:read'
            | 'chat:read'
            | 'notifications:read'
            | 'leaderboards:read'
            | 'tournaments:read'
            | 'purchases:read'
            | 'subscriptions:read'
            | 'logs:read'
          )[]
          generation: number
          created_at: number
          expires_at: number | null
          revoked_at: number | null
          last_used_at: number | null
          status: 'active' | 'expired' | 'revoked'
        }
        secret: string
      }>
      revoke(input: {
        params: { id: string }
        body: { generation: number }
        idempotencyKey?: string
      }): Promise<{
        id: string
        name: string
        scopes: (
          | 'telemetry:read'
          | 'config:read'
          | 'audit:read'
          | 'errors:read'
          | 'accounts:read'
          | 'groups:read'
          | 'runtime:read'
          | 'matches:read'
          | 'storage:read'
          | 'database:read'
          | 'chat:read'
          | 'notifications:read'
          | 'leaderboards:read'
          | 'tournaments:read'
          | 'purchases:read'
          | 'subscriptions:read'
          | 'logs:read'
        )[]
        generation: number
        created_at: number
        expires_at: number | null
        revoked_at: number | null
        last_used_at: number | null
        status: 'active' | 'expired' | 'revoked'
      }>
    }
    readonly consoleAccounts: {
      list(input: {
        query: { filter?: string; id?: string; username?: string; limit?: string; offset?: string }
      }): Promise<{
        items: {
          id: string
          username: string
          display_name: string | null
          state: 'active' | 'disabled' | 'tombstoned'
          created_at_unix_ms: number
          updated_at_unix_ms: number
        }[]
        total: number
      }>
      search(input: {
        query: {
          display_name?: string
          username_prefix?: string
          email?: string
          device_id?: string
          custom_id?: string
          state?: 'active' | 'disabled' | 'tombstoned'
          created_from?: string
          created_to?: string
          after?: string
          limit?: string
        }
      }): Promise<{
        items: {
          id: string
          username: string
          display_name: string | null
          state: 'active' | 'disabled' | 'tombstoned'
          created_at_unix_ms: number
          updated_at_unix_ms: number
        }[]
        next_after?: string
      }>
      usernames(input: { query: { user_ids: string[] } }): Promise<{
        items: {
          user_id: string
          username: string
          display_name: string | null
          state: 'active' | 'disabled' | 'tombstoned'
        }[]
      }>
      create(input: {
        body: {
          username: string
          display_name?: string | null
          metadata?: GuildhallJsonObject | null
        }
        idempotencyKey?: string
      }): Promise<{
        id: string
        username: string
        display_name: string | null
        state: 'active' | 'disabled' | 'tombstoned'
        created_at_unix_ms: number
        updated_at_unix_ms: number
      }>
      get(input: { params: { id: string } }): Promise<{
        id: string
        username: string
        display_name: string | null
        state: 'active' | 'disabled' | 'tombstoned'
        created_at_unix_ms: number
        updated_at_unix_ms: number
        metadata: GuildhallJsonObject | null
        identities: {
          provider: 'device' | 'custom' | 'email'
          external_id: string
          created_at_unix_ms: number
        }[]
      }>
      update(input: {
        params: { id: string }
        body: {
          username?: string | null
          display_name?: string | null
          metadata?: GuildhallJsonObject | null
        }
        idempotencyKey?: string
      }): Promise<{
        id: string
        username: string
        display_name: string | null
        state: 'active' | 'disabled' | 'tombstoned'
        created_at_unix_ms: number
        updated_at_unix_ms: number
      }>
      ban(input: { params: { id: string }; idempotencyKey?: string }): Promise<{
        id: string
        username: string
        display_name: string | null
        state: 'active' | 'disabled' | 'tombstoned'
        created_at_unix_ms: number
        updated_at_unix_ms: number
      }>
      unban(input: { params: { id: string }; idempotencyKey?: string }): Promise<{
        id: string
        username: string
        display_name: string | null
        state: 'active' | 'disabled' | 'tombstoned'
        created_at_unix_ms: number
        updated_at_unix_ms: number
      }>
      delete(input: { params: { id: string }; idempotencyKey?: string }): Promise<undefined>
      timeline(input: {
        params: { id: string }
        query: { after?: string; limit?: string }
      }): Promise<{
        items: {
          at_unix_ms: number
          kind:
            | 'audit'
            | 'friend'
            | 'group'
            | 'notice'
            | 'purchase'
            | 'sign_in'
            | 'tournament'
            | 'wallet'
          text: string
          ref: string | null
        }[]
        next_after?: string
      }>
      export(input: { params: { id: string } }): Promise<{
        id: string
        username: string
        display_name: string | null
        state: 'active' | 'disabled' | 'tombstoned'
        created_at_unix_ms: number
        updated_at_unix_ms: number
        metadata: GuildhallJsonObject | null
        identities: {
          provider: 'device' | 'custom' | 'email'
          external_id: string
          created_at_unix_ms: number
        }[]
        related: {
          wallet: { [name: string]: bigint }
          friends: GuildhallFriend[]
          groups:
            | {
                id: number
                name: string
                role: 'member' | 'admin' | 'superadmin'
                joined_at_unix_ms: number
              }[]
            | null
          storage: { collection: string; key: string; version: string }[] | null
        }
      }>
    }
    readonly consoleSessions: {
      list(input: { params: { id: string }; query: { limit?: string; offset?: string } }): Promise<{
        items: {
          id: string
          created_at_unix_ms: number
          access_expires_at_unix_ms: number
          refresh_expires_at_unix_ms: number
          connected: boolean
        }[]
        total: number
      }>
      lastSeen(input: { params: { id: string } }): Promise<{ seen_at_unix_ms: number | null }>
      revokeAll(input: {
        params: { id: string }
        idempotencyKey?: string
      }): Promise<{ sessions_revoked: number }>
      revoke(input: {
        params: { id: string; session_id: string }
        idempotencyKey?: string
      }): Promise<{ sessions_revoked: number }>
    }
    readonly wallet: {
      get(input: {
        params: { id: string }
      }): Promise<{ balances: { [name: string]: bigint }; ledger: GuildhallLedgerEntry[] }>
      ledger(input: {
        params: { id: string }
        query: { before?: string; limit?: string }
      }): Promise<{ items: GuildhallLedgerEntry[]; next_before?: number }>
      adjust(input: {
        params: { id: string }
        body: { currency: string; delta: bigint | number; reason?: string | null }
        idempotencyKey?: string
      }): Promise<{ balances: { [name: string]: bigint }; ledger: GuildhallLedgerEntry[] }>
    }
    readonly friends: {
      list(input: { params: { id: string } }): Promise<GuildhallFriend[]>
      add(input: {
        params: { id: string }
        body: { user_id: string }
        idempotencyKey?: string
      }): Promise<GuildhallFriend[]>
      remove(input: {
        params: { id: string; other: string }
        idempotencyKey?: string
      }): Promise<undefined>
    }
    readonly groups: {
      list(input: {
        query: { filter?: string; limit?: string; offset?: string }
      }): Promise<{ items: GuildhallGroupSummary[]; total: number }>
      create(input: {
        body: {
          name: string
          description?: string | null
          open?: boolean | null
          max_size?: number | null
          creator_user_id?: string | null
        }
        idempotencyKey?: string
      }): Promise<GuildhallGroup>
      get(input: { params: { id: string } }): Promise<GuildhallGroup>
      update(input: {
        params: { id: string }
        body: { description?: string | null; open?: boolean | null; max_size?: number | null }
        idempotencyKey?: string
      }): Promise<GuildhallGroup>
      delete(input: { params: { id: string }; idempotencyKey?: string }): Promise<undefined>
      addMember(input: {
        params: { id: string }
        body: { user_id: string }
        idempotencyKey?: string
      }): Promise<GuildhallGroup>
      promote(input: {
        params: { id: string; user_id: string }
        idempotencyKey?: string
      }): Promise<GuildhallGroup>
      demote(input: {
        params: { id: string; user_id: string }
        idempotencyKey?: string
      }): Promise<GuildhallGroup>
      kick(input: {
        params: { id: string; user_id: string }
        idempotencyKey?: string
      }): Promise<GuildhallGroup>
    }
    readonly chat: {
      list(input: { query: { filter?: string; limit?: string } }): Promise<{
        items: {
          channel: string
          channel_type: 'room' | 'group' | 'direct'
          messages: number
          last_activity_unix_ms: number
        }[]
        total: number
      }>
      append(input: {
        params: { channel: string }
        body: { sender: string; content: string; channel_type?: 'room' | 'group' | 'direct' | null }
        idempotencyKey?: string
      }): Promise<GuildhallChatMessage>
      history(input: {
        params: { channel: string }
        query: { limit?: string; before?: string }
      }): Promise<{ channel: string; items: GuildhallChatMessage[]; next?: number }>
      delete(input: {
        params: { channel: string; id: string }
        idempotencyKey?: string
      }): Promise<undefined>
    }
    readonly notifications: {
      list(input: { query: { user_id?: string; limit?: string; before?: string } }): Promise<{
        items: {
          id: number
          user_id: string | null
          subject: string
          content: GuildhallJsonObject
          code: number
          created_at_unix_ms: number
          read: boolean
        }[]
        total: number
      }>
      send(input: {
        body: {
          user_id?: string | null
          subject: string
          content?: GuildhallJsonObject
          code?: number | null
        }
        idempotencyKey?: string
      }): Promise<{
        id: number
        user_id: string | null
        subject: string
        content: GuildhallJsonObject
        code: number
        created_at_unix_ms: number
        read: boolean
      }>
      delete(input: { params: { id: string }; idempotencyKey?: string }): Promise<undefined>
    }
    readonly storage: {
      collections(input: {}): Promise<{ collections: { collection: string; objects: number }[] }>
      list(input: {
        params: { collection: string }
        query: { user_id?: string; limit?: string; cursor?: string }
      }): Promise<{
        collection: string
        items: {
          user_id: string | null
          key: string
          version: string
          read_permission: number
          write_permission: number
        }[]
        next?: string
      }>
      values(input: {
        params: { collection: string }
        query: { user_id?: string; limit?: string; cursor?: string }
      }): Promise<{
        items: {
          collection: string
          user_id: string | null
          key: string
          version: string
          read_permission: number
          write_permission: number
          value: GuildhallJsonObject
        }[]
        next?: string
      }>
      get(input: {
        params: { collection: string; key: string }
        query: { user_id?: string }
      }): Promise<{
        collection: string
        user_id: string | null
        key: string
        version: string
        read_permission: number
        write_permission: number
        value: GuildhallJsonObject
      }>
      put(input: {
        params: { collection: string; key: string }
        query: { user_id?: string }
        body: {
          value: GuildhallJsonObject
          read_permission?: number | null
          write_permission?: number | null
          version?: string | null
        }
        idempotencyKey?: string
      }): Promise<{
        collection: string
        user_id: string | null
        key: string
        version: string
        read_permission: number
        write_permission: number
        value: GuildhallJsonObject
      }>
      import(input: {
        body: {
          objects: GuildhallJsonObject[]
          existing?: 'refuse' | 'keep' | 'replace' | null
          dry_run?: boolean | null
        }
        idempotencyKey?: string
      }): Promise<{
        created: number
        replaced: number
        unchanged: number
        kept: number
        refused: { index: number; code: string; message: string }[]
      }>
      delete(input: {
        params: { collection: string; key: string }
        query: { user_id?: string; version?: string }
        idempotencyKey?: string
      }): Promise<undefined>
    }
    readonly leaderboards: {
      list(input: {}): Promise<{ items: GuildhallLeaderboard[]; total: number }>
      create(input: {
        body: {
          id: string
          sort?: 'asc' | 'desc' | null
          operator?: 'best' | 'set' | 'incr' | null
          reset_schedule?: string | null
        }
        idempotencyKey?: string
      }): Promise<GuildhallLeaderboard>
      delete(input: { params: { id: string }; idempotencyKey?: string }): Promise<undefined>
      submit(input: {
        params: { id: string }
        body: {
          user_id: string
          score: bigint | number
          subscore?: bigint | number
          metadata?: GuildhallJsonObject | null
        }
        idempotencyKey?: string
      }): Promise<GuildhallRecord>
      records(input: {
        params: { id: string }
        query: { limit?: string; offset?: string }
      }): Promise<{ board: string; total: number; items: GuildhallRankedRecord[] }>
      ranks(input: { params: { id: string } }): Promise<{
        items: {
          board: string
          rank: number
          user_id: string
          score: bigint
          subscore: bigint
          metadata: GuildhallJsonObject | null
          updated_at_unix_ms: number
          submissions: number
        }[]
      }>
      deleteRecord(input: {
        params: { id: string; user_id: string }
        idempotencyKey?: string
      }): Promise<undefined>
    }
    readonly tournaments: {
      list(input: {}): Promise<{ items: GuildhallTournament[]; total: number }>
      create(input: {
        body: {
          id: string
          leaderboard_id: string
          registration_opens_at_unix_ms: number
          registration_closes_at_unix_ms: number
          starts_at_unix_ms: number
          ends_at_unix_ms: number
        }
        idempotencyKey?: string
      }): Promise<GuildhallTournament>
      get(input: { params: { id: string } }): Promise<GuildhallTournament>
      transition(input: {
        params: { id: string }
        body: {
          state:
            | 'draft'
            | 'registration_open'
            | 'running'
            | 'finalizing'
            | 'completed'
            | 'cancelled'
        }
        idempotencyKey?: string
      }): Promise<GuildhallTournament>
      entries(input: {
        params: { id: string }
      }): Promise<{ items: GuildhallTournamentEntry[]; total: number }>
      results(input: {
        params: { id: string }
      }): Promise<{ items: GuildhallTournamentResult[]; total: number }>
    }
    readonly purchases: {
      list(input: { query: { user_id?: string; limit?: string } }): Promise<{
        items: {
          transaction_id: string
          user_id: string
          product_id: string
          store: 'store_a' | 'store_b' | 'store_c' | 'custom'
          receipt_sha256: string
          validated_at_unix_ms: number
          subscription_expiry_unix_ms?: number
        }[]
      }>
      validate(input: {
        body: {
          user_id: string
          store: 'store_a' | 'store_b' | 'store_c' | 'custom'
          receipt: string
        }
        idempotencyKey?: string
      }): Promise<{
        transaction_id: string
        user_id: string
        product_id: string
        store: 'store_a' | 'store_b' | 'store_c' | 'custom'
        receipt_sha256: string
        validated_at_unix_ms: number
        subscription_expiry_unix_ms?: number
      }>
      get(input: { params: { transaction_id: string } }): Promise<{
        transaction_id: string
        user_id: string
        product_id: string
        store: 'store_a' | 'store_b' | 'store_c' | 'custom'
        receipt_sha256: string
        validated_at_unix_ms: number
        subscription_expiry_unix_ms?: number
      }>
      search(input: {
        query: {
          user_id?: string
          product_id?: string
          from?: string
          to?: string
          after?: string
          limit?: string
        }
      }): Promise<{
        items: {
          transaction_id: string
          user_id: string
          product_id: string
          store: 'store_a' | 'store_b' | 'store_c' | 'custom'
          receipt_sha256: string
          validated_at_unix_ms: number
          subscription_expiry_unix_ms?: number
        }[]
        next_after?: string
      }>
      sums(input: {
        query: { user_id?: string; product_id?: string; from?: string; to?: string }
      }): Promise<{
        purchases: number
        users: number
        complete: boolean
        products: {
          product_id: string
          store: 'store_a' | 'store_b' | 'store_c' | 'custom'
          purchases: number
          users: number
          newest_at_unix_ms: number
        }[]
        products_complete: boolean
      }>
    }
    readonly subscriptions: {
      list(input: { query: { user_id?: string; limit?: string } }): Promise<{
        items: {
          transaction_id: string
          user_id: string
          product_id: string
          store: 'store_a' | 'store_b' | 'store_c' | 'custom'
          expiry_unix_ms: number
          status: 'active' | 'expired'
        }[]
      }>
    }
    readonly matches: {
      nodes(input: {}): Promise<{
        items: {
          node_id: string
          boot_id: string
          slot: number
          state: 'live' | 'draining' | 'gone'
          version: string
          seen_at_unix_ms: number
          rooms: number
          connections: number
        }[]
      }>
      list(input: { query: { filter?: string; limit?: string } }): Promise<{
        realtime_attached: boolean
        total: number
        matchmaker: {
          queued_tickets: number
          evaluations_total: number
          evaluation_duration_us_total: number
          matches_formed_total: number
          tickets_formed_total: number
          tickets_cancelled_total: number
          tickets_expired_total: number
        } | null
        rooms: {
          id: number
          name: string | null
          map: string
          mode: string
          players: number
          max_players: number
          open: boolean
          script_revision: string | null
          script_generation: number | null
          node_id?: string
        }[]
        nodes_missing?: string[]
      }>
      get(input: { params: { id: string } }): Promise<{
        id: number
        name: string | null
        map: string
        mode: string
        players: number
        max_players: number
        open: boolean
        script_revision: string | null
        script_generation: number | null
        node_id?: string
        members: { participant: number; user_id: string | null }[]
      }>
      state(input: {
        params: { id: string }
      }): Promise<{ state: GuildhallJsonObject; seq: number; checkpoint_at_unix_ms: number }>
      traffic(input: {
        params: { id: string }
      }): Promise<{ match_id: string; opened_at_unix_ms: number; messages_total: number }>
      close(input: { params: { room_id: string }; idempotencyKey?: string }): Promise<undefined>
      remove(input: {
        params: { room_id: string; participant: string }
        idempotencyKey?: string
      }): Promise<undefined>
    }
    readonly runtime: {
      get(input: {}): Promise<{
        enabled: boolean
        configured_language: string | null
        selected_language: string | null
        selection_source: 'explicit' | 'autodetected' | null
        entrypoint: string | null
        adapter: string
        tier: 'trusted' | 'sandboxed'
        attached: boolean
        tick_hz: number
        require_script: boolean
        readiness: {
          state: 'no_script' | 'validating' | 'ready' | 'activating' | 'degraded' | 'unavailable'
          revision_id: string | null
          generation: number
          since_unix_millis: number
          recovery: { circuit_open: boolean; consecutive_failures: number; restart_limit: number }
        }
        script: {
          source: string
          reloadable: boolean
          deadline_ms: number
          rpcs: string[]
          message_kinds: number[]
          hooks: string[]
        } | null
      }>
      failures(input: {}): Promise<{
        items: {
          hook: string
          name: string
          reason: string
          place: string | null
          count: number
          first_at_unix_ms: number
          last_at_unix_ms: number
          revision_id: string
        }[]
        reloads: {
          at_unix_ms: number
          outcome: 'active' | 'rejected'
          reason: 'boot' | 'reload' | 'restart' | 'rollback' | 'signal'
          revision_id: string | null
          generation: number
          files: string[]
          duration_ms: number
          problem: string | null
        }[]
        dearest: { hook: string; name: string; calls: number; cpu_ms: number }[]
      }>
      rpc(input: {
        params: { method: string }
        body: { payload: string; room_id?: number }
        idempotencyKey?: string
      }): Promise<
        | { ok: true; reply: string }
        | { ok: false; error: string; reason?: string; place?: string | null }
      >
    }
    readonly errorJournal: {
      list(input: { query: { offset?: string; limit?: string } }): Promise<{
        entries: {
          fingerprint: string
          kind: string
          category: string
          component: string
          message: string
          first_seen_ms: number
          last_seen_ms: number
          count: number
        }[]
        total: number
        next_offset: number | null
      }>
    }
    readonly matchRecords: {
      list(input: { query: { open?: 'true' | 'false'; after?: string; limit?: string } }): Promise<{
        items: {
          match_id: string
          node_id: string
          boot_id: string
          room_id: number
          name: string | null
          map: string
          mode: string
          max_players: number
          clock_epoch: number
          opened_at_unix_ms: number
          closed_at_unix_ms?: number
          termination_reason?: 'final_departure' | 'server_closed' | 'formation_abandoned'
          peak_participants: number
          join_total: number
          open: boolean
          script_revision_id: string | null
          script_generation: number | null
        }[]
        next_after?: string
        durable: boolean
        dropped_total: number
      }>
      get(input: { params: { match_id: string }; query: {} }): Promise<{
        match_id: string
        node_id: string
        boot_id: string
        room_id: number
        name: string | null
        map: string
        mode: string
        max_players: number
        clock_epoch: number
        opened_at_unix_ms: number
        closed_at_unix_ms?: number
        termination_reason?: 'final_departure' | 'server_closed' | 'formation_abandoned'
        peak_participants: number
        join_total: number
        open: boolean
        script_revision_id: string | null
        script_generation: number | null
        result_json?: string
        counts: { logs: number; telemetry_slices: number; lag_reports: number; audit: number }
      }>
      entries(input: {
        params: { match_id: string }
        query: { after?: string; limit?: string }
      }): Promise<{
        record: {
          match_id: string
          node_id: string
          boot_id: string
          room_id: number
          name: string | null
          map: string
          mode: string
          max_players: number
          clock_epoch: number
          opened_at_unix_ms: number
          closed_at_unix_ms?: number
          termination_reason?: 'final_departure' | 'server_closed' | 'formation_abandoned'
          peak_participants: number
          join_total: number
          open: boolean
          script_revision_id: string | null
          script_generation: number | null
          result_json?: string
        }
        logs: {
          log_id: string
          match_id: string | null
          node_id: string
          created_at_unix_ms: number
          level: 'trace' | 'debug' | 'info' | 'warn' | 'error'
          tag: string
          message: string
          has_payload: boolean
        }[]
        logs_next_after?: string
        telemetry_slices: {
          report_id: string
          match_id: string | null
          context_kind: string
          close_reason: 'finished' | 'restarted' | 'active_cap' | 'marker_cap' | 'ttl'
          closed_at_unix_ms: number
          duration_ms: number
          marker_total: number
          truncated: boolean
          accepted_total: number
          rejected_total: number
          corrected_total: number
        }[]
        lag_reports: {
          report_id: string
          capture_id: string
          status: string
          created_at_unix_ms: number
        }[]
        audit: {
          time_unix_ms: number
          actor_type: 'human' | 'api_key' | 'script'
          actor: string
          credential_id?: string
          key_name?: string
          scopes?: (
            | 'telemetry:read'
            | 'config:read'
            | 'audit:read'
            | 'errors:read'
            | 'accounts:read'
            | 'groups:read'
            | 'runtime:read'
            | 'matches:read'
            | 'storage:read'
            | 'database:read'
            | 'chat:read'
            | 'notifications:read'
            | 'leaderboards:read'
            | 'tournaments:read'
            | 'purchases:read'
            | 'subscriptions:read'
            | 'logs:read'
          )[]
          role: 'admin' | 'viewer' | 'api_key' | '-'
          action:
            | 'console.login'
            | 'console.login_failed'
            | 'console.logout'
            | 'console.read'
            | 'storage.write'
            | 'storage.delete'
            | 'accounts.create'
            | 'accounts.update'
            | 'accounts.ban'
            | 'accounts.unban'
            | 'accounts.delete'
            | 'accounts.sessions.revoke'
            | 'accounts.sessions.revoke_all'
            | 'accounts.wallet.adjust'
            | 'accounts.friends.add'
            | 'accounts.friends.remove'
            | 'groups.create'
            | 'groups.update'
            | 'groups.delete'
            | 'groups.member.add'
            | 'groups.member.promote'
            | 'groups.member.demote'
            | 'groups.member.kick'
            | 'chat.message.append'
            | 'chat.message.delete'
            | 'notifications.send'
            | 'notifications.delete'
            | 'leaderboards.create'
            | 'leaderboards.delete'
            | 'leaderboards.record.submit'
            | 'leaderboards.record.delete'
            | 'purchases.validate'
            | 'runtime.rpc'
            | 'tournaments.create'
            | 'tournaments.transition'
            | 'api_keys.create'
            | 'api_keys.rotate'
            | 'api_keys.revoke'
            | 'logs.list'
            | 'logs.detail'
            | 'match.close'
            | 'match.remove'
            | 'matchlog.list'
            | 'matchlog.detail'
            | 'matchlog.entries'
            | 'database.tables'
            | 'database.describe'
            | 'database.rows'
            | 'database.row'
            | 'lag.start'
            | 'lag.flush'
            | 'lag.raw.list'
            | 'lag.raw.download'
            | 'lag.raw.delete'
            | 'lag.regenerate'
          target: string
          details: string
          match_id?: string
        }[]
        counts: { logs: number; telemetry_slices: number; lag_reports: number; audit: number }
      }>
    }
    readonly scriptLogs: {
      list(input: {
        query: {
          match_id?: string
          level?: 'trace' | 'debug' | 'info' | 'warn' | 'error'
          tag?: string
          after?: string
          limit?: string
        }
      }): Promise<{
        items: {
          log_id: string
          match_id: string | null
          node_id: string
          created_at_unix_ms: number
          level: 'trace' | 'debug' | 'info' | 'warn' | 'error'
          tag: string
          message: string
          has_payload: boolean
        }[]
        next_after?: string
        durable: boolean
        dropped_total: number
      }>
      get(input: { params: { log_id: string }; query: {} }): Promise<{
        log_id: string
        match_id: string | null
        node_id: string
        created_at_unix_ms: number
        level: 'trace' | 'debug' | 'info' | 'warn' | 'error'
        tag: string
        message: string
        has_payload: boolean
        payload_json?: string
      }>
      search(input: {
        query: {
          match_id?: string
          level?: 'trace' | 'debug' | 'info' | 'warn' | 'error'
          tag?: string
          text?: string
          from?: string
          to?: string
          after?: string
          limit?: string
        }
      }): Promise<{
        items: {
          log_id: string
          match_id: string | null
          node_id: string
          created_at_unix_ms: number
          level: 'trace' | 'debug' | 'info' | 'warn' | 'error'
          tag: string
          message: string
          has_payload: boolean
        }[]
        next_after?: string
        looked_back_to_unix_ms?: number
        durable: boolean
        dropped_total: number
      }>
    }
    readonly telemetry: {
      host(input: {}): Promise<{
        cpu_usage_percent?: number
        memory?: {
          total_bytes: number
          available_bytes: number
          used_bytes: number
          process_used_bytes: number
        }
        storage?: {
          total_bytes: number
          available_bytes: number
          used_bytes: number
          mounted_filesystems: number
        }
      }>
      slices(input: { query: { match_id?: string; after?: string; limit?: string } }): Promise<{
        items: {
          report_id: string
          match_id: string | null
          context_kind: string
          close_reason: 'finished' | 'restarted' | 'active_cap' | 'marker_cap' | 'ttl'
          closed_at_unix_ms: number
          duration_ms: number
          marker_total: number
          truncated: boolean
          accepted_total: number
          rejected_total: number
          corrected_total: number
        }[]
        next_after?: string
        durable: boolean
        dropped_total: number
      }>
      slice(input: { params: { report_id: string } }): Promise<{
        report_id: string
        match_id: string | null
        context_kind: string
        close_reason: 'finished' | 'restarted' | 'active_cap' | 'marker_cap' | 'ttl'
        closed_at_unix_ms: number
        duration_ms: number
        marker_total: number
        truncated: boolean
        accepted_total: number
        rejected_total: number
        corrected_total: number
      }>
    }
    readonly history: {
      get(input: { query: { range: '5m' | '1h' | '24h' } }): Promise<{
        step_ms: number
        from_unix_ms: number
        series: { [name: string]: (number | null)[] }
        marks: { at_unix_ms: number; kind: 'start' | 'revision' | 'migration'; text: string }[]
      }>
    }
    readonly lag: {
      reports(input: { query: { after?: string; limit?: string } }): Promise<{
        items: {
          report_id: string
          capture_id: string
          generation: number
          decoder_version: number
          analyzer_version: number
          options_hash: string
          status: 'no_analysis' | 'pending' | 'no_data' | 'partial' | 'complete' | 'failed'
          raw_available?: boolean
          created_at_unix_ms: number
          quality: {
            status: 'no_data' | 'partial' | 'complete'
            sample_count: number
            excluded_count: number
            overwritten_count: number
            malformed_count: number
            clock_uncertain: boolean
          } | null
          summaries: {
            key: {
              participant: number
              packet_kind: number
              direction: 'inbound' | 'outbound'
              delivery: 'reliable' | 'datagram'
              gameplay_epoch: number
            }
            metric_label: 'interarrival'
            unit: 'us'
            quality: 'ok' | 'few_samples'
            mean_interarrival_us: number | null
            p50_interarrival_us: number | null
            p95_interarrival_us: number | null
            p99_interarrival_us: number | null
            max_interarrival_us: number | null
            body_bytes: number
            histogram: { unit: 'us'; edges_us: number[]; counts: number[]; overflow_count: number }
            cadence_residual_p95_us: number | null
            observed_id_gap: number | null
            duplicate_id: number | null
            arrival_reorder: number | null
          }[]
          server:
            | {
                key: {
                  participant: number
                  packet_kind: number
                  direction: 'inbound' | 'outbound'
                  delivery: 'reliable' | 'datagram'
                  gameplay_epoch: number
                }
                metric_label: 'interarrival'
                unit: 'us'
                quality: 'ok' | 'few_samples'
                mean_interarrival_us: number | null
                p50_interarrival_us: number | null
                p95_interarrival_us: number | null
                p99_interarrival_us: number | null
                max_interarrival_us: number | null
                body_bytes: number
                histogram: {
                  unit: 'us'
                  edges_us: number[]
                  counts: number[]
                  overflow_count: number
                }
                cadence_residual_p95_us: number | null
                observed_id_gap: number | null
                duplicate_id: number | null
                arrival_reorder: number | null
              }[]
            | null
          participant: number
          label: string | null
          started_at_unix_us: number | null
          span_us: number | null
          clock_uncertainty_us: number | null
          truncated: boolean
        }[]
        next_after?: string
      }>
      report(input: { params: { report_id: string }; query: {} }): Promise<{
        report_id: string
        capture_id: string
        generation: number
        decoder_version: number
        analyzer_version: number
        options_hash: string
        status: 'no_analysis' | 'pending' | 'no_data' | 'partial' | 'complete' | 'failed'
        raw_available?: boolean
        created_at_unix_ms: number
        quality: {
          status: 'no_data' | 'partial' | 'complete'
          sample_count: number
          excluded_count: number
          overwritten_count: number
          malformed_count: number
          clock_uncertain: boolean
        } | null
        summaries: {
          key: {
            participant: number
            packet_kind: number
            direction: 'inbound' | 'outbound'
            delivery: 'reliable' | 'datagram'
            gameplay_epoch: number
          }
          metric_label: 'interarrival'
          unit: 'us'
          quality: 'ok' | 'few_samples'
          mean_interarrival_us: number | null
          p50_interarrival_us: number | null
          p95_interarrival_us: number | null
          p99_interarrival_us: number | null
          max_interarrival_us: number | null
          body_bytes: number
          histogram: { unit: 'us'; edges_us: number[]; counts: number[]; overflow_count: number }
          cadence_residual_p95_us: number | null
          observed_id_gap: number | null
          duplicate_id: number | null
          arrival_reorder: number | null
        }[]
        server:
          | {
              key: {
                participant: number
                packet_kind: number
                direction: 'inbound' | 'outbound'
                delivery: 'reliable' | 'datagram'
                gameplay_epoch: number
              }
              metric_label: 'interarrival'
              unit: 'us'
              quality: 'ok' | 'few_samples'
              mean_interarrival_us: number | null
              p50_interarrival_us: number | null
              p95_interarrival_us: number | null
              p99_interarrival_us: number | null
              max_interarrival_us: number | null
              body_bytes: number
              histogram: {
                unit: 'us'
                edges_us: number[]
                counts: number[]
                overflow_count: number
              }
              cadence_residual_p95_us: number | null
              observed_id_gap: number | null
              duplicate_id: number | null
              arrival_reorder: number | null
            }[]
          | null
        participant: number
        label: string | null
        started_at_unix_us: number | null
        span_us: number | null
        clock_uncertainty_us: number | null
        truncated: boolean
      }>
      windows(input: { params: { report_id: string }; query: {} }): Promise<{
        report_id: string
        windows: {
          key: {
            participant: number
            packet_kind: number
            direction: 'inbound' | 'outbound'
            delivery: 'reliable' | 'datagram'
            gameplay_epoch: number
          }
          start_elapsed_us: number
          end_elapsed_us: number
          sample_count: number
          mean_interarrival_us: number | null
          p95_interarrival_us: number | null
          max_interarrival_us: number | null
          body_bytes: number
          observed_id_gap: number | null
          duplicate_id: number | null
          arrival_reorder: number | null
        }[]
        truncated: boolean
      }>
      captures(input: {
        query: {
          after?: string
          limit?: string
          state?: 'live' | 'over'
          label?: string
          match_id?: string
        }
      }): Promise<{
        items: {
          capture_id: string
          generation: number
          state: 'recording' | 'minting' | 'flushing' | 'sealed' | 'expired'
          created_at_unix_ms: number
          deadline_unix_ms: number
          label: string | null
          node_id: string
          match_id: string | null
          recorders: {
            offered: number
            recording: number
            failed: number
            flushing: number
            uploaded: number
            missed: number
            gone: number
          }
          report_count: number
          latest_report_status:
            | 'no_analysis'
            | 'pending'
            | 'no_data'
            | 'partial'
            | 'complete'
            | 'failed'
            | null
          raw_available?: boolean
          raw_artifact_count?: number
          raw_compressed_bytes?: number
          latest_raw_received_at_unix_ms?: number | null
        }[]
        next_after?: string
      }>
      raw(input: {
        params: { capture_id: string }
        query: { after?: string; limit?: string }
        idempotencyKey?: string
      }): Promise<{
        items: {
          handle: string
          generation: number
          received_at_unix_ms: number
          compressed_bytes: number
          record_count: number
        }[]
        next_after?: string
      }>
      download(input: {
        params: { capture_id: string; handle: string }
        query: {}
        idempotencyKey?: string
      }): Promise<undefined>
      deleteRaw(input: {
        params: { capture_id: string; handle: string }
        query: {}
        idempotencyKey?: string
      }): Promise<undefined>
      regenerate(input: {
        params: { capture_id: string }
        query: {}
        body: {
          handle: string
          options?: { send_rate_hz?: number | null; max_windows?: number | null } | null
        }
        idempotencyKey?: string
      }): Promise<{ outcome: 'complete' | 'joined' | 'busy' | 'failed'; report_id?: string }>
    }
  }
}
