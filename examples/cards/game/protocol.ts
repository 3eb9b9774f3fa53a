/** What the clients and the script of the card game say to each other. */
export type Cards = {
  rpcs: {
    /** Puts a card of one's hand on the pile: of its suit, or of its rank. */
    play: { payload: { card: Card }; reply: undefined }
    /** Takes a card from the deck, which ends the turn. */
    draw: { payload: undefined; reply: undefined }
  }
  kinds: Record<never, never>
  rooms: { cards: { state: TableView; own: Card[] } }
}

/** A suit and a rank, e.g. `♥10`. */
export type Card = string

/** What everybody at the table sees. The cards of a hand are its player's own part. */
export type TableView = {
  /** The game begins when so many are there. */
  seats: number
  /** The card that the next one must match; null until the game begins. */
  top: Card | null
  /** How many cards are left to draw. */
  deck: number
  players: { id: number; name: string; cards: number; away: boolean }[]
  /** Whose turn it is. */
  turn: number | null
  /** Then the turn is over, and its player draws. */
  turn_ends_unix_ms: number
  moves: number
  winner: number | null
}
