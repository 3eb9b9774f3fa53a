# Generated from packages/contract/src/script; run `npm run docs`.
import builtins
from typing import Any, Callable, Iterator, Literal, NoReturn, TypeVar, overload

Handler = TypeVar("Handler", bound=Callable[..., Any])

node_id: str
revision_id: str
generation: int
tier: Literal["trusted", "sandboxed"]

class Error(Exception):
    code: Literal["invalid_argument", "not_found", "conflict", "forbidden", "unavailable", "timeout", "limit_exceeded", "http_error", "internal"]
    message: str
    index: int | None
    reason: str | None

class Row:
    """What the host answers: members are attributes and keys."""
    def __getitem__(self, name: str) -> Any: ...
    def __setitem__(self, name: str, value: Any) -> None: ...
    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def get(self, name: str, default: Any = ...) -> Any: ...

class StateRoom:
    room_id: int
    match_id: str
    name: str | None
    label: Any
    members: list[Row]
    state: Any
    def broadcast(self, kind: int, body: bytes | str, **options: Any) -> None: ...
    def send(self, participant: int, kind: int, body: bytes | str, **options: Any) -> None: ...
    def after(self, ms: int, fn: Callable[[], Any]) -> int: ...

def room(name: str, definition: dict[str, Any] | None = None, **members: Any) -> None:
    """Defines rooms with state, by the name that their labels have as mode: handlers, with
    `message` by kind and `rpc` by method, and tick_hz, sync_hz, decimals."""

class Context(Row):
    sender: int
    user_id: str | None
    username: str | None
    room_id: int | None
    match_id: str | None
    origin: str

class Session(Row):
    participant: int
    user_id: str | None
    username: str | None
    room_id: int | None

class Room(Row):
    room_id: int
    match_id: str
    name: str | None
    map: str
    mode: str
    max_players: int
    open: bool
    tick: bool
    listed: bool
    properties: Any
    players: int

class RoomMember(Row):
    participant: int
    user_id: str | None
    username: str | None
    connected: bool

class Label(Row):
    map: str
    mode: str
    max_players: int
    open: bool
    tick: bool
    listed: bool
    properties: Any

class Object(Row):
    value: Any
    version: str
    read_permission: int
    write_permission: int

class ObjectRow(Row):
    user_id: str | None
    collection: str
    key: str
    value: Any
    version: str
    read_permission: int
    write_permission: int

class Range(Row):
    gte: str | int | float
    gt: str | int | float
    lte: str | int | float
    lt: str | int | float

class LedgerEntry(Row):
    seq: int
    user_id: str
    currency: str
    delta: int
    balance_after: int
    reason: str
    time_unix_ms: int

class Leaderboard(Row):
    id: str
    sort: str
    operator: str
    reset_schedule: str | None
    records: int

class Record(Row):
    user_id: str
    score: int
    subscore: int
    metadata: Any
    updated_at_unix_ms: int
    submissions: int

class RankedRecord(Row):
    rank: int
    user_id: str
    score: int
    subscore: int
    metadata: Any
    updated_at_unix_ms: int
    submissions: int

class Tournament(Row):
    id: str
    leaderboard_id: str
    state: str
    registration_opens_at_unix_ms: int
    registration_closes_at_unix_ms: int
    starts_at_unix_ms: int
    ends_at_unix_ms: int
    settled_epoch_due_at_unix_ms: int | None
    created_at_unix_ms: int
    updated_at_unix_ms: int

class TournamentEntry(Row):
    tournament_id: str
    user_id: str
    registered_at: int

class TournamentResult(Row):
    tournament_id: str
    user_id: str
    rank: int
    score: int
    subscore: int

class Group(Row):
    id: int
    name: str
    description: str
    open: bool
    max_size: int
    member_count: int
    created_at_unix_ms: int
    members: builtins.list[Any]

class GroupSummary(Row):
    id: int
    name: str
    description: str
    open: bool
    max_size: int
    member_count: int
    created_at_unix_ms: int

class Friend(Row):
    user_id: str
    state: str
    updated_unix_ms: int

class ChatMessage(Row):
    id: int
    sender: str
    content: str
    created_at_unix_ms: int
    updated_at_unix_ms: int
    revision: int
    last_event_id: int
    deleted: bool

class ChatEvent(Row):
    type: str
    channel_id: str
    message: Any
    presence: Any
    expires_at: int | None
    watermark_event_id: int | None

