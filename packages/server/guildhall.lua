---@meta guildhall
-- Generated from packages/contract/src/script; run `npm run docs`.

---@alias guildhall.Code "invalid_argument"|"not_found"|"conflict"|"forbidden"|"unavailable"|"timeout"|"limit_exceeded"|"http_error"|"internal"

---@class guildhall.Error
---@field code guildhall.Code
---@field message string
---@field index? integer of several operations, which one failed first
---@field reason? string of an http_error, which rule

---@class guildhall.Context
---@field sender integer
---@field user_id? string
---@field username? string
---@field room_id? integer
---@field match_id? string
---@field origin string

---@class guildhall.Session
---@field participant integer
---@field user_id? string
---@field username? string
---@field room_id? integer

---@class guildhall.Room
---@field room_id integer
---@field match_id string
---@field name? string
---@field map string
---@field mode string
---@field max_players integer
---@field open boolean
---@field tick boolean
---@field listed boolean
---@field properties any
---@field players integer

---@class guildhall.RoomMember
---@field participant integer
---@field user_id? string
---@field username? string
---@field connected boolean

---@class guildhall.Label
---@field map? string
---@field mode? string
---@field max_players? integer
---@field open? boolean
---@field tick? boolean
---@field listed? boolean
---@field properties? any

---@class guildhall.Object
---@field value any
---@field version string
---@field read_permission integer
---@field write_permission integer

---@class guildhall.ObjectRow
---@field user_id? string
---@field collection string
---@field key string
---@field value any
---@field version string
---@field read_permission integer
---@field write_permission integer

---@class guildhall.Range
---@field gte? string|number
---@field gt? string|number
---@field lte? string|number
---@field lt? string|number

---@class guildhall.LedgerEntry
---@field seq integer
---@field user_id string
---@field currency string
---@field delta integer
---@field balance_after integer
---@field reason string
---@field time_unix_ms integer

---@class guildhall.Leaderboard
---@field id string
---@field sort string
---@field operator string
---@field reset_schedule? string
---@field records integer

---@class guildhall.Record
---@field user_id string
---@field score integer
---@field subscore integer
---@field metadata? any
---@field updated_at_unix_ms integer
---@field submissions integer

---@class guildhall.RankedRecord
---@field rank integer
---@field user_id string
---@field score integer
---@field subscore integer
---@field metadata? any
---@field updated_at_unix_ms integer
---@field submissions integer

---@class guildhall.Tournament
---@field id string
---@field leaderboard_id string
---@field state string
---@field registration_opens_at_unix_ms integer
---@field registration_closes_at_unix_ms integer
---@field starts_at_unix_ms integer
---@field ends_at_unix_ms integer
---@field settled_epoch_due_at_unix_ms? integer
---@field created_at_unix_ms integer
---@field updated_at_unix_ms integer

---@class guildhall.TournamentEntry
---@field tournament_id string
---@field user_id string
---@field registered_at integer

---@class guildhall.TournamentResult
---@field tournament_id string
---@field user_id string
---@field rank integer
---@field score integer
---@field subscore integer

---@class guildhall.Group
---@field id integer
---@field name string
---@field description string
---@field open boolean
---@field max_size integer
---@field member_count integer
---@field created_at_unix_ms integer
---@field members ({ user_id: string, role: string, joined_at_unix_ms: integer })[]

---@class guildhall.GroupSummary
---@field id integer
---@field name string
---@field description string
---@field open boolean
---@field max_size integer
---@field member_count integer
---@field created_at_unix_ms integer

---@class guildhall.Friend
---@field user_id string
---@field state string
---@field updated_unix_ms integer

---@class guildhall.ChatMessage
---@field id integer
---@field sender string
---@field content string
---@field created_at_unix_ms integer
---@field updated_at_unix_ms integer
---@field revision integer
---@field last_event_id integer
---@field deleted boolean

---@class guildhall.ChatEvent
---@field type string
---@field channel_id string
---@field message? { id: integer, sender: string, content: string, created_at_unix_ms: integer, updated_at_unix_ms: integer, revision: integer, last_event_id: integer, deleted: boolean }
---@field presence? { presence_id: string, user_id: string }
---@field expires_at? integer
---@field watermark_event_id? integer

