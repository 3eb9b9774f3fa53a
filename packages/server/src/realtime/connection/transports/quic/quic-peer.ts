import type { Acceptor } from '../transport.ts'
import type { Engine } from './engine/engine.ts'
import { isBidirectional, type Protocol, type Speak } from './protocol.ts'
import { QuicConnection } from './quic-connection.ts'
import { rawProtocol } from './raw-protocol.ts'

export type QuicPeerDeps = {
  engine: Engine
  gateway: Acceptor
  /** Undefined while WebTransport is off. */
  speakHttp3: Speak | undefined
}

const noBytes = new Uint8Array()
/** Close code of HTTP/3 for a peer that asks for what is not there. */
const http3NoError = 0x100
/** What a request of HTTP/3 begins with. A raw frame that does is longer than any may be. */
const http3Headers = 1

/**
 * One QUIC connection at the node. The engine does not say which protocol was agreed on: the first
 * stream that brings bytes does. One that the peer alone sends on is HTTP/3, any other one is raw,
 * unless a request begins there that is served: where a packet was lost, that may come first.
 */
export class QuicPeer {
  readonly #deps: QuicPeerDeps
  readonly #id: number
  readonly #connection: QuicConnection
  #protocol: Protocol | undefined
  #isWebTransport = false

  constructor(deps: QuicPeerDeps, id: number, limitGroup: string | undefined) {
    this.#deps = deps
    this.#id = id
    this.#connection = new QuicConnection(deps.engine, id, limitGroup)
    // It counts from here on: its handshake costs what the limits are there for.
    this.#connection.accepted(deps.gateway.accept(this.#connection))
  }

  /** Whether it speaks HTTP/3; false until its first bytes say so. */
  get isWebTransport(): boolean {
    return this.#isWebTransport
  }

  data(stream: number, bytes: Uint8Array): void {
    this.#protocol ??= this.#decide(stream, bytes[0])
    this.#protocol?.data(stream, bytes)
  }

  ended(stream: number): void {
    this.#protocol?.ended(stream)
    // The peer may have so many streams only, and one counts until both halves have ended.
    if (isBidirectional(stream)) this.#deps.engine.send(this.#id, stream, noBytes, true)
  }

  stopped(stream: number): void {
    this.#connection.streamStopped(stream)
  }

  datagram(bytes: Uint8Array): void {
    this.#protocol?.datagram(bytes)
  }

  taken(bytes: number, datagrams: number): void {
    this.#connection.taken(bytes, datagrams)
  }

  closed(code: number | undefined): void {
    // A session of WebTransport says by its capsule that it is over; without one it is lost.
    this.#connection.closed(this.#isWebTransport ? undefined : code)
  }

  #decide(stream: number, first: number | undefined): Protocol | undefined {
    const { engine, speakHttp3 } = this.#deps
    const isRequest = first === http3Headers && speakHttp3 !== undefined
    if (isBidirectional(stream) && !isRequest) return rawProtocol(this.#connection)
    if (speakHttp3 !== undefined) {
      this.#isWebTransport = true
      return speakHttp3(engine, this.#id, this.#connection)
    }
    engine.close(this.#id, http3NoError, 'WebTransport is off', false)
    return undefined
  }
}
