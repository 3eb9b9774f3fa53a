/**
 * The script interface of Guildhall, version 0.1. Put this line at the top of a script, with the
 * path to this file, and an editor knows everything below:
 *
 *     /// <reference path="../guildhall.d.ts" />
 *
 * Functions raise an `Error` with a `code` (see `GuildhallErrorCode`) at the call that is wrong.
 */
declare const guildhall: Guildhall

/** Bytes of a message or reply. A string stands for its UTF-8 bytes. */
type GuildhallBytes = Uint8Array | string

/** Whatever JSON can say. */
type GuildhallJson =
  | null
  | boolean
  | number
  | string
  | GuildhallJson[]
  | { [key: string]: GuildhallJson | undefined }

/**
 * `invalid_argument`: a value is out of its bounds or of the wrong type.
 * `not_found`, `conflict`: what the call is about is not there, or not in the right state.
 * `limit_exceeded`: the call would go beyond a limit of one invocation.
 * `timeout`: the invocation was given up; nothing that it still does has an effect.
 * `unavailable`: the node does not offer this (now).
 * `internal`: the node failed at it; its log says how.
 * `forbidden`, `http_error`: not in this version.
 */
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

/** Who a handler runs for. */
type GuildhallContext = {
  /** Participant id of the connection: unique while the node runs. 0 without a sender. */
  readonly sender: number
  /** The account, or null for a guest and without a sender. */
  readonly user_id: string | null
  readonly username: string | null
  /** The room of the sender, or null outside of all rooms. */
  readonly room_id: number | null
  readonly match_id: string | null
  readonly origin: 'player' | 'console' | 'server'
}

type GuildhallMessageContext = GuildhallContext & {
  readonly kind: number
  /** Whether the message came over the unreliable lane. */
  readonly unreliable: boolean
}

type GuildhallRpcContext = GuildhallContext & { readonly method: string }

/** One connected participant of this node. */
type GuildhallSession = {
  participant: number
  user_id: string | null
  username: string | null
  room_id: number | null
}

type GuildhallTournament = {
  id: string
  leaderboard_id: string
  state: 'draft' | 'registration_open' | 'running' | 'finalizing' | 'completed' | 'cancelled'
  registration_opens_at_unix_ms: number
  registration_closes_at_unix_ms: number
  starts_at_unix_ms: number
  ends_at_unix_ms: number
  /** When the reset was due, or the end, whose records were ranked; null before. */
  settled_epoch_due_at_unix_ms: number | null
  created_at_unix_ms: number
  updated_at_unix_ms: number
}

type GuildhallTournamentEntry = { tournament_id: string; user_id: string; registered_at: number }

type GuildhallTournamentResult = {
  tournament_id: string
  user_id: string
  /** From 1, the best. */
  rank: number
  score: bigint
  subscore: bigint
}

/** Tournaments. Operators make them and move them on; the server settles them. */
type GuildhallTournaments = {
  /** All of them, by start time and id. */
  list(): Promise<GuildhallTournament[]>
  /** Null when there is none of this id (1 to 128 bytes). */
  get(id: string): Promise<GuildhallTournament | null>
  /**
   * Registers an account, and answers with its entry; whoever is registered already gets the entry
   * there is. Raises `not_found` for an unknown tournament or account, and `conflict` when the
   * tournament is not in its registration (state and times) or the account is not active.
   *
   * @example await guildhall.tournaments.register('spring-cup', ctx.user_id)
   */
  register(id: string, user_id: string): Promise<GuildhallTournamentEntry>
  /** Who is registered, in the order of registering. Raises `not_found`. */
  entries(id: string): Promise<GuildhallTournamentEntry[]>
  /** The final ranking; empty until the tournament is completed. Raises `not_found`. */
  results(id: string): Promise<GuildhallTournamentResult[]>
}

/** What a handler may return when its result is not looked at. */
type GuildhallDone = void | Promise<void>

type GuildhallReply = GuildhallBytes | GuildhallJson | undefined

type GuildhallRpcHandler =
  | ((ctx: GuildhallRpcContext, body: Uint8Array) => GuildhallReply | Promise<GuildhallReply>)
  | ((ctx: GuildhallRpcContext, body: Uint8Array) => GuildhallDone)

interface Guildhall {
  /** The name of this node. */
  readonly node_id: string
  /** `sha256:` and 64 hex digits: the content of the files of this script. */
  readonly revision_id: string
  /** Grows by 1 with every start of the script on this node; the first is 1. */
  readonly generation: number
  readonly tier: 'trusted' | 'sandboxed'

  /**
   * Runs before every other handler of a fresh worker. `restart` means that the worker before it
   * failed: variables are new, connections are still there, `on_join` does not run again for them.
   *
   * Like every `on_...` function it may be called at the top level of the script only, and once for
   * the same slot; otherwise it raises `invalid_argument`.
   *
   * @example guildhall.on_start(({ reason }) => guildhall.trace(`started: ${reason}`))
   */
  on_start(fn: (start: { reason: 'boot' | 'reload' | 'restart' }) => GuildhallDone): void

  /**
   * Runs when a player or guest has connected. Until it has settled, no message and no RPC of this
   * participant is handled.
   */
  on_join(fn: (ctx: GuildhallContext) => GuildhallDone): void

  /** Runs when a participant is gone, after the last of its messages has been handled. */
  on_leave(fn: (ctx: GuildhallContext) => GuildhallDone): void

