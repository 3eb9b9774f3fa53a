import type { JsonObject } from '@guildhall/contract'
import type { Awaitable } from '../../kernel/time/awaitable.ts'
import type { AccountKey, Accounts } from './accounts.port.ts'
import type { FormedMatch, MatchOrder } from './matchmaker/offers/match-order.ts'
import type { OfferOrder, SharedOffers } from './matchmaker/offers/offer.ts'
import type { Ticket } from './matchmaker/tickets/ticket.ts'
import type { TicketRecord } from './matchmaker/tickets/ticket-record.ts'
import type { Party } from './parties/party.ts'
import type { PartyRecord } from './parties/party-record.ts'
import type { BuiltInAnswer, BuiltInMethods } from './rpc/built-in.ts'
import type { Caller } from './rpc/caller.ts'

/**
 * Where tickets and parties are kept: on one node for all. A node without a cluster is its own,
 * `ownCoordination`.
 */
export type Coordination = {
  /** Whether accounts of other nodes are in it, and others may take it over. */
  readonly isShared: boolean
  /** The accounts that tickets and parties are of. `local` has those that are connected here. */
  accountsOver(local: Accounts): Accounts
  /** Runs a method where tickets and parties are; `here` are the methods of this node. */
  call(request: CoordinatedCall, here: BuiltInMethods): Awaitable<BuiltInAnswer>
  /** The node that makes the room of a match, where it is not this one. */
  placeOfMatch(accounts: readonly AccountKey[]): string | undefined
  /** Has another node make the room; undefined when it has not. */
  form(boot: string, order: MatchOrder): Promise<FormedMatch | undefined>
  /** Has another node take tickets into its offer; undefined when it does not answer. */
  fillOffer(boot: string, order: OfferOrder): Promise<FormedMatch | undefined>
  /** What the rooms of this node offer may have changed. */
  offersChanged(): void
  /** What is to survive the end of this node has changed. */
  ticketChanged(ticket: Ticket): void
  partyChanged(party: Party): void
}

export type CoordinatedCall = { method: string; caller: Caller; payload: JsonObject }

/** All that was answered about tickets and parties, as it passes from node to node. */
export type GatheringRecords = { tickets: TicketRecord[]; parties: PartyRecord[] }

/** Tickets and parties of a node, as its coordination sees them. */
export type Gathered = {
  methods: BuiltInMethods
  records(): GatheringRecords
  /** Takes them over; members of the parties are notified. */
  restore(records: GatheringRecords): void
  /** Forgets all tickets and parties without a word to anybody: another node has them. */
  clear(): void
  /** The first connection of an account is there, or its last one is gone. */
  cameOnline(account: AccountKey): void
  wentOffline(account: AccountKey): void
  /** An account is connected to one more node, which is to have its ticket and party too. */
  repeat(account: AccountKey): void
  /** Makes the room of a match; undefined when none may be made. */
  form(order: MatchOrder): Promise<FormedMatch | undefined>
  /** The free seats of running rooms, of this node and of others. */
  offers: SharedOffers
  /** The accounts that are connected to this node. */
  local: Accounts
}

/** A node that plays with itself. */
export const ownCoordination: Coordination = {
  isShared: false,
  accountsOver: (local) => local,
  call: ({ method, caller, payload }, here) =>
    here[method]?.call(caller, payload) ?? { refusal: 'unknown RPC method' },
  placeOfMatch: () => undefined,
  form: async () => undefined,
  fillOffer: async () => undefined,
  offersChanged() {},
  ticketChanged() {},
  partyChanged() {},
}
