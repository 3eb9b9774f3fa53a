import { type Envelope, FrameDecoder } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { ProtocolDetail } from '../closing/closings.ts'

/**
 * The streams on which a peer sends frames. Most transports have one; where there are more, the
 * first that carries bytes is the one of the handshake, and the others wait until it is over.
 * Within a stream the order holds, between streams there is none.
 */
export class InboundStreams {
  readonly #envelopeBytesMax: number
  readonly #first: Stream
  #firstId: number | undefined
  #others: Map<number, Stream> | undefined
  #allRead = false

  constructor(envelopeBytesMax: number) {
    this.#envelopeBytesMax = envelopeBytesMax
    this.#first = new Stream(envelopeBytesMax)
  }

  push(id: number, bytes: Uint8Array): void {
    const stream = id === this.#firstId ? this.#first : this.#streamOf(id)
    stream.push(bytes)
  }

  /** Nothing more comes on the stream; what has come is still returned. */
  end(id: number): void {
    const stream = id === this.#firstId ? this.#first : this.#others?.get(id)
    if (stream !== undefined) stream.ended = true
  }

  /** From here on frames of every stream are returned. */
  readAll(): void {
    this.#allRead = true
  }

  /** @throws WireError `frame_length`, now and at every later call */
  next(): Envelope | undefined {
    const envelope = this.#first.next()
    if (envelope !== undefined) this.#first.incompleteSinceMs = undefined
    if (envelope !== undefined || this.#others === undefined || !this.#allRead) return envelope
    return nextOf(this.#others)
  }

  /** What is wrong with the streams when no whole frame is left. */
  fault(): ProtocolDetail | undefined {
    if (this.#first.isCutOff) return 'incomplete frame'
    if (this.#others === undefined || !this.#allRead) return undefined
    let incompleteBytes = this.#first.pendingBytes
    for (const stream of this.#others.values()) {
      if (stream.isCutOff) return 'incomplete frame'
      incompleteBytes += stream.pendingBytes
    }
    return incompleteBytes > 2 * this.#envelopeBytesMax ? 'frame length' : undefined
  }

  /** Bytes that were received and not yet returned as envelopes. */
  get pendingBytes(): number {
    let bytes = this.#first.pendingBytes
    if (this.#others) for (const { pendingBytes } of this.#others.values()) bytes += pendingBytes
    return bytes
  }

  /** Notes since when frames are incomplete. */
  watch(clock: Pick<Clock, 'monotonicMs'>): void {
    watch(this.#first, clock)
    if (this.#others) for (const stream of this.#others.values()) watch(stream, clock)
  }

  /** Frames that are incomplete count from `nowMs` on: the peer could not complete them before. */
  restartWatch(nowMs: number): void {
    for (const stream of this.#all()) {
      if (stream.incompleteSinceMs !== undefined) stream.incompleteSinceMs = nowMs
    }
  }

  /** Since when the oldest incomplete frame has been so. */
  incompleteSinceMs(): number | undefined {
    let oldestMs = this.#first.incompleteSinceMs
    if (this.#others === undefined) return oldestMs
    for (const { incompleteSinceMs } of this.#others.values()) {
      if (incompleteSinceMs === undefined) continue
      oldestMs = Math.min(oldestMs ?? incompleteSinceMs, incompleteSinceMs)
    }
    return oldestMs
  }

  #streamOf(id: number): Stream {
    if (this.#firstId === undefined || id === this.#firstId) {
      this.#firstId = id
      return this.#first
    }
    this.#others ??= new Map()
    const known = this.#others.get(id)
    if (known !== undefined) return known
    const stream = new Stream(this.#envelopeBytesMax)
    this.#others.set(id, stream)
    return stream
  }

  #all(): readonly Stream[] {
    return this.#others === undefined ? [this.#first] : [this.#first, ...this.#others.values()]
  }
}

class Stream extends FrameDecoder {
  ended = false
  incompleteSinceMs: number | undefined

  /** Whether it ended within a frame, once no whole frame is left. */
  get isCutOff(): boolean {
    return this.ended && this.pendingBytes > 0
  }
}

function nextOf(streams: Map<number, Stream>): Envelope | undefined {
  for (const [id, stream] of streams) {
    const envelope = stream.next()
    if (envelope !== undefined) {
      stream.incompleteSinceMs = undefined
      return envelope
    }
    if (stream.ended && stream.pendingBytes === 0) streams.delete(id)
  }
  return undefined
}

function watch(stream: Stream, clock: Pick<Clock, 'monotonicMs'>): void {
  if (stream.pendingBytes === 0) stream.incompleteSinceMs = undefined
  else stream.incompleteSinceMs ??= clock.monotonicMs()
}