class Notification(Row):
    id: int
    user_id: str | None
    subject: str
    content: Any
    code: int
    created_at_unix_ms: int
    read: bool
    read_at_unix_ms: int | None

class Account(Row):
    user_id: str
    username: str
    display_name: str | None
    state: str
    metadata: Any
    created_at_unix_ms: int
    updated_at_unix_ms: int

Op = Any

@overload
def on_start(fn: Handler) -> Handler: ...
@overload
def on_start() -> Callable[[Handler], Handler]:
    """Runs first in a fresh worker; calls wait until it has settled, its timers do not. Its handler, also decorated: fn(start)."""

@overload
def on_unload(fn: Handler) -> Handler: ...
@overload
def on_unload() -> Callable[[Handler], Handler]:
    """Runs last, before another revision takes over or the node stops; returns the state. Its handler, also decorated: fn(unload)."""

@overload
def on_join(fn: Handler) -> Handler: ...
@overload
def on_join() -> Callable[[Handler], Handler]:
    """Runs when a player or guest has connected; its messages and RPCs wait for it. Its handler, also decorated: fn(ctx: Context)."""

@overload
def on_leave(fn: Handler) -> Handler: ...
@overload
def on_leave() -> Callable[[Handler], Handler]:
    """Runs when a participant is gone, after its last message, before it leaves its room. Its handler, also decorated: fn(ctx: Context)."""

@overload
def on_message(kind: int, fn: Handler) -> Handler: ...
@overload
def on_message(kind: int) -> Callable[[Handler], Handler]:
    """Handles messages of one kind: 100 to 65535, or 1 in place of the position relay. Its handler, also decorated: fn(ctx, body: bytes)."""

@overload
def on_rpc(method: str, fn: Handler) -> Handler: ...
@overload
def on_rpc(method: str) -> Callable[[Handler], Handler]:
    """Answers an RPC with bytes, text, nothing or a JSON value, at most 64 KiB. Its handler, also decorated: fn(ctx, body: bytes)."""

@overload
def on_tick(fn: Handler) -> Handler: ...
@overload
def on_tick() -> Callable[[Handler], Handler]:
    """Runs runtime.tick_hz times a second: without a room, then in each room with tick. Its handler, also decorated: fn(dt: int | float, room_id: int | None)."""

@overload
def on_leaderboard_reset(fn: Handler) -> Handler: ...
@overload
def on_leaderboard_reset() -> Callable[[Handler], Handler]:
    """Runs at least once after a board was reset, on one node; again later when it throws. Its handler, also decorated: fn(reset)."""

@overload
def on_tournament_completed(fn: Handler) -> Handler: ...
@overload
def on_tournament_completed() -> Callable[[Handler], Handler]:
    """Runs at least once after a tournament has results: the place for rewards. Its handler, also decorated: fn(completed)."""

@overload
def schedule(name: str, cron: str, fn: Handler) -> Handler: ...
@overload
def schedule(name: str, cron: str) -> Callable[[Handler], Handler]:
    """Runs a function at the times of a cron expression in UTC, on one node of the deployment. Its handler, also decorated: fn(run)."""

@overload
def on_drop(fn: Handler) -> Handler: ...
@overload
def on_drop() -> Callable[[Handler], Handler]:
    """Runs when the connection of a participant with a seat is lost, and its seat is kept. Its handler, also decorated: fn(ctx)."""

@overload
def on_return(fn: Handler) -> Handler: ...
@overload
def on_return() -> Callable[[Handler], Handler]:
    """Runs when a dropped participant is back; its messages and RPCs wait for it. Its handler, also decorated: fn(ctx)."""

@overload
def on_room_create(fn: Handler) -> Handler: ...
@overload
def on_room_create() -> Callable[[Handler], Handler]:
    """Decides on a room that a client makes: its label, or a refusal. Its handler, also decorated: fn(ctx, name: str | None)."""

@overload
def on_room_join(fn: Handler) -> Handler: ...
@overload
def on_room_join() -> Callable[[Handler], Handler]:
    """Decides whether a participant may join a room by id or name. Its handler, also decorated: fn(ctx, room: Room)."""

@overload
def on_matchmaker_add(fn: Handler) -> Handler: ...
@overload
def on_matchmaker_add() -> Callable[[Handler], Handler]:
    """Decides on a ticket before it waits: as it was asked for, changed, or refused. Its handler, also decorated: fn(ctx: Context, request)."""

