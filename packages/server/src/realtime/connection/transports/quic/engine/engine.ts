import type { CertificatePair } from '../../../../../kernel/http/connection/certificates.ts'

/**
 * A QUIC engine, as the transports see it. It knows connections, streams and datagrams, and nothing
 * of what they carry. Numbers name connections for as long as the node runs.
 */
export type Engine = {
  /** Where it listens, with the real port. */
  readonly address: EngineAddress
  /** Sends bytes on a stream, and then ends the stream's half if `fin` says so. */
  send(connection: number, stream: number, bytes: Uint8Array, fin: boolean): void
  datagram(connection: number, bytes: Uint8Array): void
  /** Delivers nothing of the connection until `resume`; what its peer sends is held or lost. */
  pause(connection: number): void
  resume(connection: number): void
  /** The last bytes of a stream, which go just before the close that follows. */
  farewell(connection: number, stream: number, bytes: Uint8Array): void
  /** Ends the connection: at once, or when its peer has got what was sent, or a second later. */
  close(connection: number, code: number, reason: string, drains: boolean): void
  /** Ends the connection at once. */
  destroy(connection: number): void
  /** Connections from here on get this certificate. */
  setCertificate(pair: CertificatePair): void
  counters(): EngineCounters
  stop(): Promise<void>
}

export type EngineAddress = { host: string; port: number }

export type EngineEvents = {
  /** A peer whose address is validated begins a handshake. False refuses it. */
  opened(connection: number, address: string): boolean
  data(connection: number, stream: number, bytes: Uint8Array): void
  /** The peer has ended its half of the stream. */
  ended(connection: number, stream: number): void
  /** The peer has reset its half of the stream. */
  reset(connection: number, stream: number): void
  /** The peer reads the stream no more. */
  stopped(connection: number, stream: number): void
  datagram(connection: number, bytes: Uint8Array): void
  /** Bytes and datagrams that the engine had been given have left its queues. */
  taken(connection: number, bytes: number, datagrams: number): void
  /** The last event of a connection. `code` is that of the peer, undefined without one. */
  closed(connection: number, code: number | undefined): void
  /** The engine has trapped or ended: all of its connections are gone, without `closed`. */
  failed(error: Error): void
}

export type EngineOptions = {
  address: EngineAddress
  /** Whether other processes of this user may have the address too. */
  isShared: boolean
  certificate: CertificatePair
  idleTimeoutMs: number
  keepAliveMs: number
  maxConnections: number
}

/** What the engine counts, in the order of the memory that it shares with the node. */
export const engineCounterNames = [
  'quic_connections_active',
  'quic_packets_dropped_total',
  'quic_initials_limited_total',
  'quic_connections_refused_total',
  'quic_datagrams_in_total',
  'quic_datagrams_out_total',
  'quic_handshake_failures_total',
  'quic_connections_shed_total',
] as const

export type EngineCounterName = (typeof engineCounterNames)[number]
export type EngineCounters = Record<EngineCounterName, number>

/** Datagrams of a connection that the engine was given and has not sent. */
export const datagramsMax = 64

/** What the node asks of the thread. */
export const commands = {
  send: 1,
  sendLast: 2,
  datagram: 3,
  pause: 4,
  resume: 5,
  close: 6,
  destroy: 7,
  /** So many bytes of events were taken. */
  read: 8,
  farewell: 9,
  admit: 10,
  refuse: 11,
} as const

/** What the thread reports. */
export const reports = {
  opened: 1,
  data: 2,
  ended: 3,
  reset: 4,
  stopped: 5,
  datagram: 6,
  taken: 7,
  closed: 8,
} as const
