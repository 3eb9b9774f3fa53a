/**
 * What carries frames to the server. A transport knows bytes and datagrams, never kinds; a
 * connection never knows which transport it has, beside its name.
 */

export type TransportName = 'websocket' | 'webtransport'

/** Where to connect, and with what. */
export type Target = { transport: TransportName; url: string; certificateSha256?: string }

/** An open or opening link to the server. */
export type Link = {
  /** Sends bytes of the stream of frames, in order. */
  send(bytes: Uint8Array): void
  /** Sends a datagram; false when the link has none, or none so large. */
  sendDatagram(bytes: Uint8Array): boolean
  /** Bytes that were given to `send` and have not left yet. */
  bufferedBytes(): number
  close(code: number, reason: string): void
}

/** What a link reports. Nothing follows `ended`. */
export type LinkEvents = {
  opened(): void
  /** Any part of the stream of frames. */
  received(bytes: Uint8Array): void
  receivedDatagram(bytes: Uint8Array): void
  /** `code` is null for an end without one. */
  ended(end: LinkEnd): void
}

export type LinkEnd = { code: number | null; reason: string }

export type OpenLink = (target: Target, events: LinkEvents) => Link
