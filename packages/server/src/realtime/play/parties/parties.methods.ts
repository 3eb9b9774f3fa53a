import { type JsonObject, stringifyExact } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { BuiltInAnswer, BuiltInMethods } from '../rpc/built-in.ts'
import { takeCall } from '../rpc/rate-bucket.ts'
import { createInvitationRates } from './invitation-rates.ts'
import type { Party } from './party.ts'
import { createPartyCalls, type PartyCaller, type PartyCallsDeps } from './party-calls.ts'

type PartyMethodsDeps = PartyCallsDeps & { clock: Clock; membersMax: number }

const taken = { refusal: 'user already belongs to a party' }
const full = { refusal: 'party is full' }
const unknownUser = { refusal: 'user not found' }
const unknownParty = { refusal: 'party not found' }

const dataBytesMax = 1024
const sendRate = { burst: 20, perSec: 10 }

/** The RPC methods `party.*`. */
export function partyMethods(deps: PartyMethodsDeps): BuiltInMethods {
  const { parties } = deps
  const { method, memberParty, leaderParty, replyOf } = createPartyCalls(deps)
  return {
    ...joiningMethods(deps),
    ...leaderMethods(deps),
    'party.create': method(['open'], (caller, { open = false }) => {
      if (typeof open !== 'boolean') return { refusal: 'invalid JSON body' }
      if (parties.of(caller.userId) !== undefined) return taken
      return replyOf(parties.create(memberOf(caller), open))
    }),
    'party.update': method(['party_id', 'open'], (caller, { party_id, open }) => {
      if (typeof open !== 'boolean') return { refusal: 'invalid JSON body' }
      const party = leaderParty(caller, party_id)
      if ('refusal' in party) return party
      parties.update(party, open)
      return replyOf(party)
    }),
    'party.leave': method(['party_id'], (caller, { party_id }) => {
      const party = memberParty(caller, party_id)
      if ('refusal' in party) return party
      parties.leave(caller.userId)
      return { reply: { left: true } }
    }),
    'party.send': method(['party_id', 'data'], (caller, payload) => say(deps, caller, payload)),
    'party.status': method(['party_id'], (caller, { party_id }) => {
      const own = parties.of(caller.userId)
      if (party_id === undefined) {
        return own ? replyOf(own) : { refusal: 'party membership required' }
      }
      const party = memberParty(caller, party_id)
      return 'refusal' in party ? party : replyOf(party)
    }),
  }
}

/** How players come in: by an invitation, by themselves, or by a request. */
function joiningMethods(deps: PartyMethodsDeps): BuiltInMethods {
  const { parties, people, membersMax } = deps
  const { method, unfrozen, replyOf } = createPartyCalls(deps)

  function accept(caller: PartyCaller, party: Party): Promise<BuiltInAnswer> {
    parties.enter(party, memberOf(caller))
    return replyOf(party)
  }

  async function join(caller: PartyCaller, partyId: unknown): Promise<BuiltInAnswer> {
    const before = parties.byId(partyId)
    if (before === undefined) return unknownParty
    if (await people.areBlocked(caller.userId, before.leader)) return unknownParty
    // The party may have gone while the database was asked.
    const party = unfrozen(parties.byId(partyId) ?? unknownParty)
    if ('refusal' in party) return party
    if (parties.of(caller.userId) !== undefined) return taken
    if (party.invitations.has(caller.userId)) return accept(caller, party)
    if (party.open) return party.isFull(membersMax) ? full : accept(caller, party)
    const request = parties.request(party, memberOf(caller))
    if (request === undefined) return { refusal: 'too many requests' }
    return { reply: { requested: true, expires_at: request.expiresAtUnixMs } }
  }

  return {
    'party.accept': method(['party_id'], (caller, { party_id }) => {
      const party = unfrozen(parties.byId(party_id) ?? unknownParty)
      if ('refusal' in party) return party
      if (parties.of(caller.userId) !== undefined) return taken
      return party.invitations.has(caller.userId) ? accept(caller, party) : uninvited
    }),
    'party.decline': method(['party_id'], (caller, { party_id }) => {
      const party = unfrozen(parties.byId(party_id) ?? unknownParty)
      if ('refusal' in party) return party
      if (!party.invitations.has(caller.userId)) return uninvited
      parties.decline(party, caller.userId)
      return { reply: { declined: true } }
    }),
    'party.join': method(['party_id'], (caller, { party_id }) => join(caller, party_id)),
  }
}

const uninvited = { refusal: 'party invitation not found' }

