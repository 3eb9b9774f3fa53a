/** The `rooms` section of the configuration. */
export type RoomsConfig = {
  max_rooms: number
  max_members: number
  /** How long the seat of a dropped participant is kept; 0 keeps none. */
  reconnect_grace_ms: number
}
