import type { MatchmakerRemoved, PartyPush } from '@guildhall/contract/wire'
import type { GuildhallError } from '../error.ts'
import type { Host } from '../host.ts'
import type { Accepted } from './connecting/handshake.ts'
import type { ConnectionEvents } from './connection-types.ts'
import type { WaitingQueue } from './sending/waiting-queue.ts'

/** What the parts of a connection use of it. */
export type Wire = {
  readonly host: Host
  readonly isOpen: boolean
  readonly isClosed: boolean
  readonly participant: number
  readonly userId: string | null
  /** The player's own name; null for a guest. */
  readonly username: string | null
  /** What goes out at the next `open`. */
  readonly waiting: WaitingQueue
  /** @throws GuildhallError `invalid_argument` when the node takes no envelope so large */
  checkSize(body: Uint8Array): void
  /**
   * Sends now; only while open.
   *
   * @throws GuildhallError `queue_full` when too much has not left yet
   */
  write(kind: number, body: Uint8Array): void
  /** Raises the event of a push; without a listener it is kept for a while, as `bytes` bytes. */
  push<E extends keyof ConnectionEvents>(event: E, value: ConnectionEvents[E], bytes: number): void
}

/** One concern of a connection: what it does when links come and go, and the kinds it handles. */
export type Part = {
  opened?(accepted: Accepted, resumed: boolean): void
  /** What was sent and not answered is lost; what waits may go out later. */
  lost?(error: GuildhallError): void
  /** The end. Whatever is open rejects with `error`. */
  closed?(error: GuildhallError): void
  /** What the service says on kind 27, besides notifications. */
  pushed?(push: PartyPush | MatchmakerRemoved, bytes: number): void
  /** By kind; a WireError or GuildhallError that is thrown counts as a malformed body. */
  handlers?: { readonly [kind: number]: (body: Uint8Array) => void }
}