---@class guildhall.Notification
---@field id integer
---@field user_id? string
---@field subject string
---@field content any
---@field code integer
---@field created_at_unix_ms integer
---@field read boolean
---@field read_at_unix_ms? integer

---@class guildhall.Account
---@field user_id string
---@field username string
---@field display_name? string
---@field state string
---@field metadata? any
---@field created_at_unix_ms integer
---@field updated_at_unix_ms integer

---@alias guildhall.Op { op: string, user_id: string, currency: string, delta: integer, reason?: string }|{ op: string, owner?: string, collection: string, key: string, value: any, version?: string, read_permission?: integer, write_permission?: integer }|{ op: string, owner?: string, collection: string, key: string, version?: string }|{ op: string, user_id?: string, subject: string, content?: any, code?: integer, push?: boolean }

---@class guildhall
---@field node_id string
---@field revision_id string
---@field generation integer
---@field tier "trusted"|"sandboxed"
guildhall = {}

guildhall.json = {}

guildhall.matchmaker = {}

guildhall.wallet = {}

guildhall.leaderboards = {}

guildhall.tournaments = {}

guildhall.groups = {}

guildhall.friends = {}

guildhall.chat = {}

guildhall.notifications = {}

guildhall.accounts = {}

guildhall.log = {}

guildhall.match = {}

guildhall.telemetry = {}

guildhall.http = {}

guildhall.lag = {}

---Null inside of JSON.
guildhall.json.null = nil

---Marks a table as a list, which an empty one is not by itself.
---@generic T
---@param t T[]
---@return T[]
function guildhall.json.array(t) end

---Defines rooms with state, by the name that their labels have as mode: a table of handlers, with
---`message` by kind and `rpc` by method, and of tick_hz, sync_hz and decimals. Handlers have
---the room as their last argument: room_id, match_id, name, label, members, state, broadcast,
---send, after.
---@param name string
---@param definition table<string, any>
function guildhall.room(name, definition) end

---Runs first in a fresh worker; calls wait until it has settled, its timers do not.
---@param fn fun(start: { reason: string, state?: any })
function guildhall.on_start(fn) end

---Runs last, before another revision takes over or the node stops; returns the state.
---@param fn fun(unload: { reason: string }): any
function guildhall.on_unload(fn) end

---Runs when a player or guest has connected; its messages and RPCs wait for it.
---@param fn fun(ctx: guildhall.Context)
function guildhall.on_join(fn) end

---Runs when a participant is gone, after its last message, before it leaves its room.
---@param fn fun(ctx: guildhall.Context)
function guildhall.on_leave(fn) end

---Handles messages of one kind: 100 to 65535, or 1 in place of the position relay.
---@param kind integer
---@param fn fun(ctx: { sender: integer, user_id?: string, username?: string, room_id?: integer, match_id?: string, origin: string, kind: integer, unreliable: boolean }, body: string)
function guildhall.on_message(kind, fn) end

---Answers an RPC with bytes, text, nothing or a JSON value, at most 64 KiB.
---@param method string
---@param fn fun(ctx: { sender: integer, user_id?: string, username?: string, room_id?: integer, match_id?: string, origin: string, method: string }, body: string): any
function guildhall.on_rpc(method, fn) end

---Runs runtime.tick_hz times a second: without a room, then in each room with tick.
---@param fn fun(dt: number, room_id: integer)
function guildhall.on_tick(fn) end

---Runs at least once after a board was reset, on one node; again later when it throws.
---@param fn fun(reset: { leaderboard_id: string, due_at_unix_ms: integer, fencing_token: integer })
function guildhall.on_leaderboard_reset(fn) end

---Runs at least once after a tournament has results: the place for rewards.
---@param fn fun(completed: { tournament_id: string, leaderboard_id: string, results_total: integer })
function guildhall.on_tournament_completed(fn) end

---Runs a function at the times of a cron expression in UTC, on one node of the deployment.
---@param name string
---@param cron string
---@param fn fun(run: { name: string, due_at_unix_ms: integer, fencing_token: integer })
function guildhall.schedule(name, cron, fn) end

