import type { AccountKey } from '../../accounts.port.ts'
import { fits, type Values } from '../../query/query.ts'
import type { Room } from '../../rooms/room.ts'
import type { Candidate, ScanReason } from '../pass/scan.ts'
import { type Criteria, propertyOf } from './criteria.ts'

export type TicketReason = ScanReason | 'not_evaluated' | 'gate_closed' | 'no_room'

/** A right to one place in a room, for one account. */
export type Handoff = {
  readonly token: string
  readonly ticket: Ticket
  readonly account: AccountKey
  /** It may be one of another node. */
  readonly room: Pick<Room, 'id' | 'phase'>
  readonly expiresAtUnixMs: number
  /** `accepted` is one whose holder is on the way. */
  state: 'valid' | 'accepted' | 'used' | 'expired'
}

/** Whether the token still leads somewhere. */
export function isGood({ state, room }: Handoff): boolean {
  return state === 'valid' && room.phase !== 'ended'
}

/**
 * When a scan found nobody who fits the ticket: how new the newest of the others was, and up to
 * which age they were wide. Only newer ones, and those that are wide since, can fit it now.
 */
export type Loneliness = { newestMs: number; wideUntilMs: number }

/** One list for all: most tickets wait without any. */
const noHandoffs: readonly Handoff[] = []

type TicketParts = {
  id: string
  /** The payload that it was made of; empty where no other node may need it. */
  asked: string
  criteria: Criteria
  /** The submitter first. */
  accounts: readonly AccountKey[]
  partyId: string | undefined
  createdMs: number
}

export class Ticket implements Candidate {
  readonly id: string
  readonly asked: string
  readonly criteria: Criteria
  readonly accounts: readonly AccountKey[]
  readonly partyId: string | undefined
  readonly createdMs: number
  /** Of its accounts; some may have none. */
  handoffs: readonly Handoff[] = noHandoffs
  state: 'queued' | 'matched' | 'removed' = 'queued'
  /** Whether those of its match have their tokens. */
  isHandedOver = false
  /** Grows with every change that others are to know. */
  revision = 0
  /** When it left the queue. */
  finishedMs: number | undefined
  seen = 0
  reason: TicketReason = 'not_evaluated'
  /** Undefined where somebody fitted it, or where it has not looked. */
  alone: Loneliness | undefined
  /** Whether it has waited long enough for its wide query and for smaller groups. */
  isWide = false

  constructor({ id, asked, criteria, accounts, partyId, createdMs }: TicketParts) {
    this.id = id
    this.asked = asked
    this.criteria = criteria
    this.accounts = accounts
    this.partyId = partyId
    this.createdMs = createdMs
  }

  /** Whether it accepts others once it is wide. */
  get isWidening(): boolean {
    return this.criteria.wideQuery !== this.criteria.query
  }

  get expiresMs(): number {
    return this.createdMs + this.criteria.ttlMs
  }

  get size(): number {
    return this.accounts.length
  }

  get minCount(): number {
    return this.criteria.minCount
  }

  get maxCount(): number {
    return this.criteria.maxCount
  }

  get countMultiple(): number {
    return this.criteria.countMultiple
  }

  handoffOf(account: AccountKey): Handoff | undefined {
    return this.handoffs.find((handoff) => handoff.account === account)
  }

  /** One of its properties, for the queries of others. */
  get(field: string): unknown {
    return propertyOf(this.criteria.properties, field)
  }

  accepts(other: Ticket): boolean {
    return this.acceptsValues(other)
  }

  acceptsValues(values: Values): boolean {
    const { query, wideQuery } = this.criteria
    return fits(this.isWide ? wideQuery : query, values)
  }
}

/** By age, then id. */
export function byAge(one: Ticket, other: Ticket): number {
  return one.createdMs - other.createdMs || (one.id < other.id ? -1 : 1)
}
