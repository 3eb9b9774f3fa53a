/**
 * What one game's clients and script say to each other. The client takes it as `createPlayer<G>`,
 * a script as `const game: Guildhall<G> = guildhall`. A kind has `up` when clients send it, `down`
 * when they hear it. Types check nothing at run time.
 *
 * @example
 * type Arena = {
 *   rpcs: { whoami: { payload: undefined; reply: { name: string } } }
 *   kinds: { 100: { up: { dx: number } }; 101: { down: { tick: number } } }
 *   rooms: { arena: { state: { players: { [id: string]: { x: number; y: number } } } } }
 * }
 */
export type GameTypes = {
  rpcs: { [method: string]: { payload: unknown; reply: unknown } }
  kinds: { [kind: number]: { up?: unknown; down?: unknown } }
  /** By the name of their definition: what members see, and each of them alone. */
  rooms?: { [definition: string]: { state: unknown; own?: unknown } }
  /** By the code that `guildhall.fail` gives: the data that it gives with it. */
  refusals?: { [code: string]: unknown }
}

/** What members see of the rooms of a game. Without a game's own types: unknown. */
export type StateOf<G extends GameTypes> = RoomPart<G, 'state'>

/** What one member alone sees of the rooms of a game. */
export type OwnOf<G extends GameTypes> = RoomPart<G, 'own'>

type RoomPart<G extends GameTypes, Part extends 'state' | 'own'> = G extends {
  rooms: infer Rooms
}
  ? string extends keyof Rooms
    ? unknown
    : { [Name in keyof Rooms]: PartOf<Rooms[Name], Part> }[keyof Rooms]
  : unknown

type PartOf<Room, Part extends string> = Part extends keyof Room ? DeepReadonly<Room[Part]> : never

type DeepReadonly<Value> = Value extends object
  ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
  : Value

/**
 * What a refused call says to the program, by the codes of a game: `error.refusal as
 * RefusalOf<Arena> | undefined`. `rpc_failed` is what gave no code, the node itself included.
 */
export type RefusalOf<G extends GameTypes> = G extends { refusals: infer Refusals }
  ? ByCode<Refusals>[keyof Refusals & string] | RefusalWith<'rpc_failed', null>
  : RefusalWith<string, unknown>

type ByCode<Refusals> = {
  [Code in keyof Refusals & string]: RefusalWith<Code, Refusals[Code]>
}

type RefusalWith<Code, Data> = { readonly code: Code; readonly data: Data }

/** The methods of a game. */
export type MethodOf<G extends GameTypes> = keyof G['rpcs'] & string

/** The kinds that clients send. Without a game's own types: every kind. */
export type UpKind<G extends GameTypes> = KindWith<G, 'up'>

/** The kinds that clients hear. Without a game's own types: every kind. */
export type DownKind<G extends GameTypes> = KindWith<G, 'down'>

type KindWith<G extends GameTypes, D extends 'up' | 'down'> = number extends keyof G['kinds']
  ? number
  : {
      [K in keyof G['kinds'] & number]: D extends keyof G['kinds'][K] ? K : never
    }[keyof G['kinds'] & number]

/** What travels in a kind, in one direction. */
export type BodyOfKind<
  G extends GameTypes,
  K extends number,
  D extends 'up' | 'down',
> = K extends keyof G['kinds']
  ? D extends keyof G['kinds'][K]
    ? G['kinds'][K][D]
    : unknown
  : unknown
