import type { GameTypes, TicketStatus } from '@guildhall/contract/wire'
import type { Room } from './room-types.ts'

/** A queued ticket, until it has become a room or left the queue. */
export type Search<G extends GameTypes = GameTypes> = {
  readonly ticketId: string
  /**
   * Resolves with the room, which the SDK enters by itself. Rejects with `ticket_removed`,
   * `aborted` after cancel or the signal, or `rpc_refused`. Nobody need wait for it.
   */
  readonly room: Promise<Room<G>>
  status(): Promise<TicketStatus>
  /** False when the ticket had left the queue already. */
  cancel(): Promise<boolean>
}

/** A match for a ticket that somebody else queued: a party's leader, or another connection. */
export type Matched = {
  ticket_id: string
  match_id: number
  /** Unix milliseconds of the server. */
  expires_at: number
  accept(): Promise<Room>
}
