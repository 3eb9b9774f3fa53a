/**
 * What the arena in Lua and in Python sends its players: the whole world as a message, 20 times a
 * second. The one in TypeScript keeps the world as the state of its room instead.
 */
export type Arena = {
  rpcs: Record<never, never>
  kinds: {
    100: { up: Steer }
    101: { down: Snapshot }
    102: { down: Happening }
  }
}

export const steerKind = 100
export const snapshotKind = 101
export const happeningKind = 102

/** Where a player wants to go: a direction of length 0 to 1, and whether to dash. */
export type Steer = { x: number; y: number; dash: boolean }

/** The whole arena, 20 times a second. Numbers are in the units of the world. */
export type Snapshot = {
  round: number
  /** Seconds until the next round; 0 while one is played. */
  pause: number
  players: FighterView[]
  sparks: [x: number, y: number][]
}

export type FighterView = {
  /** Participant id. */
  id: number
  x: number
  y: number
  score: number
  dashing: boolean
  /** The connection is lost, the seat is kept. */
  away: boolean
}

/** What players should see at once. */
export type Happening =
  | { type: 'spark'; by: number; x: number; y: number }
  | { type: 'stolen'; by: number; from: number; x: number; y: number }
  | { type: 'over'; round: number; winner: number; scores: [id: number, score: number][] }
  | { type: 'begin'; round: number }
