import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { GameScript } from '../ports.ts'
import { type AccountKey, type Accounts, accountKey } from './accounts.port.ts'
import type { MatchmakerConfig } from './matchmaker/config.ts'
import { matchmakerMethods } from './matchmaker/matchmaker.methods.ts'
import { createMatchmaker } from './matchmaker/matchmaker.ts'
import { createTicketQueue } from './matchmaker/tickets/ticket-queue.ts'
import type { Participant } from './participants/participant.ts'
import type { PartyConfig } from './parties/config.ts'
import { partyMethods } from './parties/parties.methods.ts'
import { createParties } from './parties/parties.ts'
import { createPartyEvents } from './parties/party-events.ts'
import type { People } from './parties/people.port.ts'
import type { RoomsConfig } from './rooms/config.ts'
import type { RoomRequests } from './rooms/requests/request-queue.ts'
import type { Rooms } from './rooms/rooms.ts'
import type { BuiltInMethods } from './rpc/built-in.ts'

type GatheringsDeps = {
  clock: Clock
  log: Log
  ids: Pick<Ids, 'bytes'>
  script: GameScript
  accounts: Accounts
  people: People
  rooms: Rooms
  limits: RoomsConfig
  matchmaker: MatchmakerConfig
  party: PartyConfig
  /** False while the node has lost its node id. */
  mayMakeRooms(): boolean
  /** A ticket has been matched after so long. */
  observeWait?: ((waitedMs: number) => void) | undefined
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
  const { clock, script, accounts, people, ids } = deps
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
  function partyOf(partyId: unknown, leader: AccountKey) {
    const party = parties.byId(partyId)
    if (party === undefined) return { refusal: 'party not found' }
    if (!party.members.has(leader)) return { refusal: 'party membership required' }
    if (party.leader !== leader) return { refusal: 'party leader required' }
    const others = [...party.members.keys()].filter((member) => member !== leader)
    const members = [leader, ...others]
    if (!members.every(accounts.isOnline)) {
      return { refusal: 'all party members must be connected' }
    }
    return { accounts: members }
  }

  const matchmaker = createMatchmaker({
    config: deps.matchmaker,
    log: deps.log,
    limits: deps.limits,
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

  return {
    matchmaker,
    cameOnline: parties.cameOnline,
    disconnected: {
      cancelTicket(participant: Participant): void {
        const account = accountKey(participant.context)
        if (!accounts.isOnline(account)) matchmaker.accountGone(account)
      },
      updateParty(participant: Participant): void {
        const { user_id } = participant.context
        if (user_id !== null && !accounts.isOnline(user_id)) parties.wentOffline(user_id)
      },
    },
    methods: (requests: RoomRequests): BuiltInMethods => ({
      ...matchmakerMethods({ matchmaker, hooks: script, requests }),
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
