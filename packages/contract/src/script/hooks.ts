import { z } from 'zod'
import { freeObject } from '../values/fields.ts'
import { once, type ReadRows, readRows, type Written } from '../values/once.ts'
import { json, participantId } from './fields.ts'
import { RoomLabel, ScriptRoom } from './rooms.ts'

/** Where a call comes from, as the script reads it in `ctx.origin`. */
export const scriptOrigins = ['player', 'console', 'server'] as const
export type ScriptOrigin = (typeof scriptOrigins)[number]

/** Who a handler runs for. */
export const HookContext = once(() =>
  z.strictObject({
    sender: participantId.meta({ description: 'Participant id; 0 without a sender' }),
    user_id: z.string().nullable().meta({ description: 'Null for a guest and without a sender' }),
    username: z.string().nullable(),
    room_id: z.int().nullable(),
    match_id: z.string().nullable(),
    origin: z.enum(scriptOrigins),
  }),
)
export type HookContext = z.output<ReturnType<typeof HookContext>>

/** A match, after what has happened. */
export const MatchContext = once(() =>
  z.strictObject({
    room_id: z.int(),
    match_id: z.string(),
    name: z.string().nullable(),
    map: z.string(),
    mode: z.string(),
    max_players: z.int(),
    open: z.boolean(),
    participants: z.int().meta({ description: 'How many after the event' }),
  }),
)
export type MatchContext = z.output<ReturnType<typeof MatchContext>>

const MatchMemberContext = once(() =>
  MatchContext().extend({
    participant: z.int(),
    user_id: z.string().nullable(),
  }),
)

const roomOptions = freeObject.meta({ description: 'What the client gave (ROOM_ENTER), else {}' })

/** How long a connection has been lost, and how long its seat is kept, in milliseconds. */
export const SeatTimes = once(() =>
  z.strictObject({
    grace_ms: z.int().meta({ description: 'The time that is left to come back' }),
    away_ms: z.int().meta({ description: 'The time it was gone' }),
  }),
)
export type SeatTimes = z.output<ReturnType<typeof SeatTimes>>
const Drop = once(() => HookContext().extend(SeatTimes().shape))

const labels = once(() => [z.null(), z.string(), RoomLabel()] as const)
/** How a room is to be labelled: a text is its map. */
export const LabelAnswer = once(() => z.union(labels()))
/** The same, or a refusal. */
export const CreateAnswer = once(() =>
  z.union([...labels(), z.literal(false), z.strictObject({ refuse: z.string() })]),
)
/** True admits, false or null refuses, a text refuses with that text. */
export const AdmitAnswer = once(() => z.union([z.null(), z.boolean(), z.string()]))

/** A ticket as its owner wants it, with every member. */
const TicketRequest = once(() =>
  z.strictObject({
    query: z.string(),
    wide_query: z.string(),
    properties: z
      .record(z.string(), z.union([z.string(), z.number(), z.bigint()]))
      .meta({ ts: '{ [name: string]: string | number | bigint }' }),
    min_count: z.int(),
    max_count: z.int(),
    count_multiple: z.int(),
    ttl_ms: z.int(),
    backfill: z.boolean(),
    party_id: z.string().nullable(),
    user_ids: z.array(z.string().nullable()).meta({
      description: 'Of the members, the owner first; null for a guest',
    }),
  }),
)

/** Nothing takes the ticket as it was asked for; members that are given replace those asked. */
const TicketAnswer = once(() =>
  z.union([z.null(), z.strictObject({ refuse: z.string() }), TicketRequest().partial()]),
)

/**
 * A hook of the script API is a value. What the worker calls a handler with, which calls wait for
 * which, `guildhall.d.ts` and the reference page are derived from it.
 */
export type ScriptHook = {
  /** One sentence for the reference and the type declarations. */
  doc: string
  example?: readonly string[]
  /** Its number in the protocol between node and worker; never used for another. */
  code: number
  /** How it is registered: once, or once per kind, method, index or name, a name with its cron. */
  slot: 'one' | 'kind' | 'method' | 'index' | 'cron'
  /**
   * What the handler gets. `context`: a ctx, with the members of the call's payload beside the
   * usual ones. `message` and `rpc`: ctx and body. `payload`: the payload alone. `room`: ctx and
   * the payload; a room's ctx has the options of the client. `request`: ctx and the payload.
   * `tick`: dt and room.
   */
  form: 'context' | 'message' | 'rpc' | 'payload' | 'room' | 'request' | 'tick'
  /** The arguments of the handler, for the type declarations. */
  args: Readonly<Record<string, z.ZodType>>
  /** What the handler answers: an RPC's reply, a state of up to 4 MiB, or a JSON value. */
  answer?: 'reply' | 'state' | z.ZodType
  /** The handler must return at once, not a promise. */
  immediate?: true
  /**
   * Which calls it is in order with. `participant`: strictly one after another. `joined`: after
   * the participant's join. `room`: one after another per room. `none`: with no other.
   */
  lane: 'participant' | 'joined' | 'room' | 'none'
  /** Is taken when the inbox is full: without it the script would have a wrong view. */
  always?: true
  /** Declared and not served yet: registering it raises `unavailable`. */
  planned?: true
}