---Runs when the connection of a participant with a seat is lost, and its seat is kept.
---@param fn fun(ctx: { sender: integer, user_id?: string, username?: string, room_id?: integer, match_id?: string, origin: string, grace_ms: integer, away_ms: integer })
function guildhall.on_drop(fn) end

---Runs when a dropped participant is back; its messages and RPCs wait for it.
---@param fn fun(ctx: { sender: integer, user_id?: string, username?: string, room_id?: integer, match_id?: string, origin: string, grace_ms: integer, away_ms: integer })
function guildhall.on_return(fn) end

---Decides on a room that a client makes: its label, or a refusal.
---@param fn fun(ctx: { sender: integer, user_id?: string, username?: string, room_id?: integer, match_id?: string, origin: string, options: any }, name: string): any
function guildhall.on_room_create(fn) end

---Decides whether a participant may join a room by id or name.
---@param fn fun(ctx: { sender: integer, user_id?: string, username?: string, room_id?: integer, match_id?: string, origin: string, options: any }, room: guildhall.Room): any
function guildhall.on_room_join(fn) end

---Decides on a ticket before it waits: as it was asked for, changed, or refused.
---@param fn fun(ctx: guildhall.Context, request: { query: string, wide_query: string, properties: table<string, string|number>, min_count: integer, max_count: integer, count_multiple: integer, ttl_ms: integer, backfill: boolean, party_id?: string, user_ids: (string)[] }): any
function guildhall.on_matchmaker_add(fn) end

---Labels the room of a match that the matchmaker has made; it cannot refuse.
---@param fn fun(match: { room_id: integer, members: ({ user_id?: string, participant: integer, properties: any })[] }): any
function guildhall.on_matchmaker_matched(fn) end

---Runs when a room has been made.
---@param fn fun(ctx: { room_id: integer, match_id: string, name?: string, map: string, mode: string, max_players: integer, open: boolean, participants: integer })
function guildhall.on_match_created(fn) end

---Runs when the first participant has entered a room.
---@param fn fun(ctx: { room_id: integer, match_id: string, name?: string, map: string, mode: string, max_players: integer, open: boolean, participants: integer })
function guildhall.on_match_started(fn) end

---Runs when a participant has entered a room.
---@param fn fun(ctx: { room_id: integer, match_id: string, name?: string, map: string, mode: string, max_players: integer, open: boolean, participants: integer, participant: integer, user_id?: string, properties?: any })
function guildhall.on_match_join(fn) end

---Runs when a participant has left a room.
---@param fn fun(ctx: { room_id: integer, match_id: string, name?: string, map: string, mode: string, max_players: integer, open: boolean, participants: integer, participant: integer, user_id?: string })
function guildhall.on_match_leave(fn) end

---Runs when a room has ended; a result that it sets still counts.
---@param fn fun(ctx: { room_id: integer, match_id: string, name?: string, map: string, mode: string, max_players: integer, open: boolean, participants: integer, termination_reason: string })
function guildhall.on_match_ended(fn) end

---Decides, at once, whether an object of a storage index is indexed.
---@param index string
---@param fn fun(candidate: { user_id?: string, collection: string, key: string, value: any }): any
function guildhall.register_storage_index_filter(index, fn) end

---Sends to the sender's room but the sender; without a room, to all of this node.
---@param kind integer
---@param body string
---@param unreliable? boolean
---@param options? { scope?: string, room_id?: integer, topic?: string, except?: (integer)[] }
function guildhall.broadcast(kind, body, unreliable, options) end

---Sends to one participant of this node; an id that nobody has is no error.
---@param session integer
---@param kind integer
---@param body string
---@param unreliable? boolean
function guildhall.send(session, kind, body, unreliable) end

---The connections of this node.
---Suspends the handler.
---@async
---@return (guildhall.Session)[]
function guildhall.session_list() end

---Those of the accounts that are connected to this node now, in the order given.
---Suspends the handler.
---@async
---@param user_ids (string)[]
---@return (string)[]
function guildhall.online(user_ids) end

---Puts a participant into a topic; an unknown one is no error.
---@param topic string
---@param participant integer
function guildhall.topic_join(topic, participant) end