@overload
def on_matchmaker_matched(fn: Handler) -> Handler: ...
@overload
def on_matchmaker_matched() -> Callable[[Handler], Handler]:
    """Labels the room of a match that the matchmaker has made; it cannot refuse. Its handler, also decorated: fn(match)."""

@overload
def on_match_created(fn: Handler) -> Handler: ...
@overload
def on_match_created() -> Callable[[Handler], Handler]:
    """Runs when a room has been made. Its handler, also decorated: fn(ctx)."""

@overload
def on_match_started(fn: Handler) -> Handler: ...
@overload
def on_match_started() -> Callable[[Handler], Handler]:
    """Runs when the first participant has entered a room. Its handler, also decorated: fn(ctx)."""

@overload
def on_match_join(fn: Handler) -> Handler: ...
@overload
def on_match_join() -> Callable[[Handler], Handler]:
    """Runs when a participant has entered a room. Its handler, also decorated: fn(ctx)."""

@overload
def on_match_leave(fn: Handler) -> Handler: ...
@overload
def on_match_leave() -> Callable[[Handler], Handler]:
    """Runs when a participant has left a room. Its handler, also decorated: fn(ctx)."""

@overload
def on_match_ended(fn: Handler) -> Handler: ...
@overload
def on_match_ended() -> Callable[[Handler], Handler]:
    """Runs when a room has ended; a result that it sets still counts. Its handler, also decorated: fn(ctx)."""

@overload
def register_storage_index_filter(index: str, fn: Handler) -> Handler: ...
@overload
def register_storage_index_filter(index: str) -> Callable[[Handler], Handler]:
    """Decides, at once, whether an object of a storage index is indexed. Its handler, also decorated: fn(candidate)."""

def broadcast(kind: int, body: bytes | str, unreliable: bool = ..., *, scope: str = ..., room_id: int = ..., topic: str = ..., except_: builtins.list[int] = ...) -> None:
    """Sends to the sender's room but the sender; without a room, to all of this node."""

def send(session: int, kind: int, body: bytes | str, unreliable: bool = ...) -> None:
    """Sends to one participant of this node; an id that nobody has is no error."""

async def session_list() -> builtins.list[Session]:
    """The connections of this node."""

async def online(user_ids: builtins.list[str]) -> builtins.list[str]:
    """Those of the accounts that are connected to this node now, in the order given."""

def topic_join(topic: str, participant: int) -> None:
    """Puts a participant into a topic; an unknown one is no error."""

def topic_leave(topic: str, participant: int) -> None:
    """Takes a participant out of a topic."""

async def room_list() -> builtins.list[Room]:
    """The rooms of this node."""

async def room_members(room_id: int) -> builtins.list[RoomMember]:
    """Who is in a room of this node; of an unknown room nobody."""

def room_update(room_id: int, label: Label | dict[str, Any]) -> None:
    """Changes the label of a room; members that are not given stay."""

def room_remove(room_id: int, participant: int) -> None:
    """Takes a participant out of a room; the last one ends the room."""

def after(delay_ms: int, fn: Callable[[], Any]) -> int:
    """Runs a function once after a time, without sender and room; timers end with the worker."""

def every(interval_ms: int, fn: Callable[[], Any]) -> int:
    """Runs a function each interval; a run is skipped while the one before has not settled."""

async def sleep(ms: int) -> None:
    """Waits; other handlers run meanwhile. The time of the whole call still holds."""

def cancel(timer: int) -> bool:
    """Stops a timer; false if there is none (any more)."""

def now_ms() -> int:
    """Wall time of the node in Unix milliseconds."""

def allow(key: str, limit: int, window_ms: int) -> bool:
    """Takes one of the tokens of a key, which come back evenly over the window; false if none."""

def fail(text: str, *, code: str = ..., data: Any = ...) -> NoReturn:
    """Ends an RPC handler with an error text of 1 to 256 bytes for the client, and a code and data of at most 4 KiB of JSON for its program. In a hook that answers nothing it drops what the slice has done."""

def trace(message: str, level: str = ...) -> None:
    """Writes a line to the node's own log at once, at most 100 a second and 4,096 characters."""

def pack_u64(n: int | int | float) -> bytes:
    """An integer from 0 to 2^64 - 1 as 8 bytes, the highest first."""

