import { realtimePath } from '../../transport.ts'
import type { Engine } from '../engine/engine.ts'
import { isBidirectional, type Protocol, type Speak } from '../protocol.ts'
import type { QuicConnection } from '../quic-connection.ts'
import { readVarint, varint } from '../varint.ts'
import {
  closeSession,
  controlStream,
  errorCodes,
  frame,
  frameTypes,
  streamTypes,
  webTransportStream,
} from './http3.ts'
import { decodeHeaders, encodeAnswer, HeadersBroken } from './qpack.ts'
import { RequestStream } from './request-stream.ts'

/** The streams that a server opens for itself: HTTP/3's control stream, then that of frames. */
const ownStreams = { control: 3, frames: 7 } as const
/** What every path carries of an envelope, less the number of its session. */
const datagramBytesMax = 1023
/** What streams may bring before their session is there. */
const earlyBytesMax = 64 * 1024
const paths: ReadonlySet<string> = new Set([realtimePath, '/'])
const noBytes = new Uint8Array()

/** Makes the protocol of browsers: HTTP/3 with one session of WebTransport. */
export function speakWebTransport(allowedOrigins: readonly string[]): Speak {
  return (engine, id, connection) =>
    new WebTransportPeer({ engine, id, connection, allowedOrigins })
}

type Parts = {
  engine: Engine
  id: number
  connection: QuicConnection
  allowedOrigins: readonly string[]
}

/**
 * | stream    | what it does                                     | what comes next          |
 * |-----------|--------------------------------------------------|--------------------------|
 * | unknown   | its first bytes, which say what it is, come in   | request, frames, ignored |
 * | request   | brings headers, and the capsules of a session    |                          |
 * | frames    | belongs to a session, and brings envelopes       |                          |
 * | ignored   | means nothing here: control, tables, extensions  |                          |
 */
type Stream =
  | { kind: 'unknown'; bytes: Buffer }
  | { kind: 'request'; request: RequestStream }
  | { kind: 'frames'; session: number }
  | { kind: 'ignored' }

type Early = { stream: number; bytes: Uint8Array; hasEnded: boolean }

class WebTransportPeer implements Protocol {
  readonly #parts: Parts
  readonly #streams = new Map<number, Stream>()
  /** The stream of the session, which is also its number. */
  #session: number | undefined
  #early: Early[] = []
  #earlyBytes = 0

  constructor(parts: Parts) {
    this.#parts = parts
    parts.engine.send(parts.id, ownStreams.control, controlStream(), false)
  }

  data(stream: number, bytes: Uint8Array): void {
    const known = this.#streams.get(stream) ?? { kind: 'unknown', bytes: Buffer.alloc(0) }
    if (known.kind === 'frames') this.#frames(known.session, { stream, bytes, hasEnded: false })
    else if (known.kind === 'request') known.request.push(bytes)
    else if (known.kind === 'unknown') this.#begin(stream, Buffer.concat([known.bytes, bytes]))
  }

  ended(stream: number): void {
    const known = this.#streams.get(stream)
    this.#streams.delete(stream)
    if (known?.kind === 'frames') {
      this.#frames(known.session, { stream, bytes: noBytes, hasEnded: true })
    } else if (stream === this.#session) this.#leave(undefined)
  }

  datagram(bytes: Uint8Array): void {
    const number = readVarint(bytes)
    if (number === undefined || this.#session === undefined) return
    if (number.value * 4 !== this.#session) return
    this.#parts.connection.receivedDatagram(bytes.subarray(number.end))
  }

  /** A stream's first bytes; they may not be whole yet. */
  #begin(stream: number, bytes: Buffer): void {
    const type = readVarint(bytes)
    const isBoth = isBidirectional(stream)
    const marks = isBoth ? webTransportStream : streamTypes.webTransport
    if (type === undefined) this.#streams.set(stream, { kind: 'unknown', bytes })
    else if (type.value === marks) {
      const session = readVarint(bytes, type.end)
      if (session === undefined) {
        this.#streams.set(stream, { kind: 'unknown', bytes })
        return
      }
      this.#streams.set(stream, { kind: 'frames', session: session.value })
      const rest = bytes.subarray(session.end)
      if (rest.length > 0) this.data(stream, rest)
    } else if (isBoth) {
      const request = this.#request(stream)
      this.#streams.set(stream, { kind: 'request', request })
      request.push(bytes)
    } else this.#streams.set(stream, { kind: 'ignored' })
  }

  #request(stream: number): RequestStream {
    return new RequestStream({
      headers: (block) => this.#headers(stream, block),
      closeSession: (code) => {
        if (stream === this.#session) this.#leave(code)
      },
      tooLarge: () => this.#fail(errorCodes.excessiveLoad),
    })
  }

  #headers(stream: number, block: Uint8Array): void {
    // Behind a request there may be trailers, which say nothing.
    if (stream === this.#session) return
    try {
      const status = this.#judge(decodeHeaders(block))
      this.#answer(stream, status)
      if (status === 200) this.#open(stream)
    } catch (error) {
      if (!(error instanceof HeadersBroken)) throw error
      this.#fail(errorCodes.messageError)
    }
  }

  #judge(headers: Map<string, string>): number {
    const { allowedOrigins } = this.#parts
    const isSession =
      headers.get(':method') === 'CONNECT' && headers.get(':protocol') === 'webtransport'
    const [path = ''] = (headers.get(':path') ?? '').split('?')
    if (!isSession || !paths.has(path)) return 404
    const origin = headers.get('origin')
    const isForeign = origin !== undefined && !allowedOrigins.includes(origin)
    if (allowedOrigins.length > 0 && isForeign) return 403
    return this.#session === undefined ? 200 : 429
  }

  #answer(stream: number, status: number): void {
    const { engine, id } = this.#parts
    const draft = [['sec-webtransport-http3-draft', 'draft02']] as const
    const block = encodeAnswer(status, status === 200 ? draft : [])
    engine.send(id, stream, frame(frameTypes.headers, block), status !== 200)
  }

  #open(session: number): void {
    const { engine, id, connection } = this.#parts
    this.#session = session
    connection.frame({
      stream: ownStreams.frames,
      streamPreface: Uint8Array.from([...varint(streamTypes.webTransport), ...varint(session)]),
      datagramPreface: Uint8Array.from(varint(session / 4)),
      datagramBytesMax,
      close(code, reason, drains) {
        engine.farewell(id, session, closeSession(code, reason))
        engine.close(id, errorCodes.noError, '', drains)
      },
    })
    for (const early of this.#early.splice(0)) this.#frames(session, early)
  }

  /** Bytes of a session, which may come before the request for it. */
  #frames(session: number, { stream, bytes, hasEnded }: Early): void {
    const { connection } = this.#parts
    if (session === this.#session) {
      if (bytes.length > 0) connection.received(stream, bytes)
      if (hasEnded) connection.streamEnded(stream)
    } else if (this.#session === undefined) {
      this.#early.push({ stream, bytes, hasEnded })
      this.#earlyBytes += bytes.length + 1
      if (this.#earlyBytes > earlyBytesMax) this.#fail(errorCodes.excessiveLoad)
    }
  }

  /** The session is over at the peer: with a code, or without a word. */
  #leave(code: number | undefined): void {
    const { engine, id, connection } = this.#parts
    connection.closed(code)
    engine.close(id, errorCodes.noError, '', false)
  }

  #fail(code: number): void {
    this.#early = []
    this.#parts.engine.close(this.#parts.id, code, '', false)
  }
}