---Takes a participant out of a topic.
---@param topic string
---@param participant integer
function guildhall.topic_leave(topic, participant) end

---The rooms of this node.
---Suspends the handler.
---@async
---@return (guildhall.Room)[]
function guildhall.room_list() end

---Who is in a room of this node; of an unknown room nobody.
---Suspends the handler.
---@async
---@param room_id integer
---@return (guildhall.RoomMember)[]
function guildhall.room_members(room_id) end

---Changes the label of a room; members that are not given stay.
---@param room_id integer
---@param label guildhall.Label
function guildhall.room_update(room_id, label) end

---Takes a participant out of a room; the last one ends the room.
---@param room_id integer
---@param participant integer
function guildhall.room_remove(room_id, participant) end

---Runs a function once after a time, without sender and room; timers end with the worker.
---@param delay_ms integer
---@param fn fun()
---@return integer
function guildhall.after(delay_ms, fn) end

---Runs a function each interval; a run is skipped while the one before has not settled.
---@param interval_ms integer
---@param fn fun()
---@return integer
function guildhall.every(interval_ms, fn) end

---Waits; other handlers run meanwhile. The time of the whole call still holds.
---Suspends the handler.
---@async
---@param ms integer
function guildhall.sleep(ms) end

---Stops a timer; false if there is none (any more).
---@param timer integer
---@return boolean
function guildhall.cancel(timer) end

---Wall time of the node in Unix milliseconds.
---@return integer
function guildhall.now_ms() end

---Takes one of the tokens of a key, which come back evenly over the window; false if none.
---@param key string
---@param limit integer
---@param window_ms integer
---@return boolean
function guildhall.allow(key, limit, window_ms) end

---Ends an RPC handler with an error text of 1 to 256 bytes for the client, and a code and data of at most 4 KiB of JSON for its program. In a hook that answers nothing it drops what the slice has done.
---@param text string
---@param options? { code?: string, data?: any }
---@return nil
function guildhall.fail(text, options) end

---Writes a line to the node's own log at once, at most 100 a second and 4,096 characters.
---@param message string
---@param level? string
function guildhall.trace(message, level) end

---An integer from 0 to 2^64 - 1 as 8 bytes, the highest first.
---@param n integer|number
---@return string
function guildhall.pack_u64(n) end

---A value as JSON in UTF-8 without white space; a bigint becomes a JSON integer.
---@param value? any
---@return string
function guildhall.json.encode(value) end

---The value of a JSON text of at most 64 levels; integers beyond 2^53 are bigint.
---@param body string
---@return any
function guildhall.json.decode(body) end

---Offers free seats of a running room to waiting tickets, and returns the id of the offer.
---Suspends the handler.
---@async
---@param room_id integer
---@param seats integer
---@param properties? table<string, string|number>
---@param options? { query?: string, ttl_ms?: integer }
---@return string
function guildhall.matchmaker.backfill(room_id, seats, properties, options) end

---Ends an offer; tokens that were given stay valid. False if there is none.
---Suspends the handler.
---@async
---@param ticket_id string
---@return boolean
function guildhall.matchmaker.backfill_cancel(ticket_id) end

---The seats left of an offer and the tokens not yet used, or null.
---Suspends the handler.
---@async
---@param ticket_id string
---@return { seats: integer, waiting: integer }
function guildhall.matchmaker.backfill_status(ticket_id) end

---One stored object, or null.
---Suspends the handler.
---@async
---@param owner? string
---@param collection string
---@param key string
---@param options? { as?: string, raw?: boolean }
---@return { value: any, version: string, read_permission: integer, write_permission: integer }
---@overload async fun(owner: string, collection: string, key: string, options: { raw: true, [string]: any }): string
function guildhall.storage_read(owner, collection, key, options) end

---Stores an object whole; with a version only in place of that one, "" only creates.
---Suspends the handler.
---@async
---@param owner? string
---@param collection string
---@param key string
---@param value any
---@param options? { version?: string, read_permission?: integer, write_permission?: integer, as?: string }
---@return { version: string }
function guildhall.storage_write(owner, collection, key, value, options) end

