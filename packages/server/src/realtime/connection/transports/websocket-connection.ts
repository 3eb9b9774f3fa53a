import type { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { atEndOfTurn } from '../../../kernel/clock.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { FrameQueue } from '../send-queue/frame-queue.ts'
import {
  type Connection,
  type ConnectionEvents,
  type Lanes,
  transportBufferBytesMax,
} from './transport.ts'
import {
  messageHeaderBytes,
  messageHeaderBytesMax,
  messageOf,
  writeMessageHeader,
} from './websocket-frames.ts'

/** Frames of one turn share messages up to this size; a larger frame travels alone. */
const sharedMessageBytesMax = 64 * 1024

/**
 * One WebSocket. Receiving and closing are left to `ws`; frames are written to its socket directly,
 * as whole unmasked messages, because one write per turn and connection is what makes relaying
 * cheap.
 */
export class WebSocketConnection implements Connection {
  readonly limitGroup: string | undefined
  /** A WebSocket has one way for both lanes. */
  readonly datagrams = undefined
  readonly #webSocket: WebSocket
  readonly #socket: Duplex
  readonly #scratch: MessageScratch
  events: ConnectionEvents | undefined
  #awaitsDrain = false
  #isPaused = false
  /** In this turn, and much. */
  #hasRead = false
  /** What the last ping of this turn says. */
  #askedBy: Buffer | undefined

  constructor(
    webSocket: WebSocket,
    shared: { socket: Duplex; scratch: MessageScratch; limitGroup: string | undefined },
  ) {
    this.#webSocket = webSocket
    this.#socket = shared.socket
    this.#scratch = shared.scratch
    this.limitGroup = shared.limitGroup
  }

  get credit(): number {
    if (this.#awaitsDrain || this.#webSocket.readyState !== WebSocket.OPEN) return 0
    return this.#socket.writable ? transportBufferBytesMax - this.#socket.writableLength : 0
  }

  write(lanes: Lanes): void {
    writeNextMessage(this.#socket, lanes, this.#scratch)
    this.#watchBuffer()
  }

  pauseReading(): void {
    this.#isPaused = true
    this.#webSocket.pause()
  }

  resumeReading(): void {
    this.#isPaused = false
    if (!this.#hasRead) this.#webSocket.resume()
  }

  /** Much was read: the rest waits for the next turn, as the system would bring megabytes now. */
  hasRead(): void {
    if (this.#hasRead) return
    this.#hasRead = true
    this.#webSocket.pause()
    atEndOfTurn(() => {
      this.#hasRead = false
      if (!this.#isPaused) this.#webSocket.resume()
    })
  }

  ping(): void {
    this.#webSocket.ping()
    this.#watchBuffer()
  }

  /** Answers the last ping of a turn, which answers for those before it. */
  pongLater(payload: Buffer): void {
    if (this.#askedBy === undefined) atEndOfTurn(() => this.#answerPing())
    this.#askedBy = payload
  }

  #answerPing(): void {
    const payload = this.#askedBy
    this.#askedBy = undefined
    if (payload !== undefined) this.#pong(payload)
  }

  #pong(payload: Buffer): void {
    // A peer that asks and does not read gets no answer, instead of memory.
    if (this.#socket.writableLength >= transportBufferBytesMax) return
    this.#webSocket.pong(payload)
    this.#watchBuffer()
  }

  /** A pong that nobody asked for is answered by nobody; a socket without a peer refuses it. */
  probe(): void {
    this.#pong(noPayload)
  }

  close(code: number, reason: string): void {
    this.#webSocket.close(code, reason)
  }

  destroy(): void {
    this.#webSocket.terminate()
  }

  /** Whatever filled the buffer: there is no credit until it is empty, which is reported. */
  #watchBuffer(): void {
    if (this.#awaitsDrain || this.#socket.writableLength < transportBufferBytesMax) return
    this.#awaitsDrain = true
    this.#socket.once('drain', () => {
      this.#awaitsDrain = false
      this.events?.drained()
    })
  }
}

const noPayload = Buffer.alloc(0)

/** Memory in which messages are put together, shared by all connections of a transport. */
export type MessageScratch = { buffer: Buffer }

export function createMessageScratch(): MessageScratch {
  return { buffer: newScratchBuffer() }
}

/** Writes one message from the front of the lanes. */
function writeNextMessage(socket: Duplex, lanes: Lanes, scratch: MessageScratch): void {
  const { reliable, unreliable } = lanes
  const first = reliable?.at(0) ?? unreliable?.at(0)
  if (first === undefined) return
  const reliableCount = reliable === undefined ? 0 : countSharing(reliable, 0)
  const reliableBytes = reliable === undefined ? 0 : bytesOf(reliable, reliableCount)
  const drainsReliable = reliable === undefined || reliableCount === reliable.length
  const unreliableCount =
    unreliable === undefined || !drainsReliable ? 0 : countSharing(unreliable, reliableBytes)
  if (reliableCount + unreliableCount <= 1) {
    socket.write(messageOf(first))
    ;(reliable?.length ? reliable : unreliable)?.drop(1)
    return
  }
  const bytes = reliableBytes + (unreliable ? bytesOf(unreliable, unreliableCount) : 0)
  const headerBytes = messageHeaderBytes(bytes)
  writeMessageHeader(scratch.buffer, 0, bytes)
  let end = headerBytes
  if (reliable) end = moveFrames(reliable, reliableCount, { buffer: scratch.buffer, end })
  if (unreliable) end = moveFrames(unreliable, unreliableCount, { buffer: scratch.buffer, end })
  socket.write(scratch.buffer.subarray(0, end))
  // What the system took at once may be overwritten; what waits in the socket must stay as it is.
  if (socket.writableLength > 0) scratch.buffer = newScratchBuffer()
}

/** How many frames from the front fit into one message that already holds `bytes`. */
function countSharing(lane: FrameQueue, bytes: number): number {
  if (bytes + lane.bytes <= sharedMessageBytesMax) return lane.length
  let total = bytes
  for (let count = 0; ; count += 1) {
    const frame = lane.at(count)
    if (frame === undefined) return count
    total += frame.bytes.length
    if (total > sharedMessageBytesMax) return count
  }
}

function bytesOf(lane: FrameQueue, count: number): number {
  if (count === lane.length) return lane.bytes
  let bytes = 0
  for (let index = 0; index < count; index += 1) bytes += lane.at(index)?.bytes.length ?? 0
  return bytes
}

function moveFrames(
  lane: FrameQueue,
  count: number,
  target: { buffer: Buffer; end: number },
): number {
  let end = target.end
  for (let index = 0; index < count; index += 1) {
    const frame: OutgoingFrame | undefined = lane.at(index)
    if (frame === undefined) break
    target.buffer.set(frame.bytes, end)
    end += frame.bytes.length
  }
  lane.drop(count)
  return end
}

function newScratchBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(sharedMessageBytesMax + messageHeaderBytesMax)
}
