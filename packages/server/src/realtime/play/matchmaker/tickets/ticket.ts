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
  readonly room: Room
  readonly expiresAtUnixMs: number
  state: 'valid' | 'used' | 'expired'
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
  criteria: Criteria
  /** The submitter first. */
  accounts: readonly AccountKey[]
  partyId: string | undefined
  createdMs: number
}

export class Ticket implements Candidate {
  readonly id: string
  readonly criteria: Criteria
  readonly accounts: readonly AccountKey[]
  readonly partyId: string | undefined
  readonly createdMs: number
  /** Of its accounts; some may have none. */
  handoffs: readonly Handoff[] = noHandoffs
  state: 'queued' | 'matched' | 'removed' = 'queued'
  /** When it left the queue. */
  finishedMs: number | undefined
  seen = 0
  reason: TicketReason = 'not_evaluated'
  /** Undefined where somebody fitted it, or where it has not looked. */
  alone: Loneliness | undefined
  /** Whether it has waited long enough for its wide query and for smaller groups. */
  isWide = false

  constructor({ id, criteria, accounts, partyId, createdMs }: TicketParts) {
    this.id = id
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