---Removes an object; false if there was none.
---Suspends the handler.
---@async
---@param owner? string
---@param collection string
---@param key string
---@param options? { version?: string, as?: string }
---@return boolean
function guildhall.storage_delete(owner, collection, key, options) end

---A page of the objects of one owner in a collection, by key.
---Suspends the handler.
---@async
---@param owner? string
---@param collection string
---@param options? { prefix?: string, after?: string, limit?: integer, as?: string, raw?: boolean }
---@return { items: (guildhall.ObjectRow)[], next?: string }
---@overload async fun(owner: string, collection: string, options: { raw: true, [string]: any }): string
function guildhall.storage_list(owner, collection, options) end

---A page of the objects of an index whose fields fit all the filters.
---Suspends the handler.
---@async
---@param index string
---@param filters table<string, string|number|boolean|guildhall.Range>
---@param options? { limit?: integer, after?: string, order?: string, as?: string, raw?: boolean }
---@return { items: (guildhall.ObjectRow)[], next?: string }
---@overload async fun(index: string, filters: table<string, string|number|boolean|guildhall.Range>, options: { raw: true, [string]: any }): string
function guildhall.storage_index_query(index, filters, options) end

---Up to 100 writes and deletes, values of at most 4 MiB in all: all of them or none.
---Suspends the handler.
---@async
---@param ops ({ op: string, owner?: string, collection: string, key: string, value: any, version?: string, read_permission?: integer, write_permission?: integer }|{ op: string, owner?: string, collection: string, key: string, version?: string })[]
---@param options? { as?: string }
---@return ({ version: string }|{ removed: boolean })[]
function guildhall.storage_write_many(ops, options) end

---Up to 64 operations in one transaction: all of them or none, in their order.
---Suspends the handler.
---@async
---@param ops (guildhall.Op)[]
---@param options? { idempotency_key?: string, as?: string }
---@return { replayed: boolean, results: ({ balance: integer, seq: integer }|{ version: string }|{ removed: boolean }|{ id: integer })[] }
function guildhall.transact(ops, options) end

---The balances of an account by currency.
---Suspends the handler.
---@async
---@param user_id string
---@return table<string, integer>
function guildhall.wallet.get(user_id) end

---Adds to or takes from a balance; never below zero.
---Suspends the handler.
---@async
---@param user_id string
---@param currency string
---@param delta integer
---@param options? { reason?: string, idempotency_key?: string }
---@return { balance: integer, seq: integer, replayed: boolean }
function guildhall.wallet.adjust(user_id, currency, delta, options) end

---The bookings of an account, newest first; `before` compares seq.
---Suspends the handler.
---@async
---@param user_id string
---@param options? { limit?: integer, offset?: integer, before?: integer, raw?: boolean }
---@return (guildhall.LedgerEntry)[]
---@overload async fun(user_id: string, options: { raw: true, [string]: any }): string
function guildhall.wallet.ledger(user_id, options) end

---Moves an amount of one currency from one account to another, all or nothing.
---Suspends the handler.
---@async
---@param from string
---@param to string
---@param currency string
---@param amount integer
---@param options? { reason?: string, idempotency_key?: string }
---@return { from: { balance: integer, seq: integer }, to: { balance: integer, seq: integer }, replayed: boolean }
function guildhall.wallet.transfer(from, to, currency, amount, options) end

---All boards by id.
---Suspends the handler.
---@async
---@param options? { raw?: boolean }
---@return (guildhall.Leaderboard)[]
---@overload async fun(options: { raw: true, [string]: any }): string
function guildhall.leaderboards.list(options) end

---Opens a board; the best score counts by default. Resets need execute_reset_schedules.
---Suspends the handler.
---@async
---@param board { id: string, sort?: string, operator?: string, reset_schedule?: string }
---@return guildhall.Leaderboard
function guildhall.leaderboards.create(board) end

---Ends a board and all its records; false if there was none. Its tournaments stay.
---Suspends the handler.
---@async
---@param board string
---@return boolean
function guildhall.leaderboards.delete(board) end

---Submits a score under the rule of the board, and returns the record that counts now.
---Suspends the handler.
---@async
---@param board string
---@param user_id string
---@param score integer
---@param options? { subscore?: integer, metadata?: any }
---@return guildhall.Record
function guildhall.leaderboards.submit(board, user_id, score, options) end

