/**
 * Carries messages between the nodes of a deployment, at most once. Messages of one node to another
 * arrive in the order in which they were sent; some may be missing. What is sent in one turn
 * travels together.
 */
export type Bus = {
  /** Begins to receive; resolves when what is sent from here on is heard, and what comes is. */
  start(events: BusEvents): Promise<void>
  /** Sends to one boot. `message` must not be changed afterwards. */
  send(boot: string, message: Uint8Array): void
  /** Sends to every other node. */
  sendAll(message: Uint8Array): void
  /** False while it has no connection; what is sent then is lost. */
  readonly isUp: boolean
  /** Bytes that wait to leave. */
  readonly waitingBytes: number
  close(): Promise<void>
}

export type BusEvents = {
  received(message: Uint8Array): void
  /** The connection is lost, or there again; messages may be missing. */
  changed(isUp: boolean): void
}

/** Thrown by a start whose own message does not come back. */
export class BusUnfit extends Error {
  override readonly name = 'BusUnfit'
}