function defineHooks<
  const H extends Readonly<Record<string, Written<ScriptHook, 'args' | 'answer'>>>,
>(hooks: H): ReadRows<H> {
  return readRows<H>(hooks)
}

const life = { slot: 'one', form: 'context', lane: 'participant', always: true } as const
const match = { slot: 'one', form: 'payload', lane: 'room', always: true } as const

export const scriptHooks = defineHooks({
  on_start: {
    doc: 'Runs first in a fresh worker; calls wait until it has settled, its timers do not.',
    example: ["guildhall.on_start(({ reason }) => guildhall.trace('started: ' + reason))"],
    code: 0,
    slot: 'one',
    form: 'payload',
    args: () => ({
      start: z.strictObject({
        reason: z.enum(['boot', 'reload', 'restart', 'rollback']),
        state: json.meta({
          description: 'What on_unload of the script before returned, else null',
        }),
      }),
    }),
    lane: 'none',
  },
  on_unload: {
    doc: 'Runs last, before another revision takes over or the node stops; returns the state.',
    example: [
      'guildhall.on_unload(() => ({ scores: [...scores] }))',
      'guildhall.on_start(({ state }) => state && restore(state))',
    ],
    code: 20,
    slot: 'one',
    form: 'payload',
    args: () => ({ unload: z.strictObject({ reason: z.enum(['reload', 'stop']) }) }),
    answer: 'state',
    lane: 'none',
  },
  on_join: {
    doc: 'Runs when a player or guest has connected; its messages and RPCs wait for it.',
    code: 1,
    args: () => ({ ctx: HookContext() }),
    ...life,
  },
  on_leave: {
    doc: 'Runs when a participant is gone, after its last message, before it leaves its room.',
    code: 2,
    args: () => ({ ctx: HookContext() }),
    ...life,
  },
  on_message: {
    doc: 'Handles messages of one kind: 100 to 65535, or 1 in place of the position relay.',
    example: ['guildhall.on_message(100, (ctx, body) => guildhall.broadcast(100, body))'],
    code: 3,
    slot: 'kind',
    form: 'message',
    args: () => ({
      ctx: HookContext().extend({
        kind: z.int(),
        unreliable: z.boolean().meta({ description: 'Whether it came over the unreliable lane' }),
      }),
      body: z.custom<Uint8Array>().meta({ ts: 'Uint8Array' }),
    }),
    lane: 'participant',
  },
  on_rpc: {
    doc: 'Answers an RPC with bytes, text, nothing or a JSON value, at most 64 KiB.',
    example: ["guildhall.on_rpc('ping', () => 'pong')"],
    code: 4,
    slot: 'method',
    form: 'rpc',
    args: () => ({
      ctx: HookContext().extend({ method: z.string() }),
      body: z.custom<Uint8Array>().meta({ ts: 'Uint8Array' }),
    }),
    answer: 'reply',
    lane: 'joined',
  },
  on_tick: {
    doc: 'Runs runtime.tick_hz times a second: without a room, then in each room with tick.',
    code: 6,
    slot: 'one',
    form: 'tick',
    args: () => ({
      dt: z.number().meta({ description: 'Seconds since the last tick' }),
      room_id: z.int().nullable(),
    }),
    lane: 'none',
  },
  on_leaderboard_reset: {
    doc: 'Runs at least once after a board was reset, on one node; again later when it throws.',
    code: 7,
    slot: 'one',
    form: 'payload',
    args: () => ({
      reset: z.strictObject({
        leaderboard_id: z.string(),
        due_at_unix_ms: z.int(),
        fencing_token: z.int().meta({ description: 'Grows with every reset of the board' }),
      }),
    }),
    lane: 'none',
  },
  on_tournament_completed: {
    doc: 'Runs at least once after a tournament has results: the place for rewards.',
    example: [
      'guildhall.on_tournament_completed(async ({ tournament_id }) => {',
      '  const [winner] = await guildhall.tournaments.results(tournament_id)',
      '})',
    ],
    code: 8,
    slot: 'one',
    form: 'payload',
    args: () => ({
      completed: z.strictObject({
        tournament_id: z.string(),
        leaderboard_id: z.string(),
        results_total: z.int(),
      }),
    }),
    lane: 'none',
  },
  schedule: {
    doc: 'Runs a function at the times of a cron expression in UTC, on one node of the deployment.',
    example: [
      "guildhall.schedule('cup', '0 18 * * fri', async ({ due_at_unix_ms }) => {",
      '  await openCup(due_at_unix_ms)',
      '})',
    ],
    code: 22,
    slot: 'cron',
    form: 'payload',
    args: () => ({
      run: z.strictObject({
        name: z.string(),
        due_at_unix_ms: z.int().meta({ description: 'When it was due; late runs keep it' }),
        fencing_token: z.int().meta({ description: 'Grows with every due time of the name' }),
      }),
    }),
    lane: 'none',
  },
  on_drop: {
    doc: 'Runs when the connection of a participant with a seat is lost, and its seat is kept.',
    code: 9,
    args: () => ({ ctx: Drop() }),
    ...life,
  },
  on_return: {
    doc: 'Runs when a dropped participant is back; its messages and RPCs wait for it.',
    code: 10,
    args: () => ({ ctx: Drop() }),
    ...life,
  },
  on_room_create: {
    doc: 'Decides on a room that a client makes: its label, or a refusal.',
    code: 11,
    slot: 'one',
    form: 'room',
    args: () => ({
      ctx: HookContext().extend({ options: roomOptions }),
      name: z.string().nullable(),
    }),
    answer: CreateAnswer,
    lane: 'joined',
  },
  on_room_join: {
    doc: 'Decides whether a participant may join a room by id or name.',
    code: 12,
    slot: 'one',
    form: 'room',
    args: () => ({ ctx: HookContext().extend({ options: roomOptions }), room: ScriptRoom() }),
    answer: AdmitAnswer,
    lane: 'joined',
  },
  on_matchmaker_add: {
    doc: 'Decides on a ticket before it waits: as it was asked for, changed, or refused.',
    example: [
      'guildhall.on_matchmaker_add(async (ctx, { properties }) => {',
      "  const entry = await guildhall.leaderboards.get('ratings', ctx.user_id)",
      '  return { properties: { ...properties, rating: Number(entry?.score ?? 1000n) } }',
      '})',
    ],
    code: 21,
    slot: 'one',
    form: 'request',
    args: () => ({ ctx: HookContext(), request: TicketRequest() }),
    answer: TicketAnswer,
    lane: 'joined',
  },
  on_matchmaker_matched: {
    doc: 'Labels the room of a match that the matchmaker has made; it cannot refuse.',
    code: 13,
    slot: 'one',
    form: 'payload',
    args: () => ({
      match: z.strictObject({
        room_id: z.int(),
        members: z.array(
          z.strictObject({
            user_id: z.string().nullable(),
            participant: z.int(),
            properties: freeObject,
          }),
        ),
      }),
    }),
    answer: LabelAnswer,
    lane: 'none',
  },
  on_match_created: {
    doc: 'Runs when a room has been made.',
    code: 14,
    args: () => ({ ctx: MatchContext() }),
    ...match,
  },
  on_match_started: {
    doc: 'Runs when the first participant has entered a room.',
    code: 15,
    args: () => ({ ctx: MatchContext() }),
    ...match,
  },
  on_match_join: {
    doc: 'Runs when a participant has entered a room.',
    code: 16,
    args: () => ({
      ctx: MatchMemberContext().extend({
        properties: freeObject.nullable().meta({ description: 'Of the ticket it came by' }),
      }),
    }),
    ...match,
  },
  on_match_leave: {
    doc: 'Runs when a participant has left a room.',
    code: 17,
    args: () => ({ ctx: MatchMemberContext() }),
    ...match,
  },
  on_match_ended: {
    doc: 'Runs when a room has ended; a result that it sets still counts.',
    code: 18,
    args: () => ({ ctx: MatchContext().extend({ termination_reason: z.string() }) }),
    ...match,
  },
  register_storage_index_filter: {
    doc: 'Decides, at once, whether an object of a storage index is indexed.',
    example: [
      "guildhall.register_storage_index_filter('by_level', ({ value }) => value.level > 10)",
    ],
    code: 19,
    slot: 'index',
    form: 'payload',
    args: () => ({
      candidate: z.strictObject({
        user_id: z.string().nullable(),
        collection: z.string(),
        key: z.string(),
        value: freeObject,
      }),
    }),
    answer: () => z.boolean(),
    immediate: true,
    lane: 'none',
  },
})

export type HookName = keyof typeof scriptHooks