---The record of a user with its rank, or null.
---Suspends the handler.
---@async
---@param board string
---@param user_id string
---@param options? { raw?: boolean }
---@return { rank: integer, user_id: string, score: integer, subscore: integer, metadata?: any, updated_at_unix_ms: integer, submissions: integer }
---@overload async fun(board: string, user_id: string, options: { raw: true, [string]: any }): string
function guildhall.leaderboards.get(board, user_id, options) end

---Records by rank; total is the number of all.
---Suspends the handler.
---@async
---@param board string
---@param options? { limit?: integer, offset?: integer, raw?: boolean }
---@return { total: integer, items: (guildhall.RankedRecord)[] }
---@overload async fun(board: string, options: { raw: true, [string]: any }): string
function guildhall.leaderboards.records(board, options) end

---Removes a user's record; false if there was none.
---Suspends the handler.
---@async
---@param board string
---@param user_id string
---@return boolean
function guildhall.leaderboards.remove(board, user_id) end

---A user's record between those that rank right before and after it.
---Suspends the handler.
---@async
---@param board string
---@param user_id string
---@param before integer
---@param after integer
---@param options? { raw?: boolean }
---@return (guildhall.RankedRecord)[]
---@overload async fun(board: string, user_id: string, before: integer, after: integer, options: { raw: true, [string]: any }): string
function guildhall.leaderboards.around(board, user_id, before, after, options) end

---The records of up to 100 users by rank; users without one are left out.
---Suspends the handler.
---@async
---@param board string
---@param user_ids (string)[]
---@param options? { raw?: boolean }
---@return (guildhall.RankedRecord)[]
---@overload async fun(board: string, user_ids: (string)[], options: { raw: true, [string]: any }): string
function guildhall.leaderboards.of_users(board, user_ids, options) end

---All tournaments by start time, then id.
---Suspends the handler.
---@async
---@return (guildhall.Tournament)[]
function guildhall.tournaments.list() end

---One tournament, or null.
---Suspends the handler.
---@async
---@param id string
---@return { id: string, leaderboard_id: string, state: string, registration_opens_at_unix_ms: integer, registration_closes_at_unix_ms: integer, starts_at_unix_ms: integer, ends_at_unix_ms: integer, settled_epoch_due_at_unix_ms?: integer, created_at_unix_ms: integer, updated_at_unix_ms: integer }
function guildhall.tournaments.get(id) end

---Drafts a tournament; its board need not exist yet.
---Suspends the handler.
---@async
---@param definition { id: string, leaderboard_id: string, registration_opens_at_unix_ms: integer, registration_closes_at_unix_ms: integer, starts_at_unix_ms: integer, ends_at_unix_ms: integer }
---@return guildhall.Tournament
function guildhall.tournaments.create(definition) end

---Opens the registration, starts or cancels a tournament, under the rules of operators.
---Suspends the handler.
---@async
---@param id string
---@param to string
---@return guildhall.Tournament
function guildhall.tournaments.transition(id, to) end

---Registers an active account while registration is open; a repeat changes nothing.
---Suspends the handler.
---@async
---@param id string
---@param user_id string
---@return guildhall.TournamentEntry
function guildhall.tournaments.register(id, user_id) end

---Who is registered, by the time of registering.
---Suspends the handler.
---@async
---@param id string
---@return (guildhall.TournamentEntry)[]
function guildhall.tournaments.entries(id) end

---The final ranking by rank; empty before the settlement.
---Suspends the handler.
---@async
---@param id string
---@return (guildhall.TournamentResult)[]
function guildhall.tournaments.results(id) end

---Founds a group; the creator becomes its superadmin.
---Suspends the handler.
---@async
---@param group { name: string, creator_user_id: string, description?: string, open?: boolean, max_size?: integer }
---@return guildhall.Group
function guildhall.groups.create(group) end

---Groups by id; the filter is a substring of the name.
---Suspends the handler.
---@async
---@param options? { filter?: string, limit?: integer, offset?: integer, raw?: boolean }
---@return { items: (guildhall.GroupSummary)[], total: integer }
---@overload async fun(options: { raw: true, [string]: any }): string
function guildhall.groups.list(options) end