@overload
async def storage_read(owner: str | None, collection: str, key: str, *, as_: str | None = ..., raw: Literal[True]) -> bytes: ...
@overload
async def storage_read(owner: str | None, collection: str, key: str, *, as_: str | None = ..., raw: Literal[False] | None = ...) -> Any:
    """One stored object, or null."""

async def storage_write(owner: str | None, collection: str, key: str, value: Any, *, version: str | None = ..., read_permission: int | None = ..., write_permission: int | None = ..., as_: str | None = ...) -> Any:
    """Stores an object whole; with a version only in place of that one, "" only creates."""

async def storage_delete(owner: str | None, collection: str, key: str, *, version: str | None = ..., as_: str | None = ...) -> bool:
    """Removes an object; false if there was none."""

@overload
async def storage_list(owner: str | None, collection: str, *, prefix: str | None = ..., after: str | None = ..., limit: int | None = ..., as_: str | None = ..., raw: Literal[True]) -> bytes: ...
@overload
async def storage_list(owner: str | None, collection: str, *, prefix: str | None = ..., after: str | None = ..., limit: int | None = ..., as_: str | None = ..., raw: Literal[False] | None = ...) -> Any:
    """A page of the objects of one owner in a collection, by key."""

@overload
async def storage_index_query(index: str, filters: dict[str, Any], *, limit: int | None = ..., after: str | None = ..., order: str | None = ..., as_: str | None = ..., raw: Literal[True]) -> bytes: ...
@overload
async def storage_index_query(index: str, filters: dict[str, Any], *, limit: int | None = ..., after: str | None = ..., order: str | None = ..., as_: str | None = ..., raw: Literal[False] | None = ...) -> Any:
    """A page of the objects of an index whose fields fit all the filters."""

async def storage_write_many(ops: builtins.list[Any], *, as_: str | None = ...) -> builtins.list[Any]:
    """Up to 100 writes and deletes, values of at most 4 MiB in all: all of them or none."""

async def transact(ops: builtins.list[Op], *, idempotency_key: str | None = ..., as_: str | None = ...) -> Any:
    """Up to 64 operations in one transaction: all of them or none, in their order."""

class json:
    @staticmethod
    def encode(value: Any) -> bytes:
        """A value as JSON in UTF-8 without white space; a bigint becomes a JSON integer."""
    @staticmethod
    def decode(body: bytes | str) -> Any:
        """The value of a JSON text of at most 64 levels; integers beyond 2^53 are bigint."""

class matchmaker:
    @staticmethod
    async def backfill(room_id: int, seats: int, properties: dict[str, Any] = ..., *, query: str | None = ..., ttl_ms: int | None = ...) -> str:
        """Offers free seats of a running room to waiting tickets, and returns the id of the offer."""
    @staticmethod
    async def backfill_cancel(ticket_id: str) -> bool:
        """Ends an offer; tokens that were given stay valid. False if there is none."""
    @staticmethod
    async def backfill_status(ticket_id: str) -> Any:
        """The seats left of an offer and the tokens not yet used, or null."""

