import type { LiveSession } from '../../connection/live/live-session.ts'
import type { BuiltInMethods } from '../../connection/rpc/built-in.ts'
import type { GatewayDeps } from '../../gateway.ts'
import { matchmakerMethods } from '../matchmaker/matchmaker.methods.ts'
import { createMatchmaker } from '../matchmaker/matchmaker.ts'
import { createTicketQueue } from '../matchmaker/tickets/ticket-queue.ts'
import { partyMethods } from '../parties/parties.methods.ts'
import { createParties } from '../parties/parties.ts'
import { createPartyEvents } from '../parties/party-events.ts'
import type { RoomsConfig } from '../rooms/config.ts'
import type { RoomRequests } from '../rooms/requests/request-queue.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { LiveAccounts } from './accounts.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

type GatheringsDeps = Omit<GatewayDeps, 'rooms'> & {
  registry: Registry
  rooms: Rooms
  roomLimits: RoomsConfig
  accounts: LiveAccounts
}

/** What follows when a connection of a participant is gone; its account may have others. */
export type Disconnected = {
  /** The ticket of the account goes with its last connection. */
  cancelTicket(participant: Participant): void
  /** Its party is sent that nobody of the account is connected any more. */
  updateParty(participant: Participant): void
}

const idBytes = 18

/** How players find each other: tickets and parties. */
export function createGatherings(deps: GatheringsDeps) {
  const { clock, script, registry, accounts, people, ids } = deps
  const queue = createTicketQueue(clock)
  const newId = () => ids.bytes(idBytes).toString('base64url')
  const parties = createParties({
    config: deps.party,
    clock,
    accounts,
    events: createPartyEvents(accounts),
    newId,
    cancelTicket: (partyId) => matchmaker.partyChanged(partyId),
  })

  /** The members of a party, for the ticket that its leader queues. */
  function partyOf(partyId: unknown, live: LiveSession) {
    const { user_id } = live.participant.context
    const party = parties.byId(partyId)
    if (party === undefined) return { refusal: 'party not found' }
    if (user_id === null || !party.members.has(user_id)) {
      return { refusal: 'party membership required' }
    }
    if (party.leader !== user_id) return { refusal: 'party leader required' }
    const others = [...party.members.keys()].filter((member) => member !== user_id)
    const members = [user_id, ...others]
    if (!members.every(accounts.isOnline)) {
      return { refusal: 'all party members must be connected' }
    }
    return { accounts: members }
  }

  const matchmaker = createMatchmaker({
    config: deps.matchmaker,
    log: deps.log,
    limits: deps.roomLimits,
    clock,
    hooks: script,
    rooms: deps.rooms,
    accounts,
    queue,
    mayMakeRooms: deps.mayMakeRooms,
    newId,
    randomness: ids.bytes,
    observeWait: deps.observeWait,
    partyOf,
  })

  function isConnected({ context: { user_id } }: Participant): boolean {
    return user_id !== null && registry.isConnected(user_id)
  }

  return {
    matchmaker,
    cameOnline: parties.cameOnline,
    disconnected: {
      cancelTicket(participant: Participant): void {
        if (!isConnected(participant)) matchmaker.accountGone(accounts.keyOf(participant))
      },
      updateParty(participant: Participant): void {
        const { user_id } = participant.context
        if (user_id !== null && !isConnected(participant)) parties.wentOffline(user_id)
      },
    },
    methods: (requests: RoomRequests): BuiltInMethods => ({
      ...matchmakerMethods({ matchmaker, accounts, hooks: script, requests }),
      ...partyMethods({
        parties,
        accounts,
        people,
        clock,
        membersMax: deps.party.max_members,
        isQueued: (partyId) => queue.ofParty(partyId) !== undefined,
      }),
    }),
  }
}