---One group with its members, or null.
---Suspends the handler.
---@async
---@param id integer
---@return { id: integer, name: string, description: string, open: boolean, max_size: integer, member_count: integer, created_at_unix_ms: integer, members: ({ user_id: string, role: string, joined_at_unix_ms: integer })[] }
function guildhall.groups.get(id) end

---The groups of a user.
---Suspends the handler.
---@async
---@param user_id string
---@return (guildhall.GroupSummary)[]
function guildhall.groups.of_user(user_id) end

---Changes description, open flag or size; the name stays.
---Suspends the handler.
---@async
---@param id integer
---@param patch { description?: string, open?: boolean, max_size?: integer }
---@return guildhall.Group
function guildhall.groups.update(id, patch) end

---Ends a group and its memberships; false if there is none.
---Suspends the handler.
---@async
---@param id integer
---@return boolean
function guildhall.groups.remove(id) end

---Adds a member, last in the order of joining.
---Suspends the handler.
---@async
---@param id integer
---@param user_id string
---@return guildhall.Group
function guildhall.groups.add_member(id, user_id) end

---Moves a member one rung up.
---Suspends the handler.
---@async
---@param id integer
---@param user_id string
---@return guildhall.Group
function guildhall.groups.promote(id, user_id) end

---Moves a member one rung down; the last superadmin stays.
---Suspends the handler.
---@async
---@param id integer
---@param user_id string
---@return guildhall.Group
function guildhall.groups.demote(id, user_id) end

---Removes a member; the last superadmin stays.
---Suspends the handler.
---@async
---@param id integer
---@param user_id string
---@return guildhall.Group
function guildhall.groups.kick(id, user_id) end

---An account's relations, by the other account's id.
---Suspends the handler.
---@async
---@param user_id string
---@return (guildhall.Friend)[]
function guildhall.friends.list(user_id) end

---Invites, or accepts the invitation of the other side.
---Suspends the handler.
---@async
---@param user_id string
---@param other string
---@return (guildhall.Friend)[]
function guildhall.friends.add(user_id, other) end

---Ends the relation on both sides and lifts a block; false if there is none.
---Suspends the handler.
---@async
---@param user_id string
---@param other string
---@return boolean
function guildhall.friends.remove(user_id, other) end

---Blocks the other account and ends the other's relation.
---Suspends the handler.
---@async
---@param user_id string
---@param other string
---@return (guildhall.Friend)[]
function guildhall.friends.block(user_id, other) end

---Appends a message; the first one makes the channel. The sender need not be an account.
---Suspends the handler.
---@async
---@param channel string
---@param sender string
---@param content string
---@param options? { channel_type?: string }
---@return guildhall.ChatMessage
function guildhall.chat.append(channel, sender, content, options) end

---Messages, newest first; an unknown channel is an empty page.
---Suspends the handler.
---@async
---@param channel string
---@param options? { limit?: integer, before?: integer, raw?: boolean }
---@return { items: (guildhall.ChatMessage)[], next?: integer }
---@overload async fun(channel: string, options: { raw: true, [string]: any }): string
function guildhall.chat.history(channel, options) end

---Blanks a message; a repeat changes nothing.
---Suspends the handler.
---@async
---@param channel string
---@param id integer
---@return guildhall.ChatMessage
function guildhall.chat.remove(channel, id) end

---Sends an event (kind 28) to the live connections of up to 1,000 accounts.
---@param user_ids (string)[]
---@param event guildhall.ChatEvent
function guildhall.chat.push(user_ids, event) end

---Stores a notification for one user or, without user_id, for everybody.
---Suspends the handler.
---@async
---@param notification { user_id?: string, subject: string, content?: any, code?: integer, push?: boolean }
---@return guildhall.Notification
function guildhall.notifications.send(notification) end

---A user's notifications and the broadcasts, newest first.
---Suspends the handler.
---@async
---@param user_id string
---@param options? { limit?: integer, before?: integer, raw?: boolean }
---@return (guildhall.Notification)[]
---@overload async fun(user_id: string, options: { raw: true, [string]: any }): string
function guildhall.notifications.list(user_id, options) end

