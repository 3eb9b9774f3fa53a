import { type Envelope, frameHeaderBytes, WireError } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { TransportLimits } from '../../config.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { ProtocolDetail } from '../closing/closings.ts'
import type { Connection } from '../transports/transport.ts'
import { InboundStreams } from './inbound-streams.ts'
import { ScriptLine } from './script-line.ts'
import { TokenBuckets } from './token-buckets.ts'
import { type ShareWaiter, shareOf, shareOfTurn, type TurnShares } from './turn-shares.ts'

/** Why no envelopes are taken; they are again when no reason is left. */
export const pauseReasons = { handshake: 1, rate: 2, script: 4, join: 8, turn: 16 } as const
export type PauseReason = keyof typeof pauseReasons

/** Who gets the envelopes of one connection. */
export type InboundConsumer = {
  take(envelope: Envelope): void
  takeDatagram(envelope: Envelope): void
  /** All envelopes are taken and the stream cannot go on; reported again at every later `pump`. */
  broken(detail: ProtocolDetail): void
  /** The rate is used up; somebody has to call `refill` from time to time. */
  throttled(): void
  /** The transport is read again, after so long. */
  readAgain(pausedMs: number): void
}

export type InboundDeps = {
  limits: TransportLimits
  clock: Clock
  metrics: GatewayMetrics
  turnShares: TurnShares
  /** Bytes that all connections hold for the script. */
  heldForScript: { bytes: number }
}

/**
 * A connection that waits for the script is still read, also beyond its rate, so that its close is
 * seen at once. `lineBytes` is where no more of its envelopes are cut, `bytes` where it is not read
 * any more; all connections together may hold a share of what the node may have queued.
 */
const held = { lineBytes: 4 * 1024 * 1024, bytes: 16 * 1024 * 1024, shareOfQueued: 1 / 4 }

/** A piece so small that completes no frame counts like an envelope, because it costs as much. */
const crumbBytesMax = 256
/** Behind frames that wait for their turn so much is read, and in so many pieces. */
const waitingBytesMax = 64 * 1024
const waitingPiecesMax = 256
/** Datagrams that may wait for their turn; further ones are lost. */
const waitingDatagramsMax = 1024

/** The receiving half of one connection: cuts frames, keeps to the rate, stops and goes on. */
export class Inbound implements ShareWaiter {
  readonly #connection: Connection
  readonly #consumer: InboundConsumer
  readonly #deps: InboundDeps
  readonly #streams: InboundStreams
  /** Envelopes that were cut, paid for and given back. */
  #backlog: Envelope[] | undefined
  /** Envelopes that were cut and paid for, and wait for the script. */
  readonly #line = new ScriptLine()
  #heldBytes = 0
  #buckets: TokenBuckets | undefined
  /** The turn in which it took something last, and what is left of its share of that. */
  #turn = -1
  #shareLeft = 0
  #datagrams: Envelope[] | undefined
  /** Pieces that came while envelopes waited, less the envelopes that were taken since. */
  #waitingPieces = 0
  /** What the transport reported while frames waited for their turn. */
  #reports: (() => void)[] | undefined
  #pauses = 0
  /** Since when the transport is not read. */
  #pausedAtMs: number | undefined
  #pumping = false
  #stopped = false
  #brokenBy: ProtocolDetail | undefined

  constructor(connection: Connection, consumer: InboundConsumer, deps: InboundDeps) {
    this.#connection = connection
    this.#consumer = consumer
    this.#deps = deps
    this.#streams = new InboundStreams(deps.limits.max_envelope_bytes)
  }

