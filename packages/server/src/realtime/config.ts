/** The `transport` section of the configuration, as far as the gateway reads it. */
export type TransportConfig = {
  websocket: {
    enabled: boolean
    /** 0 sends no pings. */
    heartbeat_interval_ms: number
    heartbeat_timeout_ms: number
    max_message_bytes: number
    /** Empty accepts every origin. */
    allowed_origins: readonly string[]
  }
  quic: {
    enabled: boolean
    idle_timeout_ms: number
    keep_alive_ms: number
    /** A bound of QUIC beside those of all transports. */
    max_connections: number
  }
  webtransport: {
    enabled: boolean
    /** Where players reach it, if not by its socket's own address. */
    public_url?: string | undefined
  }
  auth: {
    require_auth: boolean
    /** Not looked at when `require_auth` is true. */
    allow_guests: boolean
    handshake_timeout_ms: number
  }
  limits: TransportLimits
}

export type TransportLimits = {
  max_envelope_bytes: number
  /** A rate of 0 is unlimited. */
  inbound_envelopes_per_sec: number
  inbound_envelope_burst: number
  inbound_bytes_per_sec: number
  inbound_bytes_burst: number
  max_connections: number
  max_connections_per_address: number
  max_pending_handshakes: number
  rpc_in_flight: number
  reliable_queue_capacity: number
  reliable_queue_bytes: number
  unreliable_queue_capacity: number
  unreliable_queue_bytes: number
  max_queued_bytes_total: number
}
