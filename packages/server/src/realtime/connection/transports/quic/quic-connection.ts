import type { FrameQueue } from '../../send-queue/frame-queue.ts'
import {
  type Connection,
  type ConnectionEvents,
  type Datagrams,
  type Lanes,
  transportBufferBytesMax,
} from '../transport.ts'
import { datagramsMax, type Engine } from './engine/engine.ts'

/**
 * How frames travel inside a QUIC connection. It is not known before the peer's first bytes: raw
 * frames on a bidirectional stream, or HTTP/3 with a session of WebTransport.
 */
export type Framing = {
  /** The node's own stream, and what stands before the first frame on it. */
  readonly stream: number
  readonly streamPreface: Uint8Array
  /** What stands before the envelope of each datagram. */
  readonly datagramPreface: Uint8Array
  /** Longest envelope that a datagram carries. */
  readonly datagramBytesMax: number
  /** Closes in the framing's own way; without one the codes are those of the connection. */
  close?(code: number, reason: string, drains: boolean): void
}

const noBytes = new Uint8Array()
/** Frames of one turn leave in pieces of this size; a larger frame alone. */
const pieceBytesMax = 64 * 1024
/** What other streams may bring before the handshake is over; then reading pauses. */
const earlyBytesMax = 256 * 1024

/** The sending half, the pauses and the end of one QUIC connection, for the gateway. */
export class QuicConnection implements Connection {
  readonly limitGroup: string | undefined
  readonly datagrams: Datagrams
  readonly #engine: Engine
  readonly #id: number
  #events: ConnectionEvents | undefined
  #framing: Framing | undefined
  #isPrefaced = false
  /** Bytes and datagrams that the engine was given and has not sent. */
  #bytesOut = 0
  #datagramsOut = 0
  #isPaused = false
  #awaitsHandshake = true
  #firstStream: number | undefined
  #earlyBytes = 0
  #isClosed = false

  constructor(engine: Engine, id: number, limitGroup: string | undefined) {
    this.#engine = engine
    this.#id = id
    this.limitGroup = limitGroup
    const connection = this
    this.datagrams = {
      get bytesMax() {
        return connection.#framing?.datagramBytesMax ?? 0
      },
      send: (datagram) => connection.#sendDatagram(datagram),
    }
  }

  get credit(): number {
    return this.#framing === undefined ? 0 : transportBufferBytesMax - this.#bytesOut
  }

  /** The gateway has accepted the connection. */
  accepted(events: ConnectionEvents): void {
    this.#events = events
  }

  /** The peer's first bytes say how it speaks. */
  frame(framing: Framing): void {
    this.#framing = framing
    this.#events?.drained()
  }

  write({ reliable }: Lanes): void {
    const framing = this.#framing
    if (framing === undefined || reliable === undefined) return
    const preface = this.#isPrefaced ? noBytes : framing.streamPreface
    this.#isPrefaced = true
    const piece = takePiece(reliable, preface)
    this.#bytesOut += piece.length
    this.#engine.send(this.#id, framing.stream, piece, false)
  }

  pauseReading(): void {
    this.#pause(true)
  }

  resumeReading(): void {
    this.#pause(this.#earlyBytes > earlyBytesMax)
  }

  readAllStreams(): void {
    this.#awaitsHandshake = false
    if (this.#earlyBytes > earlyBytesMax) this.#pause(false)
    this.#earlyBytes = 0
  }

  close(code: number, reason: string, drains: boolean): void {
    const framing = this.#framing
    if (framing?.close !== undefined) framing.close(code, reason, drains)
    else this.#engine.close(this.#id, code, reason, drains)
  }

  destroy(): void {
    this.#engine.destroy(this.#id)
    this.#over()
  }

  // What the engine reports.

  received(stream: number, bytes: Uint8Array): void {
    this.#firstStream ??= stream
    if (this.#awaitsHandshake && stream !== this.#firstStream) {
      this.#earlyBytes += bytes.length
      if (this.#earlyBytes > earlyBytesMax) this.#pause(true)
    }
    this.#events?.received(stream, bytes)
  }

  streamEnded(stream: number): void {
    this.#events?.streamEnded(stream)
  }

  streamStopped(stream: number): void {
    if (stream === this.#framing?.stream) this.#events?.violated('stream stopped')
  }

  receivedDatagram(envelope: Uint8Array): void {
    this.#events?.receivedDatagram(envelope)
  }

  taken(bytes: number, datagrams: number): void {
    // Streams of the framing itself count at the engine, and not here.
    this.#bytesOut = Math.max(0, this.#bytesOut - bytes)
    this.#datagramsOut = Math.max(0, this.#datagramsOut - datagrams)
    this.#events?.drained()
  }

  /** The peer has closed with this code, or the connection is lost. */
  closed(code: number | undefined): void {
    if (this.#isClosed) return
    this.#events?.ending(code === 0 || code === normalCode ? 'left' : 'lost')
    this.#over()
  }

  #over(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#events?.closed()
  }

  #sendDatagram(envelope: Uint8Array): boolean {
    const framing = this.#framing
    if (framing === undefined || this.#datagramsOut >= datagramsMax) return false
    this.#datagramsOut += 1
    const { datagramPreface: preface } = framing
    const bytes = preface.length === 0 ? envelope : Buffer.concat([preface, envelope])
    this.#engine.datagram(this.#id, bytes)
    return true
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#engine.pause(this.#id)
    else this.#engine.resume(this.#id)
  }
}

/** A peer that closes with this code, or with 0, means it; after any other it may come back. */
const normalCode = 1000

/** Takes frames from the front of the lane: one, or as many as share a piece with the preface. */
function takePiece(lane: FrameQueue, preface: Uint8Array): Uint8Array {
  let count = 0
  let bytes = preface.length
  for (let frame = lane.at(0); frame !== undefined; frame = lane.at(count)) {
    if (count > 0 && bytes + frame.bytes.length > pieceBytesMax) break
    bytes += frame.bytes.length
    count += 1
  }
  const piece = new Uint8Array(bytes)
  piece.set(preface)
  let end = preface.length
  for (let at = 0; at < count; at += 1) {
    const frame = lane.at(at)
    if (frame === undefined) break
    piece.set(frame.bytes, end)
    end += frame.bytes.length
  }
  lane.drop(count)
  return piece
}