---True for a row addressed to the user, whose time of reading stays; else false.
---Suspends the handler.
---@async
---@param user_id string
---@param id integer
---@return boolean
function guildhall.notifications.mark_read(user_id, id) end

---Removes a notification; false if there is none.
---Suspends the handler.
---@async
---@param id integer
---@return boolean
function guildhall.notifications.remove(id) end

---Sends a notification (kind 27) to accounts, else to the row's user, else to all.
---@param notification guildhall.Notification
---@param user_ids? (string)[]
function guildhall.notifications.push(notification, user_ids) end

---Sends the newest unread rows to a participant, oldest first, and returns how many.
---Suspends the handler.
---@async
---@param participant integer
---@param options? { limit?: integer }
---@return integer
function guildhall.notifications.push_unread(participant, options) end

---One account, or null.
---Suspends the handler.
---@async
---@param user_id string
---@return { user_id: string, username: string, display_name?: string, state: string, metadata?: any, created_at_unix_ms: integer, updated_at_unix_ms: integer }
function guildhall.accounts.get(user_id) end

---The active accounts among up to 100 ids and usernames.
---Suspends the handler.
---@async
---@param keys { user_ids?: (string)[], usernames?: (string)[] }
---@return (guildhall.Account)[]
function guildhall.accounts.lookup(keys) end

---Changes display name or metadata; members that are not given stay.
---Suspends the handler.
---@async
---@param user_id string
---@param patch { display_name?: string, metadata?: any }
---@return guildhall.Account
function guildhall.accounts.update(user_id, patch) end

---Disables an account, revokes its sessions and closes its connections.
---Suspends the handler.
---@async
---@param user_id string
---@return guildhall.Account
function guildhall.accounts.ban(user_id) end

---Enables a disabled account.
---Suspends the handler.
---@async
---@param user_id string
---@return guildhall.Account
function guildhall.accounts.unban(user_id) end

---Writes a durable line and returns its id at once; null without a durable backend.
---@param level string
---@param tag string
---@param message string
---@param payload? any
---@return string
function guildhall.log.write(level, tag, message, payload) end

---Sets the result of the room's match: a JSON object of at most 4,096 bytes, or its text.
---@param result? any
---@return boolean
function guildhall.match.set_result(result) end

---Opens a telemetry slice of the room, or of the node without one; closes the one before.
---@param context? string
function guildhall.telemetry.begin(context) end

---Counts a marker in the open slice; without one, nothing.
---@param marker string
---@param outcome? string
function guildhall.telemetry.mark(marker, outcome) end

---Closes the open slice; without one, nothing.
function guildhall.telemetry.finish() end

---Sends an HTTP request to a public host; a response of any status is a success.
---Suspends the handler.
---@async
---@param request { url: string, method?: string, headers?: table<string, string>, body?: string, timeout_ms?: integer }
---@return { status: integer, headers: table<string, string>, body: string }
function guildhall.http.fetch(request) end

---Asks clients that agreed to it to record when envelopes come; check who asks for it.
---Suspends the handler.
---@async
---@param options { participants?: (integer)[], user_ids?: (string)[], room_id?: integer, label?: string, filters: ({ kind: integer, direction: string })[], duration_ms: integer, max_bytes?: integer, analyze?: boolean, send_rate_hz?: integer }
---@return { capture_id: string, started: (integer)[], skipped: ({ participant: integer, reason: string })[] }
function guildhall.lag.start(options) end

---Asks the recorders of a capture to upload what they have.
---Suspends the handler.
---@async
---@param capture_id string
---@return { attempts: ({ participant: integer, attempt: integer })[], skipped: ({ participant: integer, reason: string })[] }
function guildhall.lag.flush(capture_id) end

---The state of a capture of this boot and of its recorders, or null.
---Suspends the handler.
---@async
---@param capture_id string
---@return { capture_id: string, state: string, deadline_unix_ms: integer, recorders: ({ participant: integer, status: string, attempt: integer, packets: integer, dropped: integer, bytes: integer })[] }
function guildhall.lag.status(capture_id) end

return guildhall
