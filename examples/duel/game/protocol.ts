/** What the clients and the script of the duel say to each other. */
export type Duel = {
  rpcs: Record<never, never>
  kinds: {
    100: { up: Strike }
    101: { down: Call }
  }
}

export const strikeKind = 100
export const callKind = 101

/** A player's one strike; the strongest wins. */
export type Strike = { power: number }

/** What the referee calls into the room. */
export type Call =
  /** Everybody is there. */
  | { type: 'begin' }
  /** Somebody did not come; the seats are offered to others. */
  | { type: 'waiting'; seats: number }
  | { type: 'over'; winner: string }
