/** Rooms with state, as `guildhall.d.ts` declares them. */

export const roomMember = `/**
 * Defines rooms with state, by the name that their labels have as mode. The script keeps the
 * state; members follow it, or what \`view\` makes of it and what \`own\` adds for one of them.
 * What they see is of the types that \`rooms\` of the game has under that name.
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
  ): void`

export const roomTypes = `type GuildhallPlainMember = {
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

/** A room with state, as its handlers have it. A handler that throws leaves \`state\` as it was. */
type GuildhallStateRoom<S, G extends GuildhallGame = any> = {
  readonly room_id: number
  readonly match_id: string
  readonly name: string | null
  /** A JSON value of at most 256 KiB. */
  state: S
  get label(): Required<GuildhallLabel>
  set label(label: GuildhallLabel)
  readonly members: readonly GuildhallPlainMember[]
  /** To the members; with \`after_state\` behind the next state that they are sent. */
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
  /** Instead of \`create\` after a restart or reload; by default the state as it was. */
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
  /** Before the methods of \`on_rpc\`, for members of such rooms. */
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
  /** What one member sees besides; needs \`view\`. Changes nothing. */
  own?(state: S, member: GuildhallPlainMember): GuildhallRoomPart<G, N, 'own'>
  /** Numbers, or those under these names, are sent with so many decimals, 0 to 6. */
  decimals?: number | { [name: string]: number }
  /** The state notes writes: a hint for large states that change little. */
  track?: boolean
  /** The result of the match. */
  ended?(
    room: GuildhallStateRoom<S, G>,
  ): GuildhallJsonObject | void | Promise<GuildhallJsonObject | void>
}`
