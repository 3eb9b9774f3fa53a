/** The `party` section of the configuration. */
export type PartyConfig = { max_members: number; invite_ttl_ms: number; offline_ttl_ms: number }
