import type { FrameQueue } from '../send-queue/frame-queue.ts'

/**
 * What a transport gives to the gateway for one accepted connection. Nothing here waits: what a
 * transport cannot do at once it does later, and reports through `ConnectionEvents`.
 */
export type Connection = {
  /** What connection limits count by; undefined for loopback, which counts towards the total. */
  readonly limitGroup: string | undefined
  /**
   * Takes frames from the front of the lanes (`drop`) until its own buffer is full, and calls
   * `drained` once there is room again if it had to leave some.
   */
  transmit(lanes: Lanes): void
  pauseReading(): void
  resumeReading(): void
  /** Asks the peer for a sign of life. Absent where the transport watches its path by itself. */
  ping?(): void
  /** Begins the close; the peer may take its time. Nothing is transmitted afterwards. */
  close(code: number, reason: string): void
  /** Ends the connection at once. */
  destroy(): void
}

/** The queues of one connection; a lane without frames may be absent. */
export type Lanes = { reliable: FrameQueue | undefined; unreliable: FrameQueue | undefined }

/** What the gateway gives to a transport for one connection; nothing here throws. */
export type ConnectionEvents = {
  /** Any part of the stream of frames. The bytes must not be changed afterwards. */
  received(bytes: Uint8Array): void
  receivedText(): void
  /** A control frame of the transport that asks for an answer; counts like an envelope. */
  pinged(bytes: number): void
  ponged(): void
  drained(): void
  /** The transport is closing the connection by itself, or lost it; called at most once. */
  ending(end: PeerEnd): void
  /** The connection is over. The last event. */
  closed(): void
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

/** Bytes that a transport holds at most before it leaves frames in their lane. */
export const transportBufferBytesMax = 256 * 1024
