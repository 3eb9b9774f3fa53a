import type { JsonObject, Party as PartyReply } from '@guildhall/contract'
import type { Accounts } from '../accounts.port.ts'
import type { BuiltInAnswer } from '../rpc/built-in.ts'
import type { Caller } from '../rpc/caller.ts'
import type { Parties } from './parties.ts'
import type { Member, Party, Pending } from './party.ts'
import type { People } from './people.port.ts'

/** What a call of an account knows once it was checked. */
export type PartyCaller = Member & { caller: Caller }

export type PartyCallsDeps = {
  parties: Parties
  accounts: Accounts
  people: People
  /** Whether a ticket of the party is queued. */
  isQueued(partyId: string): boolean
}

export type Refusal = { refusal: string }

export const partyRefusals = {
  guest: 'authentication required',
  unknown: 'party not found',
  stranger: 'party membership required',
  notLeader: 'party leader required',
  frozen: 'party is queued; cancel its matchmaker ticket first',
} as const

/** What the calls of parties have in common: who may do what, and the reply. */
export function createPartyCalls({ parties, accounts, people, isQueued }: PartyCallsDeps) {
  /** The account that calls; undefined for guests. */
  function callerOf(caller: Caller): PartyCaller | undefined {
    const { user_id, username } = caller.context
    if (user_id === null) return undefined
    return { userId: user_id, username: username ?? '', caller }
  }

  /** The party that a member speaks of. */
  function memberParty(caller: PartyCaller, partyId: unknown): Party | Refusal {
    const party = parties.byId(partyId)
    if (party === undefined) return { refusal: partyRefusals.unknown }
    return party.members.has(caller.userId) ? party : { refusal: partyRefusals.stranger }
  }

  function leaderParty(caller: PartyCaller, partyId: unknown): Party | Refusal {
    const party = memberParty(caller, partyId)
    if ('refusal' in party || party.leader === caller.userId) return party
    return { refusal: partyRefusals.notLeader }
  }

  /** Nothing that a queued ticket was made of may change. */
  function unfrozen(party: Party | Refusal): Party | Refusal {
    if ('refusal' in party || !isQueued(party.id)) return party
    return { refusal: partyRefusals.frozen }
  }

  async function replyOf(party: Party): Promise<BuiltInAnswer> {
    const names = await people.usernames(party.everybody())
    for (const member of party.members.values()) {
      member.username = names.get(member.userId) ?? member.username
    }
    const pending = ({ userId, expiresAtUnixMs }: Pending) => ({
      user_id: userId,
      username: names.get(userId) ?? '',
      expires_at: expiresAtUnixMs,
    })
    const reply: PartyReply = {
      party_id: party.id,
      leader_user_id: party.leader,
      open: party.open,
      members: [...party.members.values()].map(({ userId, username }) => ({
        user_id: userId,
        username,
        online: accounts.isOnline(userId),
      })),
      invitations: [...party.invitations.values()].map(pending),
      requests: [...party.requests.values()].map(pending),
      revision: party.revision,
    }
    return { reply }
  }

  /** A method for accounts. */
  function method(
    fields: readonly string[],
    run: (caller: PartyCaller, payload: JsonObject) => BuiltInAnswer | Promise<BuiltInAnswer>,
  ) {
    return {
      fields,
      call(caller: Caller, payload: JsonObject) {
        const account = callerOf(caller)
        return account === undefined ? { refusal: partyRefusals.guest } : run(account, payload)
      },
    }
  }

  return { memberParty, leaderParty, unfrozen, replyOf, method }
}