/** What only the leader does, and not while the party is queued. */
function leaderMethods(deps: PartyMethodsDeps): BuiltInMethods {
  const { parties, people, membersMax } = deps
  const { method, leaderParty, unfrozen, replyOf } = createPartyCalls(deps)
  const targetFields = ['party_id', 'target_user_id']
  const invitations = createInvitationRates(deps.clock)

  async function invite(caller: PartyCaller, payload: JsonObject): Promise<BuiltInAnswer> {
    const { party_id, target_user_id: target } = payload
    const before = unfrozen(leaderParty(caller, party_id))
    if ('refusal' in before) return before
    if (typeof target !== 'string') return unknownUser
    const known = await people.usernames([target])
    if (!known.has(target) || (await people.areBlocked(caller.userId, target))) return unknownUser
    const party = unfrozen(leaderParty(caller, party_id))
    if ('refusal' in party) return party
    if (parties.of(target) !== undefined) return taken
    if (party.invitations.has(target)) return replyOf(party)
    if (party.isFull(membersMax)) return full
    if (!invitations.take(caller.userId, target)) return { refusal: 'too many requests' }
    parties.invite(party, target)
    return replyOf(party)
  }

  async function acceptRequest(caller: PartyCaller, payload: JsonObject): Promise<BuiltInAnswer> {
    const { party_id, target_user_id: target } = payload
    const before = unfrozen(leaderParty(caller, party_id))
    if ('refusal' in before) return before
    if (typeof target !== 'string' || !before.requests.has(target)) return unrequested
    const username = (await people.usernames([target])).get(target)
    // All of it may have changed while the database was asked.
    const party = unfrozen(leaderParty(caller, party_id))
    if ('refusal' in party) return party
    if (!party.requests.has(target)) return unrequested
    if (username === undefined) return unknownUser
    if (party.isFull(membersMax) && !party.invitations.has(target)) return full
    parties.enter(party, { userId: target, username })
    return replyOf(party)
  }

  /** A change that names a member. */
  function change(run: (party: Party, target: string) => void) {
    return method(targetFields, (caller, { party_id, target_user_id: target }) => {
      const party = unfrozen(leaderParty(caller, party_id))
      if ('refusal' in party) return party
      if (typeof target !== 'string' || !party.members.has(target)) return unknownUser
      run(party, target)
      return replyOf(party)
    })
  }

  return {
    'party.invite': method(targetFields, invite),
    'party.accept_request': method(targetFields, acceptRequest),
    'party.refuse_request': method(targetFields, (caller, payload) => {
      const party = unfrozen(leaderParty(caller, payload.party_id))
      if ('refusal' in party) return party
      const target = payload.target_user_id
      if (typeof target !== 'string' || !party.requests.has(target)) return unrequested
      parties.refuseRequest(party, target)
      return { reply: { refused: true } }
    }),
    'party.promote': change((party, target) => parties.promote(party, target)),
    'party.remove': change((party, target) => parties.remove(party, target)),
    'party.close': method(['party_id'], (caller, { party_id }) => {
      const party = unfrozen(leaderParty(caller, party_id))
      if ('refusal' in party) return party
      parties.close(party, 'closed')
      return { reply: { closed: true } }
    }),
  }
}

const unrequested = { refusal: 'party request not found' }

function say(deps: PartyMethodsDeps, account: PartyCaller, payload: JsonObject): BuiltInAnswer {
  const party = createPartyCalls(deps).memberParty(account, payload.party_id)
  if ('refusal' in party) return party
  const { data } = payload
  if (!isMessage(data)) return { refusal: 'invalid data' }
  const { caller, userId } = account
  const bucket = takeCall(caller.partyMessages, sendRate, deps.clock.monotonicMs())
  if (bucket === undefined) return { refusal: 'too many requests' }
  caller.partyMessages = bucket
  deps.parties.say(party, caller.context.participant, { sender: userId, data })
  return { reply: { sent: true } }
}

function isMessage(data: unknown): boolean {
  try {
    return Buffer.byteLength(stringifyExact(data)) <= dataBytesMax && hasFiniteNumbers(data)
  } catch {
    // It is missing, or has more levels than anything may have.
    return false
  }
}

/** Whether all numbers are finite; one that is not, such as 1e999, would arrive as null. */
function hasFiniteNumbers(data: unknown): boolean {
  if (typeof data === 'number') return Number.isFinite(data)
  if (typeof data !== 'object' || data === null) return true
  return Object.values(data).every(hasFiniteNumbers)
}

function memberOf({ userId, username }: PartyCaller) {
  return { userId, username }
}
