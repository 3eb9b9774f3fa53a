import type { Host } from '../host.ts'
import type { Connection } from './connection-types.ts'

/** Hears of every envelope of a connection, in both directions; it must be quick. */
export type EnvelopeTap = (
  kind: number,
  outbound: boolean,
  datagram: boolean,
  bodyBytes: number,
) => void

/** What recording the timing of a connection needs of it, and games do not. */
export type RecordingPort = {
  readonly host: Host
  /** Where the node listens for HTTP. */
  readonly baseUrl: string
  /** Sends now; throws while not open. */
  write(kind: number, body: Uint8Array): void
  /** Taps this link and those that follow it; undefined ends that. */
  tap(tap: EnvelopeTap | undefined): void
}

const ports = new WeakMap<object, RecordingPort>()

export function offerRecording(connection: Connection, port: RecordingPort): void {
  ports.set(connection, port)
}

export function recordingPortOf(connection: object): RecordingPort | undefined {
  return ports.get(connection)
}
