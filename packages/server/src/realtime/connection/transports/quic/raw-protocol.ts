import type { Protocol } from './protocol.ts'
import type { QuicConnection } from './quic-connection.ts'

/** The first stream that a server opens for itself. */
const ownStream = 3
const noBytes = new Uint8Array()
/** What every path carries of an envelope: the smallest packet of QUIC less what is around it. */
const datagramBytesMax = 1100

/** Frames on streams and envelopes in datagrams, as they are: the protocol `guildhall/0`. */
export function rawProtocol(connection: QuicConnection): Protocol {
  connection.frame({
    stream: ownStream,
    streamPreface: noBytes,
    datagramPreface: noBytes,
    datagramBytesMax,
  })
  return {
    data: (stream, bytes) => connection.received(stream, bytes),
    ended: (stream) => connection.streamEnded(stream),
    datagram: (bytes) => connection.receivedDatagram(bytes),
  }
}
