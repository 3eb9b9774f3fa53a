import { QuicLoadClient } from './quic-client.ts'

/** Streams of a session, by their numbers: those that the client opens, and the node's own. */
export const sessionStreams = { request: 0, control: 2, own: 6, node: 7 } as const
/** What a stream of session 0 in one direction begins with. */
export const streamPreface = Uint8Array.of(0x40, 0x54, 0)
const settings = Uint8Array.of(0, 4, 0)
const textOf = (text: string) => [text.length, ...Buffer.from(text)]
/** CONNECT https://localhost/v1/realtime as QPACK without its tables of names that are new. */
const headers = [
  ...[0, 0, 0xcf, 0xd7],
  ...[0x50, ...textOf('localhost')],
  ...[0x51, ...textOf('/v1/realtime')],
  ...[0x27, 2, ...Buffer.from(':protocol'), ...textOf('webtransport')],
]
/** The capsule that ends a session with code 0, in a frame of its stream. */
const farewell = Uint8Array.of(0, 7, 0x68, 0x43, 4, 0, 0, 0, 0)

/** A page's session of WebTransport, as far as a node sees one: frames and datagrams. */
export class WebTransportLoadClient {
  readonly connection: QuicLoadClient

  private constructor(connection: QuicLoadClient) {
    this.connection = connection
    connection.write(settings, sessionStreams.control)
    connection.write(Uint8Array.of(1, headers.length, ...headers), sessionStreams.request)
    connection.write(streamPreface, sessionStreams.own)
  }

  static async open(port: number): Promise<WebTransportLoadClient> {
    return new WebTransportLoadClient(await QuicLoadClient.open(port, 'h3'))
  }

  write(frames: Uint8Array): void {
    this.connection.write(frames, sessionStreams.own)
  }

  datagram(envelope: Uint8Array): void {
    this.connection.datagram(Uint8Array.of(0, ...envelope))
  }

  /** Ends the session; the connection goes with it, or is left behind. */
  close(): void {
    this.connection.write(farewell, sessionStreams.request)
  }

  vanish(): void {
    this.connection.vanish()
  }
}