class wallet:
    @staticmethod
    async def get(user_id: str) -> dict[str, int]:
        """The balances of an account by currency."""
    @staticmethod
    async def adjust(user_id: str, currency: str, delta: int, *, reason: str | None = ..., idempotency_key: str | None = ...) -> Any:
        """Adds to or takes from a balance; never below zero."""
    @overload
    @staticmethod
    async def ledger(user_id: str, *, limit: int | None = ..., offset: int | None = ..., before: int | None = ..., raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def ledger(user_id: str, *, limit: int | None = ..., offset: int | None = ..., before: int | None = ..., raw: Literal[False] | None = ...) -> builtins.list[LedgerEntry]:
        """The bookings of an account, newest first; `before` compares seq."""
    @staticmethod
    async def transfer(from_: str, to: str, currency: str, amount: int, *, reason: str | None = ..., idempotency_key: str | None = ...) -> Any:
        """Moves an amount of one currency from one account to another, all or nothing."""

class leaderboards:
    @overload
    @staticmethod
    async def list(*, raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def list(*, raw: Literal[False] | None = ...) -> builtins.list[Leaderboard]:
        """All boards by id."""
    @staticmethod
    async def create(board: Any) -> Leaderboard:
        """Opens a board; the best score counts by default. Resets need execute_reset_schedules."""
    @staticmethod
    async def delete(board: str) -> bool:
        """Ends a board and all its records; false if there was none. Its tournaments stay."""
    @staticmethod
    async def submit(board: str, user_id: str, score: int, *, subscore: int | None = ..., metadata: Any = ...) -> Record:
        """Submits a score under the rule of the board, and returns the record that counts now."""
    @overload
    @staticmethod
    async def get(board: str, user_id: str, *, raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def get(board: str, user_id: str, *, raw: Literal[False] | None = ...) -> Any:
        """The record of a user with its rank, or null."""
    @overload
    @staticmethod
    async def records(board: str, *, limit: int | None = ..., offset: int | None = ..., raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def records(board: str, *, limit: int | None = ..., offset: int | None = ..., raw: Literal[False] | None = ...) -> Any:
        """Records by rank; total is the number of all."""
    @staticmethod
    async def remove(board: str, user_id: str) -> bool:
        """Removes a user's record; false if there was none."""
    @overload
    @staticmethod
    async def around(board: str, user_id: str, before: int, after: int, *, raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def around(board: str, user_id: str, before: int, after: int, *, raw: Literal[False] | None = ...) -> builtins.list[RankedRecord]:
        """A user's record between those that rank right before and after it."""
    @overload
    @staticmethod
    async def of_users(board: str, user_ids: builtins.list[str], *, raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def of_users(board: str, user_ids: builtins.list[str], *, raw: Literal[False] | None = ...) -> builtins.list[RankedRecord]:
        """The records of up to 100 users by rank; users without one are left out."""

class tournaments:
    @staticmethod
    async def list() -> builtins.list[Tournament]:
        """All tournaments by start time, then id."""
    @staticmethod
    async def get(id: str) -> Any:
        """One tournament, or null."""
    @staticmethod
    async def create(definition: Any) -> Tournament:
        """Drafts a tournament; its board need not exist yet."""
    @staticmethod
    async def transition(id: str, to: str) -> Tournament:
        """Opens the registration, starts or cancels a tournament, under the rules of operators."""
    @staticmethod
    async def register(id: str, user_id: str) -> TournamentEntry:
        """Registers an active account while registration is open; a repeat changes nothing."""
    @staticmethod
    async def entries(id: str) -> builtins.list[TournamentEntry]:
        """Who is registered, by the time of registering."""
    @staticmethod
    async def results(id: str) -> builtins.list[TournamentResult]:
        """The final ranking by rank; empty before the settlement."""

class groups:
    @staticmethod
    async def create(group: Any) -> Group:
        """Founds a group; the creator becomes its superadmin."""
    @overload
    @staticmethod
    async def list(*, filter: str | None = ..., limit: int | None = ..., offset: int | None = ..., raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def list(*, filter: str | None = ..., limit: int | None = ..., offset: int | None = ..., raw: Literal[False] | None = ...) -> Any:
        """Groups by id; the filter is a substring of the name."""
    @staticmethod
    async def get(id: int) -> Any:
        """One group with its members, or null."""
    @staticmethod
    async def of_user(user_id: str) -> builtins.list[GroupSummary]:
        """The groups of a user."""
    @staticmethod
    async def update(id: int, patch: Any) -> Group:
        """Changes description, open flag or size; the name stays."""
    @staticmethod
    async def remove(id: int) -> bool:
        """Ends a group and its memberships; false if there is none."""
    @staticmethod
    async def add_member(id: int, user_id: str) -> Group:
        """Adds a member, last in the order of joining."""
    @staticmethod
    async def promote(id: int, user_id: str) -> Group:
        """Moves a member one rung up."""
    @staticmethod
    async def demote(id: int, user_id: str) -> Group:
        """Moves a member one rung down; the last superadmin stays."""
    @staticmethod
    async def kick(id: int, user_id: str) -> Group:
        """Removes a member; the last superadmin stays."""

class friends:
    @staticmethod
    async def list(user_id: str) -> builtins.list[Friend]:
        """An account's relations, by the other account's id."""
    @staticmethod
    async def add(user_id: str, other: str) -> builtins.list[Friend]:
        """Invites, or accepts the invitation of the other side."""
    @staticmethod
    async def remove(user_id: str, other: str) -> bool:
        """Ends the relation on both sides and lifts a block; false if there is none."""
    @staticmethod
    async def block(user_id: str, other: str) -> builtins.list[Friend]:
        """Blocks the other account and ends the other's relation."""

class chat:
    @staticmethod
    async def append(channel: str, sender: str, content: str, *, channel_type: str | None = ...) -> ChatMessage:
        """Appends a message; the first one makes the channel. The sender need not be an account."""
    @overload
    @staticmethod
    async def history(channel: str, *, limit: int | None = ..., before: int | None = ..., raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def history(channel: str, *, limit: int | None = ..., before: int | None = ..., raw: Literal[False] | None = ...) -> Any:
        """Messages, newest first; an unknown channel is an empty page."""
    @staticmethod
    async def remove(channel: str, id: int) -> ChatMessage:
        """Blanks a message; a repeat changes nothing."""
    @staticmethod
    def push(user_ids: builtins.list[str], event: ChatEvent | dict[str, Any]) -> None:
        """Sends an event (kind 28) to the live connections of up to 1,000 accounts."""

class notifications:
    @staticmethod
    async def send(notification: Any) -> Notification:
        """Stores a notification for one user or, without user_id, for everybody."""
    @overload
    @staticmethod
    async def list(user_id: str, *, limit: int | None = ..., before: int | None = ..., raw: Literal[True]) -> bytes: ...
    @overload
    @staticmethod
    async def list(user_id: str, *, limit: int | None = ..., before: int | None = ..., raw: Literal[False] | None = ...) -> builtins.list[Notification]:
        """A user's notifications and the broadcasts, newest first."""
    @staticmethod
    async def mark_read(user_id: str, id: int) -> bool:
        """True for a row addressed to the user, whose time of reading stays; else false."""
    @staticmethod
    async def remove(id: int) -> bool:
        """Removes a notification; false if there is none."""
    @staticmethod
    def push(notification: Notification | dict[str, Any], user_ids: builtins.list[str] = ...) -> None:
        """Sends a notification (kind 27) to accounts, else to the row's user, else to all."""
    @staticmethod
    async def push_unread(participant: int, *, limit: int | None = ...) -> int:
        """Sends the newest unread rows to a participant, oldest first, and returns how many."""

class accounts:
    @staticmethod
    async def get(user_id: str) -> Any:
        """One account, or null."""
    @staticmethod
    async def lookup(keys: Any) -> builtins.list[Account]:
        """The active accounts among up to 100 ids and usernames."""
    @staticmethod
    async def update(user_id: str, patch: Any) -> Account:
        """Changes display name or metadata; members that are not given stay."""
    @staticmethod
    async def ban(user_id: str) -> Account:
        """Disables an account, revokes its sessions and closes its connections."""
    @staticmethod
    async def unban(user_id: str) -> Account:
        """Enables a disabled account."""

class log:
    @staticmethod
    def write(level: str, tag: str, message: str, payload: Any = ...) -> str | None:
        """Writes a durable line and returns its id at once; null without a durable backend."""

class match:
    @staticmethod
    def set_result(result: Any) -> bool:
        """Sets the result of the room's match: a JSON object of at most 4,096 bytes, or its text."""

class telemetry:
    @staticmethod
    def begin(context: str = ...) -> None:
        """Opens a telemetry slice of the room, or of the node without one; closes the one before."""
    @staticmethod
    def mark(marker: str, outcome: str = ...) -> None:
        """Counts a marker in the open slice; without one, nothing."""
    @staticmethod
    def finish() -> None:
        """Closes the open slice; without one, nothing."""

class http:
    @staticmethod
    async def fetch(request: Any) -> Any:
        """Sends an HTTP request to a public host; a response of any status is a success."""

class lag:
    @staticmethod
    async def start(*, participants: builtins.list[int] | None = ..., user_ids: builtins.list[str] | None = ..., room_id: int | None = ..., label: str | None = ..., filters: builtins.list[Any], duration_ms: int, max_bytes: int | None = ..., analyze: bool | None = ..., send_rate_hz: int | None = ...) -> Any:
        """Asks clients that agreed to it to record when envelopes come; check who asks for it."""
    @staticmethod
    async def flush(capture_id: str) -> Any:
        """Asks the recorders of a capture to upload what they have."""
    @staticmethod
    async def status(capture_id: str) -> Any:
        """The state of a capture of this boot and of its recorders, or null."""