  /**
   * Handles messages of one kind: 100 to 65535, or 1 (positions; it replaces the built-in relay of
   * positions on this node). At most 1,000 kinds. Messages of one participant are handled one after
   * the other: the next begins when the promise of this one has settled.
   *
   * @example
   * guildhall.on_message(100, (ctx, body) => {
   *   guildhall.broadcast(100, body)
   * })
   */
  on_message(
    kind: number,
    fn: (ctx: GuildhallMessageContext, body: Uint8Array) => GuildhallDone,
  ): void

  /**
   * Answers an RPC: a name of 1 to 128 bytes that does not begin with `matchmaker.` or `party.`. At
   * most 1,000 methods. The reply may be bytes, text, nothing, or any other value, sent as JSON; at
   * most 64 KiB, else the client reads `RPC reply too large`. When the handler throws, the client
   * reads `RPC handler error`; see `fail` for a text of your own. RPCs of one participant may
   * overlap.
   *
   * @example guildhall.on_rpc('add', (ctx, body) => {
   *   const { a, b } = JSON.parse(new TextDecoder().decode(body))
   *   return { sum: a + b }
   * })
   */
  on_rpc(method: string, fn: GuildhallRpcHandler): void

  /**
   * Runs `runtime.tick_hz` times per second. `dt` is the time since the last tick in seconds; a
   * tick that is due while the last one still runs is skipped, and the next `dt` covers it. At
   * present `room_id` is always null.
   */
  on_tick(fn: (dt: number, room_id: number | null) => GuildhallDone): void

  /**
   * Runs after a board was reset by its schedule, on one node of the deployment. `fencing_token`
   * grows with every reset of a board. Like `on_tournament_completed` it is told at least once: the
   * event is done when the handler returns, and comes again after 1 s, doubling to 5 min, when it
   * throws, for 7 days. So what it does should bear a repeat.
   */
  on_leaderboard_reset(
    fn: (reset: {
      leaderboard_id: string
      due_at_unix_ms: number
      fencing_token: number
    }) => GuildhallDone,
  ): void

  /**
   * Runs after the results of a tournament were written: the place for its rewards.
   *
   * @example
   * guildhall.on_tournament_completed(async ({ tournament_id }) => {
   *   const [winner] = await guildhall.tournaments.results(tournament_id)
   *   if (winner) guildhall.trace(`${winner.user_id} wins with ${winner.score}`)
   * })
   */
  on_tournament_completed(
    fn: (completed: {
      tournament_id: string
      leaderboard_id: string
      results_total: number
    }) => GuildhallDone,
  ): void

  readonly tournaments: GuildhallTournaments

  /**
   * Ends an RPC handler with an error text for the client: 1 to 256 bytes. In other handlers it is
   * an error like any other.
   *
   * @example if (gold < price) guildhall.fail('not enough gold')
   */
  fail(text: string): never

  /**
   * Sends to everybody in the sender's room but the sender; outside of a room, to everybody on
   * every node but the sender. Without a sender (ticks, timers, console) nobody is left out.
   *
   * `kind` is 100 to 65535, or 2 if the script handles kind 1. `body` holds at most 64 KiB, and all
   * bodies of one invocation 1 MiB. `unreliable` is false by default: delivered, and in order.
   * `scope: 'all'` reaches everybody, `room_id` another room; `except` leaves out up to 1,024
   * participants. The message leaves when the slice ends, and not at all if it ends in an error.
   * Raises `invalid_argument` and `limit_exceeded` (1,024 commands per invocation).
   *
   * @example guildhall.broadcast(100, 'the gate is open', false, { scope: 'all' })
   */
  broadcast(
    kind: number,
    body: GuildhallBytes,
    unreliable?: boolean,
    options?: { scope?: 'room' | 'all'; room_id?: number; except?: number[] },
  ): void

  /**
   * Sends to one participant, on any node; an id that nobody has is no error. Otherwise like
   * `broadcast`. Sending the same body to many participants in a row is cheap: it travels once.
   *
   * @example for (const member of party) guildhall.send(member, 101, state)
   */
  send(session: number, kind: number, body: GuildhallBytes, unreliable?: boolean): void

  /**
   * The connections of this node. Suspends the handler: other handlers run until it goes on. At
   * most 64 such calls at a time and 1,024 in one invocation, else `limit_exceeded`.
   */
  session_list(): Promise<GuildhallSession[]>

  /**
   * Runs `fn` once after 1 to 86,400,000 ms, without sender and room. At most 1,000 timers at a
   * time, else `limit_exceeded`. Timers end with their worker.
   *
   * @returns the number that `cancel` takes
   */
  after(delay_ms: number, fn: () => GuildhallDone): number

  /** Stops a timer. False if it has gone off already or there is none. */
  cancel(timer: number): boolean

  /** Wall time of the node in Unix milliseconds. */
  now_ms(): number

  /** An integer from 0 to 2^64 - 1 as 8 bytes, the highest first. */
  pack_u64(n: number | bigint): Uint8Array

  /**
   * Writes a line to the node's own log, at once, also when the slice fails later. The level is
   * `info` by default. At most 100 lines per second; the rest is counted. A message over 4,096
   * characters is cut, and says so.
   */
  trace(message: string, level?: 'trace' | 'debug' | 'info' | 'warn' | 'error'): void
}
