/** The counters and gauges of the gateway; no name and no value says who somebody is. */
export type GatewayMetrics = Record<(typeof metricNames)[number], number>

export function createGatewayMetrics(): GatewayMetrics {
  return Object.fromEntries(metricNames.map((name) => [name, 0])) as GatewayMetrics
}

export const metricNames = [
  'connections_active',
  'connections_accepted_total',
  'connections_refused_total',
  'participants_active',
  'sessions_active',
  'messages_in_total',
  'messages_out_total',
  'bytes_in_total',
  'bytes_out_total',
  'websocket_pings_sent_total',
  'websocket_pongs_received_total',
  'websocket_liveness_timeouts_total',
  'decode_errors_total',
  'reserved_kind_ignored_total',
  'wrong_direction_ignored_total',
  'unhandled_kind_total',
  'inbound_paused_total',
  'datagram_limited_total',
  'slow_consumer_closes_total',
  'reliable_queue_bytes',
  'reliable_queue_high_water_bytes',
  'unreliable_dropped_total',
  'unreliable_coalesced_total',
  'unreliable_promoted_total',
  'rooms_active',
  'room_rejects_total',
  'dropped_seats_active',
  'seats_returned_total',
  'seats_expired_total',
  'topics_active',
  'topic_memberships_active',
  'topic_refused_total',
  'handshake_rejected_total',
  'handshake_timeouts_total',
  'relay_links_active',
  'relay_link_resets_total',
  'relay_messages_in_total',
  'relay_messages_out_total',
  'script_readiness_state',
  'script_gate_rejections_total',
] as const
