import type { Engine } from './engine/engine.ts'
import type { QuicConnection } from './quic-connection.ts'

/** What a peer speaks inside its QUIC connection. */
export type Protocol = {
  data(stream: number, bytes: Uint8Array): void
  /** The peer has ended or reset its half. */
  ended(stream: number): void
  datagram(bytes: Uint8Array): void
}

/** Makes the protocol of a connection. */
export type Speak = (engine: Engine, id: number, connection: QuicConnection) => Protocol

/** Who opened a stream, and whether both sides may send on it, stand in its number. */
export function isBidirectional(stream: number): boolean {
  return stream % 4 === 0
}
