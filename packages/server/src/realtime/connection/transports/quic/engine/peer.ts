import { limitGroupOf } from '../../limit-group.ts'
import { transportBufferBytesMax } from '../../transport.ts'
import type { ConnectionMemory } from './connection-memory.ts'
import type { CoreServer } from './core.ts'
import { datagramsMax } from './engine.ts'

type Chunk = { stream: number; bytes: Uint8Array; fin: boolean }

/** Packets of a paused peer that are kept, 2 KiB each at most; QUIC sends again what is lost. */
const heldPacketsMax = 64
/**
 * What the engine is given of a chunk at once, and what it may have that the peer has not
 * acknowledged: it keeps all of that, and what a peer lets it send has no bound.
 */
const pieceBytesMax = 16 * 1024
const unacknowledgedBytesMax = transportBufferBytesMax
/** How long a close waits at least, and at most, for the peer to have got what was sent. */
const closeWaitMsMin = 50
const closeWaitMsMax = 1000

/**
 * One connection inside the engine's thread: what waits to be sent, what is held back, and its end.
 * The engine has a queue of its own without a bound, so it is given nothing more while it is full.
 */
export class Peer {
  readonly id: number
  readonly address: string
  /** Whose it is, as limits by address count. */
  readonly group: string
  /** What its first packets are known by. */
  readonly key: string
  readonly server: CoreServer
  readonly handle: number
  isEstablished = false
  /** Its close has been sent. */
  isClosed = false
  /** What left the queues since it was last reported. */
  takenBytes = 0
  takenDatagrams = 0
  /** When its keep-alive is due. */
  keepAliveAtMs = 0
  /** Undefined while it is read from. */
  held: Uint8Array[] | undefined
  releasedAtMs = 0
  farewell: { stream: number; bytes: Uint8Array } | undefined
  end: { code: number; reason: Uint8Array; byMs: number; drains: boolean } | undefined
  #chunks: Chunk[] = []
  #datagrams: Uint8Array[] = []
  #fullStream: number | undefined
  #fullBytes = 0
  /** The most that the peer may not have acknowledged. */
  #unacknowledgedBytes = 0
  #sentAtMs: number | undefined

  constructor(
    id: number,
    at: { host: string; address: string; key: string; server: CoreServer; handle: number },
  ) {
    this.id = id
    this.address = at.address
    this.group = limitGroupOf(at.host) ?? at.address
    this.key = at.key
    this.server = at.server
    this.handle = at.handle
  }

  /** Whether the engine has been given everything, and took it. */
  get isDrained(): boolean {
    return this.#fullStream === undefined && this.#chunks.length === 0
  }

  /** What the engine holds of it beyond what an idle connection has. */
  get heldBytes(): number {
    return this.#memory.heldBytes() + this.#fullBytes
  }

  /** Whether bytes wait until the peer has acknowledged others. */
  get awaitsPeer(): boolean {
    return this.#fullStream === undefined && this.#chunks.length > 0
  }

  /** Whether datagrams wait until the engine has room again. */
  get hasDatagrams(): boolean {
    return this.#datagrams.length > 0
  }

  send(chunk: Chunk, nowMs: number): void {
    this.#chunks.push(chunk)
    this.flush(nowMs)
  }

  datagram(bytes: Uint8Array): void {
    const isTaken = this.#datagrams.length === 0 && this.server.datagram(this.handle, bytes)
    if (isTaken) this.takenDatagrams += 1
    else this.#datagrams.push(bytes)
  }

  /** Gives the engine what it takes. */
  flush(nowMs: number): void {
    while (this.#fullStream === undefined) {
      const [chunk] = this.#chunks
      if (chunk === undefined || !this.#hasRoom()) return
      const { stream, bytes, fin } = this.#takePiece(chunk)
      this.#sentAtMs = nowMs
      this.#unacknowledgedBytes += bytes.length
      if (this.server.send(this.handle, stream, bytes, fin)) this.takenBytes += bytes.length
      else {
        this.#fullStream = stream
        this.#fullBytes = bytes.length
      }
    }
  }

  get #memory(): ConnectionMemory {
    return this.server.memoryOf(this.handle)
  }

  /** The engine is asked once it may have too much. */
  #hasRoom(): boolean {
    if (this.#unacknowledgedBytes < unacknowledgedBytesMax) return true
    this.#unacknowledgedBytes = this.#memory.unacknowledgedBytes()
    return this.#unacknowledgedBytes < unacknowledgedBytesMax
  }

