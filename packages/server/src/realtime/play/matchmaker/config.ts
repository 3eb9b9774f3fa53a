/** The `matchmaker` section of the configuration. */
export type MatchmakerConfig = {
  max_tickets: number
  interval_ms: number
  default_ttl_ms: number
  max_ttl_ms: number
  handoff_ttl_ms: number
  /** After this time a ticket takes a smaller group and its wide query holds. */
  widen_after_ms: number
}
