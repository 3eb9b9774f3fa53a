/** What the page and the script of the arena say to each other. */
export type Arena = {
  rpcs: Record<never, never>
  kinds: {
    100: { up: Steer }
    101: { down: Flash }
  }
  rooms: { sparks: { state: ArenaView } }
}

export const steerKind = 100
export const flashKind = 101

/** Where a player wants to go: a direction of length 0 to 1, and whether to dash. */
export type Steer = { x: number; y: number; dash: boolean }

/** The whole arena, 20 times a second. Numbers are in the units of the world. */
export type ArenaView = {
  round: number
  /** Seconds until the next round; 0 while one is played. */
  pause: number
  /** Who has won the round, during the pause. */
  winner: number | null
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

/** What players should see at once; a lost one is no loss. */
export type Flash = { type: 'spark' | 'stolen'; x: number; y: number }
