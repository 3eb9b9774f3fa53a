import type { Clock } from '../../../kernel/clock.ts'
import { createDeadlineQueue, type DeadlineQueue } from '../../../kernel/time/deadline-queue.ts'
import type { Accounts } from '../accounts.port.ts'
import type { PartyConfig } from './config.ts'
import { type Member, Party, type Pending } from './party.ts'
import type { PartyEvents } from './party-events.ts'
import { type PartyRecord, recordOfParty } from './party-record.ts'
import { PendingMembers } from './pending-members.ts'

type PartiesDeps = {
  config: PartyConfig
  clock: Clock
  accounts: Accounts
  events: PartyEvents
  /** 24 base64url characters. */
  newId(): string
  /** Cancels the party's queued ticket, if there is one. */
  cancelTicket(partyId: string): void
  /** A party has no members any more. */
  closed(party: Party): void
}

export type CloseReason = 'closed' | 'expired'

/**
 * The parties of the node and every change of them; who may do what is decided before. An account
 * is in one party at most. A member without a connection is absent, and leaves after a while.
 */
export class Parties {
  readonly #deps: PartiesDeps
  readonly #parties = new Map<string, Party>()
  /** By account. */
  readonly #partyOf = new Map<string, Party>()
  readonly #pending: PendingMembers
  readonly #absent: DeadlineQueue<Member>

