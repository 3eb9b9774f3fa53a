import type { EnvelopeObserver } from '../../../kernel/play/recording.ts'
import type { TransportLimits } from '../../config.ts'
import { bodyBytesOf, kindOf, type OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { QueueTotals } from '../../frames/queue-totals.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { Connection, Datagrams, Lanes } from '../transports/transport.ts'
import { FrameQueue } from './frame-queue.ts'

/** What the send queues of all connections share. */
export type SendQueueDeps = {
  limits: TransportLimits
  metrics: GatewayMetrics
  totals: QueueTotals
}

/**
 * The two lanes of one connection. A reliable frame is never dropped: one that does not fit ends
 * the connection. Of the unreliable ones the oldest gives way. Lanes exist only while something
 * waits in them, because most connections are idle most of the time.
 */
export class SendQueue implements Lanes {
  reliable: FrameQueue | undefined
  unreliable: FrameQueue | undefined
  readonly #connection: Connection
  readonly #deps: SendQueueDeps

  constructor(connection: Connection, deps: SendQueueDeps) {
    this.#connection = connection
    this.#deps = deps
  }

  /** Bytes waiting in both lanes. */
  get bytes(): number {
    return (this.reliable?.bytes ?? 0) + (this.unreliable?.bytes ?? 0)
  }

  /** False when the frame does not fit, even after the transport took what it could. */
  queueReliable(frame: OutgoingFrame): boolean {
    if (!this.#fits(frame)) {
      this.transmit()
      if (!this.#fits(frame)) return false
    }
    const { metrics, totals } = this.#deps
    this.reliable ??= new FrameQueue()
    this.reliable.push(frame)
    metrics.reliable_queue_bytes += frame.bytes.length
    totals.queuedBytes += frame.bytes.length
    if (this.reliable.bytes > totals.highWaterBytes) totals.highWaterBytes = this.reliable.bytes
    return true
  }

  /** False when the frame is too large for a datagram and does not fit reliably either. */
  queueUnreliable(frame: OutgoingFrame): boolean {
    const { datagrams } = this.#connection
    if (datagrams !== undefined && !fits(datagrams, frame)) return this.#promote(frame)
    const { metrics, totals } = this.#deps
    this.unreliable ??= new FrameQueue()
    const lane = this.unreliable
    const change = lane.merge(frame)
    if (change !== undefined) {
      totals.queuedBytes += change
      metrics.unreliable_coalesced_total += 1
      return true
    }
    lane.push(frame)
    totals.queuedBytes += frame.bytes.length
    this.#trim(lane)
    return true
  }

  /** Reports a frame that is about to be queued, and whether it leaves as a datagram. */
  report(observer: EnvelopeObserver | undefined, frame: OutgoingFrame, unreliable: boolean): void {
    const { datagrams } = this.#connection
    const datagram = unreliable && datagrams !== undefined && fits(datagrams, frame)
    observer?.queued(kindOf(frame), datagram, bodyBytesOf(frame))
  }

  /**
   * Queues the positions of all senders but `own`, at most one of each. False when one is too large
   * for a datagram and does not fit reliably either.
   */
  queuePositions(positions: readonly OutgoingFrame[], own: number): boolean {
    if (this.unreliable !== undefined || this.#connection.datagrams !== undefined) {
      return positions.every((frame) => frame.mergeKey === own || this.queueUnreliable(frame))
    }
    const lane = new FrameQueue()
    lane.pushOthers(positions, own)
    if (lane.length === 0) return true
    this.unreliable = lane
    this.#deps.totals.queuedBytes += lane.bytes
    this.#trim(lane)
    return true
  }

  /** Hands the transport what it takes now. */
  transmit(): void {
    const { metrics, totals } = this.#deps
    const connection = this.#connection
    if (connection.datagrams !== undefined) this.#sendDatagrams(connection.datagrams)
    const reliableBytes = this.reliable?.bytes ?? 0
    const unreliableBytes = this.unreliable?.bytes ?? 0
    const frames = this.#length()
    if (frames === 0) return
    const lanes: Lanes =
      connection.datagrams === undefined ? this : { reliable: this.reliable, unreliable: undefined }
    while (hasFrames(lanes) && connection.credit > 0) connection.write(lanes)
    const reliableTaken = reliableBytes - (this.reliable?.bytes ?? 0)
    const taken = reliableTaken + unreliableBytes - (this.unreliable?.bytes ?? 0)
    metrics.messages_out_total += frames - this.#length()
    metrics.bytes_out_total += taken
    metrics.reliable_queue_bytes -= reliableTaken
    totals.queuedBytes -= taken
    if (this.reliable?.length === 0) this.reliable = undefined
    if (this.unreliable?.length === 0) this.unreliable = undefined
  }

  /** Takes out the reliable frames that wait, in order. */
  takeReliable(): OutgoingFrame[] {
    const frames = this.reliable?.takeAll() ?? []
    const bytes = frames.reduce((sum, frame) => sum + frame.bytes.length, 0)
    this.#deps.metrics.reliable_queue_bytes -= bytes
    this.#deps.totals.queuedBytes -= bytes
    this.reliable = undefined
    return frames
  }

  /** Forgets what waits; nothing of it will be sent. */
  discard(): void {
    const { metrics, totals } = this.#deps
    metrics.reliable_queue_bytes -= this.reliable?.bytes ?? 0
    totals.queuedBytes -= this.bytes
    this.reliable = undefined
    this.unreliable = undefined
  }

  /** Sends what waits in the unreliable lane, until the transport has no room for more. */
  #sendDatagrams(datagrams: Datagrams): void {
    const { metrics, totals } = this.#deps
    const lane = this.unreliable
    for (let frame = lane?.at(0); lane && frame; frame = lane.at(0)) {
      if (!fits(datagrams, frame)) {
        // The path takes less than when the frame was queued.
        totals.queuedBytes -= lane.drop(1)
        if (!this.#promote(frame)) metrics.unreliable_dropped_total += 1
        continue
      }
      const datagram = frame.bytes.subarray(lengthFieldBytes)
      if (!datagrams.send(datagram)) return
      totals.queuedBytes -= lane.drop(1)
      metrics.messages_out_total += 1
      metrics.bytes_out_total += datagram.length
    }
    this.unreliable = undefined
  }

  #promote(frame: OutgoingFrame): boolean {
    this.#deps.metrics.unreliable_promoted_total += 1
    return this.queueReliable(frame)
  }

  #fits(frame: OutgoingFrame): boolean {
    const { reliable_queue_capacity, reliable_queue_bytes } = this.#deps.limits
    const lane = this.reliable
    if (lane === undefined) return frame.bytes.length <= reliable_queue_bytes
    return (
      lane.length < reliable_queue_capacity &&
      lane.bytes + frame.bytes.length <= reliable_queue_bytes
    )
  }

  /** What an unreliable lane may not hold leaves, at best to the transport. */
  #trim(lane: FrameQueue): void {
    if (this.#isOver(lane)) this.transmit()
    while (this.#isOver(lane)) {
      this.#deps.totals.queuedBytes -= lane.drop(1)
      this.#deps.metrics.unreliable_dropped_total += 1
    }
  }

  /** Whether an unreliable lane holds more than it may. */
  #isOver(lane: FrameQueue): boolean {
    const { unreliable_queue_capacity, unreliable_queue_bytes } = this.#deps.limits
    return lane.length > unreliable_queue_capacity || lane.bytes > unreliable_queue_bytes
  }

  #length(): number {
    return (this.reliable?.length ?? 0) + (this.unreliable?.length ?? 0)
  }
}

/** A frame begins with its length, which a datagram has no need of. */
const lengthFieldBytes = 4

function fits({ bytesMax }: Datagrams, { bytes }: OutgoingFrame): boolean {
  return bytes.length - lengthFieldBytes <= bytesMax
}

function hasFrames({ reliable, unreliable }: Lanes): boolean {
  return (reliable?.length ?? 0) + (unreliable?.length ?? 0) > 0
}
