import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { CertificatePair } from '../../../kernel/http/connection/certificates.ts'
import type { ProtocolDetail } from '../closing/closings.ts'
import type { FrameQueue } from '../send-queue/frame-queue.ts'

/**
 * One way by which players reach the node. The composition root has a list of them: status, ready
 * line, metrics, certificates and shutdown are derived from it.
 */
export type Transport = {
  /** Its name in `/status`, e.g. `websocket`. */
  readonly name: string
  /** Whether the ready line names its address, because it has a socket of its own. */
  readonly hasOwnSocket: boolean
  /**
   * Accepts connections from here on; `httpAddress` is where the HTTP listener listens. A transport
   * that is on by default only may resolve at once and serve later, or never.
   *
   * @throws when the operator asked for it and it cannot serve
   */
  start(httpAddress: string): Promise<void>
  state(): TransportState
  /** Takes over upgrades of the HTTP listener; absent where it has none, or is off. */
  readonly acceptUpgrade?: AcceptUpgrade | undefined
  /** New connections get this certificate. Called before `start` where one is configured. */
  setCertificate?(pair: CertificatePair): void
  /** Counters and gauges that it alone has, by their names in `/status`. */
  metrics?(): Record<string, number>
  /** Accepts nothing more and gives its sockets back. The gateway has ended its connections. */
  close(): Promise<void>
}

/** What `/status` says about a transport. */
export type TransportState = {
  enabled: boolean
  available: boolean
  /** Where it listens, or where it was asked to while it is not available. */
  bind: string
  path?: string
  /** Where players reach it, where the operator says so. */
  url?: string
  /** Of the leaf certificate, in base64, where clients may have to pin it. */
  certificate_sha256?: string
}

/**
 * Takes over an upgrade request. The HTTP server has checked that it is a GET of the realtime
 * path; everything else that can be wrong with it is answered here.
 */
export type AcceptUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** The path of realtime play wherever there are paths. */
export const realtimePath = '/v1/realtime'

/**
 * One accepted connection, as a transport gives it to the gateway. It has two lanes. The reliable
 * one is a stream of frames in each direction, and a peer may open more than one towards the node.
 * The unreliable one is made of datagrams, where the transport has them. Nothing here waits: what a
 * transport cannot do at once it does later, and reports through `ConnectionEvents`.
 */
export type Connection = {
  /** What connection limits count by; undefined for loopback, which counts towards the total. */
  readonly limitGroup: string | undefined
  /**
   * How many bytes the transport takes now. From 0 on frames stay in their lanes until `drained`
   * is reported, so a peer that reads slowly fills its lanes and not the transport's memory.
   */
  readonly credit: number
  /** Undefined where there are none: unreliable frames then travel on the stream. */
  readonly datagrams: Datagrams | undefined
  /**
   * Takes what fits into one write from the front of the lanes (`drop`): at least one frame of
   * those that wait, reliable ones first. Called only while there is credit.
   */
  write(lanes: Lanes): void
  /** Stops reading all streams; what the peer sends waits with the peer. */
  pauseReading(): void
  resumeReading(): void
  /**
   * Reads all streams of the peer. Until then only the first that brought bytes is read, because
   * the handshake runs on it. Absent where there is one.
   */
  readAllStreams?(): void
  /** Asks the peer for a sign of life. Absent where the transport watches its path by itself. */
  ping?(): void
  /**
   * Sends a few bytes that ask for nothing, so that a connection that is not read notices that its
   * peer is gone. Absent where that is noticed without reading.
   */
  probe?(): void
  /**
   * Begins the close; the peer may take its time. Nothing is written afterwards. With `drains` it
   * comes behind everything that was written, where a close could overtake it.
   */
  close(code: number, reason: string, drains: boolean): void
  /** Ends the connection at once. */
  destroy(): void
}

/** The queues of one connection; a lane without frames may be absent. */
export type Lanes = { reliable: FrameQueue | undefined; unreliable: FrameQueue | undefined }

export type Datagrams = {
  /** Longest datagram on the path now, in bytes; it may change at any time. */
  readonly bytesMax: number
  /** False when there is no room for one more now; `drained` is reported once there is. */
  send(datagram: Uint8Array): boolean
}

/** What the gateway gives to a transport for one connection; nothing here throws. */
export type ConnectionEvents = {
  /**
   * The next bytes of a stream of frames, cut anywhere. Any number names a stream; a
   * transport with one stream uses 0. The bytes must not be changed afterwards.
   */
  received(stream: number, bytes: Uint8Array): void
  /** The peer has ended or reset the stream: nothing more comes on it. */
  streamEnded(stream: number): void
  /** One envelope without its length. The bytes must not be changed afterwards. */
  receivedDatagram(datagram: Uint8Array): void
  /** The peer broke a rule that only the transport sees. */
  violated(detail: ProtocolDetail): void
  /** A control frame of the transport that asks for an answer; counts like an envelope. */
  pinged(bytes: number): void
  /** Its answer; one that nobody asked for counts like an envelope, too. */
  ponged(): void
  /** There is credit again, or room for a datagram. */
  drained(): void
  /** The transport is closing the connection by itself, or lost it; called at most once. */
  ending(end: PeerEnd): void
  /** The connection is over. The last event. `confirmed`: the peer has got the close. */
  closed(confirmed?: boolean): void
}

/**
 * Why a connection ends that the gateway did not end. `left` is wilful: the peer closed without a
 * code or with the one that says so, or broke the rules of the transport. `lost` is all the rest.
 */
export type PeerEnd = 'left' | 'lost'

/** What a transport needs of the gateway. */
export type Acceptor = {
  /** Whether a limit forbids one more connection from there. */
  refuses(limitGroup: string | undefined): boolean
  accept(connection: Connection): ConnectionEvents
}

/** Bytes that a transport holds at most before its credit is used up. */
export const transportBufferBytesMax = 256 * 1024
