import {
  boolean,
  choice,
  integer,
  integerOrZero,
  pathUnset,
  secretUrlUnset,
  string,
  strings,
  stringUnset,
} from '../key.ts'
import {
  address,
  clusterId,
  natsUrls,
  origin,
  postgresUrl,
  webTransportUrl,
} from '../values/formats.ts'

const queueItems = [1, 1_000_000] as const
const queueBytes = [65_536, 1_073_741_824] as const
const perSecond = [0, 1_000_000] as const
const bytesPerSecond = [0, 1_073_741_824] as const

export const transport = {
  websocket: {
    enabled: boolean(true, 'Serves realtime play on the HTTP listener.'),
    heartbeat_interval_ms: integerOrZero(
      15_000,
      [1_000, 600_000],
      'Time between two pings; 0 = none.',
    ),
    heartbeat_timeout_ms: integer(
      45_000,
      [1_000, 3_600_000],
      'Silence after which a connection is closed.',
    ),
    max_message_bytes: integer(1_048_576, [1_024, 16_777_216], 'Largest inbound message.'),
    allowed_origins: strings(64, origin, 'Browser origins that may connect; empty = any.'),
  },
  quic: {
    enabled: boolean(true, 'Serves realtime play over QUIC.'),
    bind: string('127.0.0.1:7351', address, 'UDP address; beyond loopback it needs a certificate.'),
    idle_timeout_ms: integer(30_000, [1_000, 600_000], 'Life of a silent connection.'),
    keep_alive_ms: integer(
      10_000,
      [500, 300_000],
      'Time between two keep-alives; below the idle timeout.',
    ),
    max_connections: integer(
      8_000,
      [1, 100_000],
      'Connections of the engine, beside the limit of all transports.',
    ),
  },
  webtransport: {
    enabled: boolean(true, 'Serves realtime play over WebTransport, on the QUIC socket.'),
    public_url: stringUnset(
      webTransportUrl,
      'Where players reach it, e.g. behind a balancer; unset, its port at the host of the API.',
    ),
  },
  tls: {
    certificate_file: pathUnset(
      'Certificate chain in PEM for QUIC and WebTransport; unset, that of the HTTP listener.',
    ),
    private_key_file: pathUnset('Private key in PEM of that certificate.'),
  },
  auth: {
    require_auth: boolean(false, 'Refuses connections that present no access token.'),
    allow_guests: boolean(true, 'Lets connections without an account play.'),
    handshake_timeout_ms: integer(5_000, [1, 60_000], 'Time for the handshake.'),
  },
  limits: {
    max_envelope_bytes: integer(65_536, [1_024, 8_388_608], 'Largest envelope.'),
    inbound_envelopes_per_sec: integer(
      1_000,
      perSecond,
      'Envelopes per second and connection; 0 = unlimited.',
    ),
    inbound_envelope_burst: integer(2_000, perSecond, 'Envelopes that may come at once.'),
    inbound_bytes_per_sec: integer(
      1_048_576,
      bytesPerSecond,
      'Bytes per second and connection; 0 = unlimited.',
    ),
    inbound_bytes_burst: integer(
      2_097_152,
      bytesPerSecond,
      'Bytes that may come at once; at least the largest envelope.',
    ),
    max_connections: integer(20_000, [1, 1_000_000], 'Realtime connections of this node.'),
    max_connections_per_address: integer(
      256,
      [1, 1_000_000],
      'Realtime connections per source address.',
    ),
    max_pending_handshakes: integer(1_000, [1, 100_000], 'Connections in their handshake.'),
    rpc_in_flight: integer(32, [1, 10_000], 'Unanswered calls per connection.'),
    reliable_queue_capacity: integer(
      8_192,
      queueItems,
      'Reliable frames that may wait for one connection.',
    ),
    unreliable_queue_capacity: integer(
      256,
      queueItems,
      'Unreliable frames that may wait for one connection.',
    ),
    reliable_queue_bytes: integer(
      4_194_304,
      queueBytes,
      'Bytes of those reliable frames; at least the largest envelope.',
    ),
    unreliable_queue_bytes: integer(262_144, queueBytes, 'Bytes of those unreliable frames.'),
    max_queued_bytes_total: integer(
      536_870_912,
      [1_048_576, 68_719_476_736],
      'Bytes that may wait for all connections together.',
    ),
  },
}

export const rooms = {
  max_rooms: integer(10_000, [1, 1_000_000], 'Rooms of this node.'),
  max_members: integer(1_000, [1, 65_535], 'Members of one room.'),
  reconnect_grace_ms: integer(
    10_000,
    [0, 120_000],
    'How long the seat of a player whose connection is lost is kept; 0 keeps none.',
  ),
  state_bytes_total: integer(
    67_108_864,
    [1_048_576, 1_073_741_824],
    'Bytes of the states of all rooms together, as JSON text.',
  ),
}

const ttlMs = [1_000, 86_400_000] as const

export const matchmaker = {
  max_tickets: integer(50_000, [1, 1_000_000], 'Tickets that may wait.'),
  interval_ms: integer(250, [10, 60_000], 'Time between two rounds.'),
  default_ttl_ms: integer(60_000, ttlMs, 'Life of a ticket that does not ask for one.'),
  max_ttl_ms: integer(3_600_000, ttlMs, 'Longest life that a ticket may ask for.'),
  handoff_ttl_ms: integer(30_000, [1_000, 600_000], 'Time to join the room of a match.'),
  widen_after_ms: integer(
    5_000,
    [0, 60_000],
    'After this time a ticket takes a smaller group, and its wide query holds.',
  ),
}

export const party = {
  max_members: integer(8, [2, 255], 'Members of one party.'),
  invite_ttl_ms: integer(300_000, ttlMs, 'Life of an invitation.'),
  offline_ttl_ms: integer(60_000, ttlMs, 'How long a member who went away keeps the seat.'),
}

export const cluster = {
  enabled: boolean(false, 'Nodes on one PostgreSQL play together.'),
  bus: choice(
    'postgres',
    ['postgres', 'nats'],
    'What carries messages between nodes: the database, or NATS for more than some four.',
  ),
  listen_url: secretUrlUnset(
    postgresUrl,
    'Address of the database for the bus; needed where `database.url` leads to a pooler in ' +
      'transaction mode. Unset, `database.url`.',
  ),
  nats_url: secretUrlUnset(natsUrls, 'Addresses of NATS.'),
  cluster_id: string('guildhall', clusterId, 'Keeps deployments on one bus apart.'),
  credentials_file: pathUnset('Credentials for NATS.'),
  allow_plaintext: boolean(false, 'Allows a NATS beyond loopback without TLS.'),
  command_timeout_ms: integer(2_000, [100, 30_000], 'Time for the answer of another node.'),
  lease_ttl_ms: integer(
    5_000,
    [1_000, 60_000],
    'After so long without a renewal a node is gone for the others.',
  ),
  drain_ms: integer(
    0,
    [0, 3_600_000],
    'How long a node that is asked to end waits for its rooms to end.',
  ),
}