  #takePiece(chunk: Chunk): Chunk {
    if (chunk.bytes.length <= pieceBytesMax) {
      this.#chunks.shift()
      return chunk
    }
    const piece = { ...chunk, bytes: chunk.bytes.subarray(0, pieceBytesMax), fin: false }
    this.#chunks[0] = { ...chunk, bytes: chunk.bytes.subarray(pieceBytesMax) }
    return piece
  }

  /** Answers whether the engine took any. */
  flushDatagrams(): boolean {
    const before = this.takenDatagrams
    while (this.#datagrams[0] !== undefined) {
      if (!this.server.datagram(this.handle, this.#datagrams[0])) break
      this.#datagrams.shift()
      this.takenDatagrams += 1
    }
    return this.takenDatagrams > before
  }

  /**
   * What has left, once it is worth a message: the node has credit for four times as much. While
   * datagrams wait it may have none, and hears of each.
   */
  takenToReport(): { value: number; stream: number } | undefined {
    const { takenBytes: value, takenDatagrams: stream } = this
    const isLittle = value < transportBufferBytesMax / 4 && stream < datagramsMax / 4
    if (isLittle && (stream === 0 || !this.hasDatagrams)) return undefined
    this.takenBytes = 0
    this.takenDatagrams = 0
    return { value, stream }
  }

  /** The engine's queue of the stream is empty again. */
  drained(stream: number, nowMs: number): void {
    if (this.#fullStream !== stream) return
    this.#fullStream = undefined
    this.takenBytes += this.#fullBytes
    this.#fullBytes = 0
    this.#sentAtMs = nowMs
    this.flush(nowMs)
  }

  /** Nothing can be sent on the stream any more; what waits for it is gone. */
  streamOver(stream: number, nowMs: number): void {
    const dropped = this.#chunks.filter((chunk) => chunk.stream === stream)
    for (const { bytes } of dropped) this.takenBytes += bytes.length
    this.#chunks = this.#chunks.filter((chunk) => chunk.stream !== stream)
    this.drained(stream, nowMs)
  }

  /**
   * Keeps a packet of a paused peer; false when one is lost for it. The newest is never that one:
   * it may be the end of the connection, which nobody sends again.
   */
  hold(packet: Uint8Array): boolean {
    const { held = [] } = this
    const isFull = held.length >= heldPacketsMax
    if (isFull) held.pop()
    // The socket uses its memory again.
    held.push(Uint8Array.from(packet))
    return !isFull
  }

  /** Its packets are held from here on. */
  pause(nowMs: number): void {
    this.held ??= []
    this.releasedAtMs = nowMs
  }

  /** Takes the oldest packet that is held. */
  release(nowMs: number): Uint8Array | undefined {
    this.releasedAtMs = nowMs
    return this.held?.shift()
  }

  resume(): Uint8Array[] {
    const held = this.held ?? []
    this.held = undefined
    return held
  }

  /**
   * When its close may be sent, which overtakes data: what was lost is sent again before it, and a
   * peer has three round trips after the last bytes to read them.
   */
  closeAtMs(): number {
    const { byMs, drains } = this.end ?? { byMs: 0, drains: false }
    if (!drains) return 0
    if (!this.isDrained || this.#memory.unacknowledgedBytes() > 0) return byMs
    if (this.#sentAtMs === undefined) return 0
    const waitMs = 3 * this.server.roundTripMs(this.handle)
    const boundedMs = Math.min(closeWaitMsMax, Math.max(closeWaitMsMin, waitMs))
    return Math.min(byMs, this.#sentAtMs + boundedMs)
  }

  sendFarewell(nowMs: number): void {
    const { farewell, end } = this
    this.farewell = undefined
    if (farewell !== undefined) this.send({ ...farewell, fin: true }, nowMs)
    if (end === undefined) return
    end.byMs = nowMs + closeWaitMsMax
    end.drains = true
  }

  /** What waits is lost by a close that does not drain. */
  beginClose(how: { code: number; reason: Uint8Array; drains: boolean }, nowMs: number): void {
    if (!how.drains) this.#chunks = []
    this.end ??= { ...how, byMs: nowMs + closeWaitMsMax }
  }
}
