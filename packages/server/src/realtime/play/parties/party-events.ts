import { kinds, type PartyPush, stringifyExact } from '@guildhall/contract'
import { type OutgoingFrame, outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Accounts } from '../accounts.port.ts'
import type { Party } from './party.ts'

type PresencePush = Extract<PartyPush, { online_members: unknown }>['type']

/** What members, invited and requesters hear, on all their connections. */
export type PartyEvents = {
  /** `except` is a participant that is left out. */
  send(userIds: Iterable<string>, push: PartyPush, except?: number): void
  /** Notifies the members of a change; `newcomer` gets a snapshot instead. */
  changed(party: Party, newcomer?: string): void
  /** Sends the members where they are, after another node had the party. */
  resync(party: Party): void
}

export function createPartyEvents(accounts: Accounts, grown: (party: Party) => void): PartyEvents {
  function deliver(userIds: Iterable<string>, frame: OutgoingFrame, except?: number): void {
    for (const userId of userIds) accounts.deliver(userId, frame, except)
  }

  function presence(party: Party, type: PresencePush): PartyPush {
    const online = [...party.members.values()].filter(({ userId }) => accounts.isOnline(userId))
    return {
      type,
      party_id: party.id,
      party_revision: party.revision,
      presence_sequence: party.presenceSequence,
      online_members: online.map(({ userId, username }) => ({ user_id: userId, username })),
    }
  }

  function grow(party: Party): void {
    party.revision += 1
    party.presenceSequence += 1
    grown(party)
  }

  return {
    send: (userIds, push, except) => deliver(userIds, frameOf(push), except),
    resync(party) {
      grow(party)
      deliver(party.members.keys(), frameOf(presence(party, 'party.presence.resync')))
    },
    changed(party, newcomer) {
      grow(party)
      const others = [...party.members.keys()].filter((userId) => userId !== newcomer)
      if (newcomer !== undefined) {
        deliver([newcomer], frameOf(presence(party, 'party.presence.snapshot')))
      }
      deliver(others, frameOf(presence(party, 'party.presence.delta')))
    },
  }
}

function frameOf(push: PartyPush): OutgoingFrame {
  const body = new TextEncoder().encode(stringifyExact(push))
  return outgoingFrame(kinds.NOTIFICATION.first, body)
}