  push(stream: number, bytes: Uint8Array): void {
    if (this.#stopped) return
    this.#deps.metrics.bytes_in_total += bytes.length
    if (this.#brokenBy !== undefined) return
    const bytesBefore = this.#streams.pendingBytes
    this.#streams.push(stream, bytes)
    this.pump()
    if (this.#pauses === 0) {
      const isCrumb = bytes.length < crumbBytesMax
      if (isCrumb && this.#streams.pendingBytes === bytesBefore + bytes.length) this.spend(0)
      return
    }
    this.#waitingPieces += 1
    this.#read()
  }

  /** The peer has ended a stream. */
  end(stream: number): void {
    this.#streams.end(stream)
    this.pump()
  }

  /** The handshake is over: frames of all streams are taken from here on. */
  readAll(): void {
    this.#streams.readAll()
    this.#connection.readAllStreams?.()
  }

  /** Gives the consumer the envelope of a datagram; one that is not taken is lost, and counted. */
  datagram(bytes: Uint8Array, isLive: boolean): void {
    if (this.#stopped || this.#brokenBy !== undefined) return
    const { metrics } = this.#deps
    metrics.bytes_in_total += bytes.length
    const isLimited = (this.#pauses & ~(pauseReasons.script | pauseReasons.turn)) !== 0
    if (isLimited || !isLive || this.#datagrams?.length === waitingDatagramsMax) {
      metrics.datagram_limited_total += 1
      return
    }
    this.spend(bytes.length)
    const [high, low] = bytes
    if (high === undefined || low === undefined) {
      metrics.decode_errors_total += 1
      return
    }
    const envelope = { kind: (high << 8) | low, body: bytes.subarray(2) }
    this.#beginTurn()
    // Those that wait come first, also when others have their turn before this connection.
    if (this.#shareLeft > 0 && this.#datagrams === undefined) {
      this.#shareLeft -= shareOf(envelope)
      this.#consumer.takeDatagram(envelope)
    } else {
      this.#datagrams ??= []
      this.#datagrams.push(envelope)
      this.#awaitTurn()
    }
  }

  /** The stream ends here; what was received before is still taken. */
  breakOff(detail: ProtocolDetail): void {
    if (this.#stopped || this.#brokenBy !== undefined) return
    this.#deps.metrics.decode_errors_total += 1
    this.#brokenBy = detail
    this.pump()
  }

  /** Gives the consumer the envelopes that are there, until somebody pauses or stops. */
  pump(): void {
    if (this.#pumping) return
    this.#pumping = true
    this.#beginTurn()
    try {
      while (this.#pauses === 0 && !this.#stopped) {
        if (this.#shareLeft <= 0 && this.#hasMore()) {
          this.#awaitTurn()
          break
        }
        const envelope = this.#backlog?.shift() ?? this.#cut()
        if (envelope === undefined) {
          if (this.#brokenBy !== undefined) this.#consumer.broken(this.#brokenBy)
          break
        }
        this.#shareLeft -= shareOf(envelope)
        if (this.#waitingPieces > 0) this.#waitingPieces -= 1
        this.#consumer.take(envelope)
      }
    } finally {
      this.#pumping = false
    }
    if (this.#backlog?.length === 0) this.#backlog = undefined
    if (this.#waitingPieces > 0 && !this.#hasMore()) this.#waitingPieces = 0
    if (!this.#stopped) this.#streams.watch(this.#deps.clock)
  }

  /** Goes on with what waited for this turn. */
  takeShare(): void {
    this.#pauses &= ~pauseReasons.turn
    this.#beginTurn()
    const datagrams = this.#datagrams ?? []
    while (this.#shareLeft > 0 && !this.#stopped) {
      const envelope = datagrams.shift()
      if (envelope === undefined) break
      this.#shareLeft -= shareOf(envelope)
      this.#consumer.takeDatagram(envelope)
    }
    if (datagrams.length === 0) this.#datagrams = undefined
    else if (!this.#stopped) this.#awaitTurn()
    this.pump()
    if (!this.#awaitsTurnOnly()) {
      const reports = this.#reports ?? []
      this.#reports = undefined
      for (const report of reports) report()
    }
    this.#read()
  }

  /** Keeps a report that comes behind frames which wait for their turn; false if it need not. */
  defers(report: () => void): boolean {
    if (!this.#awaitsTurnOnly()) return false
    this.#reports ??= []
    this.#reports.push(report)
    return true
  }

  /** The envelopes that are already there, up to `max`, without giving them to the consumer. */
  takeAvailable(max: number): Envelope[] {
    const envelopes: Envelope[] = []
    while (envelopes.length < max && this.#pauses === 0) {
      const envelope = this.#cut()
      if (envelope === undefined) break
      envelopes.push(envelope)
    }
    return envelopes
  }

  /** Puts envelopes in front of everything that is still to come. */
  giveBack(envelopes: Envelope[]): void {
    if (envelopes.length === 0) return
    this.#backlog = this.#backlog === undefined ? envelopes : [...envelopes, ...this.#backlog]
  }

  /** Whether envelopes wait for the script. */
  get hasLine(): boolean {
    return this.#line.length > 0
  }

  /** Puts an envelope behind those that wait for the script. */
  putInLine(envelope: Envelope): void {
    this.#line.push(envelope)
    if (this.#line.bytes >= held.lineBytes) this.pause('script')
    else this.#read()
  }

  /** Takes the first envelope that waits for the script; `moveUp` has to follow. */
  takeFromLine(): Envelope | undefined {
    return this.#line.shift()
  }

  /** Cuts more envelopes once there is room in the line. */
  moveUp(): void {
    if (this.#line.bytes <= held.lineBytes / 2) this.resume('script')
    this.#read()
  }

  pause(reason: PauseReason): void {
    this.#pauses |= pauseReasons[reason]
    this.#read()
  }

  /** Takes envelopes again when this was the last reason. */
  resume(reason: PauseReason): void {
    if ((this.#pauses & pauseReasons[reason]) === 0) return
    this.#pauses &= ~pauseReasons[reason]
    if (this.#stopped) return
    // The peer could not complete its frame while nothing was cut.
    if (this.#pauses === 0) this.#streams.restartWatch(this.#deps.clock.monotonicMs())
    // Many get their rate at one moment.
    if (reason === 'rate' && this.#hasMore()) this.#awaitTurn()
    this.pump()
    this.#read()
  }

  /** Whether the transport is read. */
  get isRead(): boolean {
    return this.#pausedAtMs === undefined
  }

  /** Whether the transport is not read because too much waits for the script. */
  get isHeldUp(): boolean {
    return !this.isRead && this.hasLine
  }

  /** Counts one envelope of `bytes` against the rate and pauses when it is used up. */
  spend(bytes: number): void {
    const { limits, clock, metrics } = this.#deps
    this.#buckets ??= new TokenBuckets(limits, clock.monotonicMs())
    if (this.#buckets.spend(bytes) || this.#buckets.refill(clock.monotonicMs())) return
    if ((this.#pauses & pauseReasons.rate) !== 0) return
    metrics.inbound_paused_total += 1
    this.pause('rate')
    this.#consumer.throttled()
  }

  /** Adds what the rate has given since; true when the buckets are not empty any more. */
  refill(nowMs: number): boolean {
    if (this.#buckets === undefined || !this.#buckets.refill(nowMs)) return false
    if (this.#buckets.isFull()) this.#buckets = undefined
    return true
  }

  /** How long a frame has been incomplete while it could have been completed. */
  incompleteForMs(nowMs: number): number {
    if (this.#pauses !== 0 || this.#stopped) return 0
    return nowMs - (this.#streams.incompleteSinceMs() ?? nowMs)
  }

  /** Nothing is taken any more; the connection is read so that it can close. */
  stop(): void {
    this.#stopped = true
    this.#backlog = undefined
    this.#datagrams = undefined
    this.#line.clear()
    this.#hold(0)
    if (!this.isRead) this.#connection.resumeReading()
  }

  /** Reads the transport, or stops reading it, as the reasons and what is held want it. */
  #read(): void {
    if (this.#stopped) return
    const waits = this.hasLine
    this.#hold(waits ? this.#line.bytes + this.#streams.pendingBytes : 0)
    const readBeyond = waits ? pauseReasons.script | pauseReasons.rate : pauseReasons.script
    const stops = this.#pauses & ~readBeyond & ~pauseReasons.turn
    const wanted = stops === 0 && !this.#holdsTooMuch() && !this.#hasFullTurn()
    if (wanted === this.isRead) return
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#pausedAtMs === undefined) {
      this.#pausedAtMs = nowMs
      this.#connection.pauseReading()
    } else {
      const pausedMs = nowMs - this.#pausedAtMs
      this.#pausedAtMs = undefined
      this.#connection.resumeReading()
      this.#consumer.readAgain(pausedMs)
    }
  }

  #beginTurn(): void {
    const turn = this.#deps.turnShares.turn()
    if (turn === this.#turn) return
    this.#turn = turn
    this.#shareLeft = shareOfTurn
  }

  #awaitTurn(): void {
    this.#pauses |= pauseReasons.turn
    this.#deps.turnShares.await(this)
  }

  #hasMore(): boolean {
    return this.#backlog !== undefined || this.#streams.pendingBytes > 0
  }

  /** Whether the share of a turn is all that it waits for. */
  #awaitsTurnOnly(): boolean {
    return this.#pauses === pauseReasons.turn && !this.#stopped
  }

  #hasFullTurn(): boolean {
    if ((this.#pauses & pauseReasons.turn) === 0) return false
    const { pendingBytes } = this.#streams
    return pendingBytes >= waitingBytesMax || this.#waitingPieces >= waitingPiecesMax
  }

  #hold(bytes: number): void {
    this.#deps.heldForScript.bytes += bytes - this.#heldBytes
    this.#heldBytes = bytes
  }

  /** A connection that is not read has to fall to half before it is read again. */
  #holdsTooMuch(): boolean {
    const share = this.isRead ? 1 : 1 / 2
    const { heldForScript, limits } = this.#deps
    if (this.#heldBytes === 0) return false
    const totalMax = held.shareOfQueued * limits.max_queued_bytes_total
    return this.#heldBytes >= share * held.bytes || heldForScript.bytes >= totalMax
  }

  #cut(): Envelope | undefined {
    try {
      const envelope = this.#streams.next()
      if (envelope !== undefined) {
        this.spend(frameHeaderBytes + envelope.body.length)
        return envelope
      }
      const fault = this.#streams.fault()
      if (fault !== undefined) this.breakOff(fault)
      return undefined
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      this.breakOff('frame length')
      return undefined
    }
  }
}
