/**
 * What one game's clients and script say to each other. The client takes it as `createPlayer<G>`,
 * a script as `const game: Guildhall<G> = guildhall`. A kind has `up` when clients send it, `down`
 * when they hear it. Types check nothing at run time.
 *
 * @example
 * type Arena = {
 *   rpcs: { whoami: { payload: undefined; reply: { name: string } } }
 *   kinds: { 100: { up: { dx: number } }; 101: { down: { tick: number } } }
 * }
 */
export type GameTypes = {
  rpcs: { [method: string]: { payload: unknown; reply: unknown } }
  kinds: { [kind: number]: { up?: unknown; down?: unknown } }
}

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
