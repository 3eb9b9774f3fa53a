import type { Clock } from '../../../kernel/clock.ts'
import { createDeadlineQueue } from '../../../kernel/time/deadline-queue.ts'
import type { Accounts } from '../accounts.port.ts'
import type { PartyConfig } from './config.ts'
import { type Member, Party, type Pending } from './party.ts'
import type { PartyEvents } from './party-events.ts'
import { type PartyRecord, recordOfParty } from './party-record.ts'

export type PartiesDeps = {
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

export type Parties = ReturnType<typeof createParties>

export type CloseReason = 'closed' | 'expired'

const requestsPerPartyMax = 16
const requestsPerAccountMax = 8

/** The parties of the node and every change of them; who may do what is decided before. */
export function createParties(deps: PartiesDeps) {
  const { config, clock, accounts, events } = deps
  const parties = new Map<string, Party>()
  const partyOf = new Map<string, Party>()
  const requestsOf = new Map<string, Set<Pending>>()
  const pending = createDeadlineQueue<Pending>(
    { clock, delayMs: config.invite_ttl_ms },
    ({ party, userId }) => {
      forget(party, userId)
      events.changed(party)
    },
  )
  const absent = createDeadlineQueue<Member>({ clock, delayMs: config.offline_ttl_ms }, (member) =>
    leave(member.userId),
  )

  /** Takes away an invitation and a request. */
  function forget(party: Party, userId: string): void {
    const invitation = party.invitations.get(userId)
    if (invitation !== undefined) {
      party.invitations.delete(userId)
      pending.remove(invitation)
    }
    const request = party.requests.get(userId)
    if (request !== undefined) dropRequest(request)
  }

  function dropRequest(request: Pending): void {
    const { party, userId } = request
    party.requests.delete(userId)
    pending.remove(request)
    const others = requestsOf.get(userId)
    others?.delete(request)
    if (others?.size === 0) requestsOf.delete(userId)
  }

  /** Nobody waits to join a second party. */
  function withdrawRequests(userId: string, except?: Party): void {
    for (const request of [...(requestsOf.get(userId) ?? [])]) {
      if (request.party === except) continue
      dropRequest(request)
      events.changed(request.party)
    }
  }

  function startAbsence(member: Member): void {
    member.isAbsent = true
    absent.add(member)
  }

  function endAbsence(member: Member): void {
    member.isAbsent = false
    absent.remove(member)
  }

  function newPending(party: Party, userId: string): Pending {
    const made = { party, userId, expiresAtUnixMs: clock.nowUnixMs() + config.invite_ttl_ms }
    pending.add(made)
    return made
  }

  function close(party: Party, reason: CloseReason): void {
    const members = [...party.members.values()]
    for (const userId of party.everybody()) forget(party, userId)
    for (const member of members) absent.remove(member)
    for (const { userId } of members) partyOf.delete(userId)
    party.members.clear()
    parties.delete(party.id)
    party.revision += 1
    deps.closed(party)
    const seen = members.map(({ userId }) => userId)
    events.send(seen, { type: 'party.closed', party_id: party.id, reason })
  }

  function takeOut(party: Party, userId: string): void {
    const member = party.members.get(userId)
    if (member === undefined) return
    deps.cancelTicket(party.id)
    absent.remove(member)
    // The last to leave closes the party, and gets that event.
    if (party.members.size === 1) {
      close(party, 'expired')
      return
    }
    party.members.delete(userId)
    partyOf.delete(userId)
    if (party.leader === userId) party.leader = accounts.longestConnected([...party.members.keys()])
    events.changed(party)
  }

  function leave(userId: string): void {
    const party = partyOf.get(userId)
    if (party !== undefined) takeOut(party, userId)
  }

  /** Takes a party over from another node; who is in another one already is not in it. */
  function restore(record: PartyRecord): void {
    const members = record.members.filter(({ user_id }) => !partyOf.has(user_id))
    const leader = members.find(({ user_id }) => user_id === record.leader) ?? members[0]
    if (leader === undefined || parties.has(record.id)) return
    const { user_id: userId, username } = leader
    const party = new Party(record.id, { userId, username }, record.open)
    party.members.clear()
    for (const { user_id, username: name } of members) {
      const member: Member = { userId: user_id, username: name }
      party.members.set(user_id, member)
      partyOf.set(user_id, party)
      if (!accounts.isOnline(user_id)) startAbsence(member)
    }
    party.revision = record.revision
    party.presenceSequence = record.presence_sequence
    parties.set(party.id, party)
    for (const list of ['invitations', 'requests'] as const) {
      for (const { user_id, expires_at } of record[list]) {
        const known = { party, userId: user_id, expiresAtUnixMs: expires_at }
        pending.add(known)
        party[list].set(user_id, known)
        if (list === 'invitations') continue
        requestsOf.set(user_id, (requestsOf.get(user_id) ?? new Set()).add(known))
      }
    }
    events.resync(party)
  }

  return {
    restore,
    records: () => Array.from(parties.values(), recordOfParty),
    /** Forgets all parties without a word to anybody. */
    clear(): void {
      for (const party of parties.values()) {
        for (const member of party.members.values()) absent.remove(member)
        for (const each of [party.invitations, party.requests]) {
          for (const known of each.values()) pending.remove(known)
        }
      }
      for (const each of [parties, partyOf, requestsOf]) each.clear()
    },
    byId: (id: unknown) => (typeof id === 'string' ? parties.get(id) : undefined),
    of: (userId: string) => partyOf.get(userId),

    create(leader: Member, open: boolean): Party {
      const party = new Party(deps.newId(), leader, open)
      parties.set(party.id, party)
      partyOf.set(leader.userId, party)
      withdrawRequests(leader.userId)
      events.changed(party, leader.userId)
      return party
    },

    update(party: Party, open: boolean): void {
      if (party.open === open) return
      party.open = open
      events.changed(party)
    },

    /** The invited is sent it; a second invitation changes nothing. */
    invite(party: Party, userId: string): void {
      if (party.invitations.has(userId)) return
      const invitation = newPending(party, userId)
      party.invitations.set(userId, invitation)
      events.changed(party)
      events.send([userId], {
        type: 'party.invited',
        party_id: party.id,
        leader_user_id: party.leader,
        leader_username: party.members.get(party.leader)?.username ?? '',
        expires_at: invitation.expiresAtUnixMs,
      })
    },

    decline(party: Party, userId: string): void {
      forget(party, userId)
      events.changed(party)
    },

    enter(party: Party, member: Member): void {
      const { userId } = member
      forget(party, userId)
      withdrawRequests(userId, party)
      party.members.set(userId, member)
      partyOf.set(userId, party)
      if (!accounts.isOnline(userId)) startAbsence(member)
      events.changed(party, userId)
    },

    /** The request of a player to join; undefined when there are too many. */
    request(party: Party, { userId, username }: Member): Pending | undefined {
      const known = party.requests.get(userId)
      if (known !== undefined) return known
      const own = requestsOf.get(userId) ?? new Set()
      if (party.requests.size >= requestsPerPartyMax || own.size >= requestsPerAccountMax) {
        return undefined
      }
      const request = newPending(party, userId)
      party.requests.set(userId, request)
      requestsOf.set(userId, own.add(request))
      events.changed(party)
      events.send([party.leader], {
        type: 'party.requested',
        party_id: party.id,
        user_id: userId,
        username,
        expires_at: request.expiresAtUnixMs,
      })
      return request
    },

    refuseRequest(party: Party, userId: string): void {
      const request = party.requests.get(userId)
      if (request === undefined) return
      dropRequest(request)
      events.changed(party)
      events.send([userId], { type: 'party.request_refused', party_id: party.id })
    },

    promote(party: Party, userId: string): void {
      if (party.leader === userId) return
      party.leader = userId
      events.changed(party)
    },

    remove(party: Party, userId: string): void {
      const isLast = party.members.size === 1
      takeOut(party, userId)
      if (isLast) return
      events.send([userId], { type: 'party.closed', party_id: party.id, reason: 'removed' })
    },

    leave,
    close,

    /** `from` is the participant that says it. */
    say(party: Party, from: number, message: { sender: string; data: unknown }): void {
      const { sender, data } = message
      const push = {
        type: 'party.message' as const,
        party_id: party.id,
        sender_user_id: sender,
        data,
      }
      events.send(party.members.keys(), push, from)
    },

    /** The first connection of an account is there. */
    cameOnline(userId: string): void {
      const party = partyOf.get(userId)
      const member = party?.members.get(userId)
      if (party === undefined || member === undefined) return
      endAbsence(member)
      events.changed(party, userId)
    },

    /** The last connection of an account is gone. */
    wentOffline(userId: string): void {
      const party = partyOf.get(userId)
      const member = party?.members.get(userId)
      if (party === undefined || member === undefined || member.isAbsent) return
      deps.cancelTicket(party.id)
      startAbsence(member)
      events.changed(party)
    },
  }
}
