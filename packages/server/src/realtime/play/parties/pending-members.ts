import type { Clock } from '../../../kernel/clock.ts'
import type { Party, Pending } from './party.ts'
import type { PartyRecord } from './party-record.ts'

type PendingDeps = {
  clock: Clock
  ttlMs: number
  /** A party has one invitation or request less. */
  changed(party: Party): void
}

const requestsPerPartyMax = 16
const requestsPerAccountMax = 8

/** Who was asked, or asks, to join a party: invitations and requests, until they expire. */
export class PendingMembers {
  readonly #deps: PendingDeps
  readonly #requestsOf = new Map<string, Set<Pending>>()

  constructor(deps: PendingDeps) {
    this.#deps = deps
  }

  /** Undefined when the account is invited already. */
  invite(party: Party, userId: string): Pending | undefined {
    if (party.invitations.has(userId)) return undefined
    const invitation = this.#add(party, userId)
    party.invitations.set(userId, invitation)
    return invitation
  }

  /** Undefined when there are too many. */
  request(party: Party, userId: string): Pending | undefined {
    const own = this.#requestsOf.get(userId) ?? new Set()
    if (party.requests.size >= requestsPerPartyMax || own.size >= requestsPerAccountMax) {
      return undefined
    }
    const request = this.#add(party, userId)
    party.requests.set(userId, request)
    this.#requestsOf.set(userId, own.add(request))
    return request
  }

  /** Takes away an invitation and a request. */
  forget(party: Party, userId: string): void {
    const invitation = party.invitations.get(userId)
    if (invitation !== undefined) {
      party.invitations.delete(userId)
      invitation.timer.cancel()
    }
    const request = party.requests.get(userId)
    if (request !== undefined) this.drop(request)
  }

  /** Takes away a request. */
  drop(request: Pending): void {
    const { party, userId } = request
    party.requests.delete(userId)
    request.timer.cancel()
    const others = this.#requestsOf.get(userId)
    others?.delete(request)
    if (others?.size === 0) this.#requestsOf.delete(userId)
  }

  /** An account that is in a party does not wait to join a second one. */
  withdraw(userId: string, except?: Party): void {
    for (const request of [...(this.#requestsOf.get(userId) ?? [])]) {
      if (request.party === except) continue
      this.drop(request)
      this.#deps.changed(request.party)
    }
  }

  /** Takes over what another node had, with the time that was left of it. */
  restore(party: Party, record: Pick<PartyRecord, 'invitations' | 'requests'>): void {
    for (const list of ['invitations', 'requests'] as const) {
      for (const { user_id: userId, expires_at: expiresAtUnixMs, left_ms } of record[list]) {
        const leftMs = Math.min(left_ms ?? this.#deps.ttlMs, this.#deps.ttlMs)
        const known = this.#begin({ party, userId, expiresAtUnixMs }, leftMs)
        party[list].set(userId, known)
        if (list === 'invitations') continue
        this.#requestsOf.set(userId, (this.#requestsOf.get(userId) ?? new Set()).add(known))
      }
    }
  }

  /** Forgets all of these parties without a word to any. */
  clear(parties: Iterable<Party>): void {
    for (const { invitations, requests } of parties) {
      for (const known of [...invitations.values(), ...requests.values()]) {
        known.timer.cancel()
      }
    }
    this.#requestsOf.clear()
  }

  /** Who has asked may have been invited since, and the other way round. */
  #expire(due: Pending): void {
    const { party, userId } = due
    if (party.invitations.get(userId) === due) party.invitations.delete(userId)
    else this.drop(due)
    this.#deps.changed(party)
  }

  #add(party: Party, userId: string): Pending {
    const { clock, ttlMs } = this.#deps
    return this.#begin({ party, userId, expiresAtUnixMs: clock.nowUnixMs() + ttlMs }, ttlMs)
  }

  #begin(of: Omit<Pending, 'dueMs' | 'timer'>, leftMs: number): Pending {
    const { clock } = this.#deps
    const timer = clock.after(leftMs, () => this.#expire(pending))
    const pending: Pending = { ...of, dueMs: clock.monotonicMs() + leftMs, timer }
    return pending
  }
}
