/** A client says: that many taps more. */
export const tapKind = 100
/** The node says: the scores of the room. */
export const scoresKind = 101

/** Taps by username. */
export type Scores = { [username: string]: number }

/** What clients and script say to each other; both are typed by it. */
export type Game = {
  rpcs: {
    /** Who has tapped most, ever; nothing when nobody has. */
    best: { payload: undefined; reply: { name: string; taps: number } | undefined }
  }
  kinds: {
    100: { up: { taps: number } }
    101: { down: Scores }
  }
}