  constructor(deps: PartiesDeps) {
    this.#deps = deps
    const { clock, config, events } = deps
    const { invite_ttl_ms: ttlMs, offline_ttl_ms: delayMs } = config
    this.#pending = new PendingMembers({ clock, ttlMs, changed: (party) => events.changed(party) })
    this.#absent = createDeadlineQueue<Member>({ clock, delayMs }, ({ userId }) =>
      this.leave(userId),
    )
  }

  byId(id: unknown): Party | undefined {
    return typeof id === 'string' ? this.#parties.get(id) : undefined
  }

  of(userId: string): Party | undefined {
    return this.#partyOf.get(userId)
  }

  create(leader: Member, open: boolean): Party {
    const party = new Party(this.#deps.newId(), leader, open)
    this.#parties.set(party.id, party)
    this.#partyOf.set(leader.userId, party)
    this.#pending.withdraw(leader.userId)
    this.#deps.events.changed(party, leader.userId)
    return party
  }

  update(party: Party, open: boolean): void {
    if (party.open === open) return
    party.open = open
    this.#deps.events.changed(party)
  }

  /** The invited is sent it; a second invitation changes nothing. */
  invite(party: Party, userId: string): void {
    const invitation = this.#pending.invite(party, userId)
    if (invitation === undefined) return
    const { events } = this.#deps
    events.changed(party)
    events.send([userId], {
      type: 'party.invited',
      party_id: party.id,
      leader_user_id: party.leader,
      leader_username: party.members.get(party.leader)?.username ?? '',
      expires_at: invitation.expiresAtUnixMs,
    })
  }

  decline(party: Party, userId: string): void {
    this.#pending.forget(party, userId)
    this.#deps.events.changed(party)
  }

  enter(party: Party, member: Member): void {
    const { userId } = member
    this.#pending.forget(party, userId)
    this.#pending.withdraw(userId, party)
    party.members.set(userId, member)
    this.#partyOf.set(userId, party)
    if (!this.#deps.accounts.isOnline(userId)) this.#startAbsence(member)
    this.#deps.events.changed(party, userId)
  }

  /** The request of a player to join; undefined when there are too many. */
  request(party: Party, { userId, username }: Member): Pending | undefined {
    const known = party.requests.get(userId)
    if (known !== undefined) return known
    const request = this.#pending.request(party, userId)
    if (request === undefined) return undefined
    const { events } = this.#deps
    events.changed(party)
    events.send([party.leader], {
      type: 'party.requested',
      party_id: party.id,
      user_id: userId,
      username,
      expires_at: request.expiresAtUnixMs,
    })
    return request
  }

  refuseRequest(party: Party, userId: string): void {
    const request = party.requests.get(userId)
    if (request === undefined) return
    this.#pending.drop(request)
    this.#deps.events.changed(party)
    this.#deps.events.send([userId], { type: 'party.request_refused', party_id: party.id })
  }

  promote(party: Party, userId: string): void {
    if (party.leader === userId) return
    party.leader = userId
    this.#deps.events.changed(party)
  }

  remove(party: Party, userId: string): void {
    const isLast = party.members.size === 1
    this.#takeOut(party, userId)
    if (isLast) return
    const push = { type: 'party.closed', party_id: party.id, reason: 'removed' } as const
    this.#deps.events.send([userId], push)
  }

  leave(userId: string): void {
    const party = this.#partyOf.get(userId)
    if (party !== undefined) this.#takeOut(party, userId)
  }

  close(party: Party, reason: CloseReason): void {
    const members = [...party.members.values()]
    for (const userId of party.everybody()) this.#pending.forget(party, userId)
    for (const member of members) this.#absent.remove(member)
    for (const { userId } of members) this.#partyOf.delete(userId)
    party.members.clear()
    this.#parties.delete(party.id)
    party.revision += 1
    this.#deps.closed(party)
    const seen = members.map(({ userId }) => userId)
    this.#deps.events.send(seen, { type: 'party.closed', party_id: party.id, reason })
  }

  /** `from` is the participant that says it. */
  say(party: Party, from: number, message: { sender: string; data: unknown }): void {
    const { sender: sender_user_id, data } = message
    const push = { type: 'party.message', party_id: party.id, sender_user_id, data } as const
    this.#deps.events.send(party.members.keys(), push, from)
  }

  /** The first connection of an account is there. */
  cameOnline(userId: string): void {
    const party = this.#partyOf.get(userId)
    const member = party?.members.get(userId)
    if (party === undefined || member === undefined) return
    member.isAbsent = false
    this.#absent.remove(member)
    this.#deps.events.changed(party, userId)
  }

  /** The last connection of an account is gone. */
  wentOffline(userId: string): void {
    const party = this.#partyOf.get(userId)
    const member = party?.members.get(userId)
    if (party === undefined || member === undefined || member.isAbsent) return
    this.#deps.cancelTicket(party.id)
    this.#startAbsence(member)
    this.#deps.events.changed(party)
  }

  records(): PartyRecord[] {
    const nowMs = this.#deps.clock.monotonicMs()
    return Array.from(this.#parties.values(), (party) => recordOfParty(party, nowMs))
  }

  /** Takes a party over from another node; who is in another one already is not in it. */
  restore(record: PartyRecord): void {
    const members = record.members.filter(({ user_id }) => !this.#partyOf.has(user_id))
    const leader = members.find(({ user_id }) => user_id === record.leader) ?? members[0]
    if (leader === undefined || this.#parties.has(record.id)) return
    const { user_id: userId, username } = leader
    const party = new Party(record.id, { userId, username }, record.open)
    party.members.clear()
    for (const { user_id, username: name } of members) {
      const member: Member = { userId: user_id, username: name }
      party.members.set(user_id, member)
      this.#partyOf.set(user_id, party)
      if (!this.#deps.accounts.isOnline(user_id)) this.#startAbsence(member)
    }
    party.revision = record.revision
    party.presenceSequence = record.presence_sequence
    this.#parties.set(party.id, party)
    this.#pending.restore(party, record)
    this.#deps.events.resync(party)
  }

  /** Forgets all parties without a word to anybody. */
  clear(): void {
    this.#pending.clear(this.#parties.values())
    for (const { members } of this.#parties.values()) {
      for (const member of members.values()) this.#absent.remove(member)
    }
    this.#parties.clear()
    this.#partyOf.clear()
  }

  #takeOut(party: Party, userId: string): void {
    const member = party.members.get(userId)
    if (member === undefined) return
    this.#deps.cancelTicket(party.id)
    this.#absent.remove(member)
    // The last to leave closes the party, and gets that event.
    if (party.members.size === 1) {
      this.close(party, 'expired')
      return
    }
    party.members.delete(userId)
    this.#partyOf.delete(userId)
    if (party.leader === userId) {
      party.leader = this.#deps.accounts.longestConnected([...party.members.keys()])
    }
    this.#deps.events.changed(party)
  }

  #startAbsence(member: Member): void {
    member.isAbsent = true
    this.#absent.add(member)
  }
}
