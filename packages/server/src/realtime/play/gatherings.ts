import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { GameScript } from '../ports.ts'
import { type AccountKey, type Accounts, accountKey } from './accounts.port.ts'
import type { Coordination, Gathered } from './coordination.port.ts'
import type { MatchmakerConfig } from './matchmaker/config.ts'
import { acceptMethod, matchmakerMethods } from './matchmaker/matchmaker.methods.ts'
import { createMatchmaker, type Matchmaker } from './matchmaker/matchmaker.ts'
import { createTicketQueue, type TicketQueue } from './matchmaker/tickets/ticket-queue.ts'
import type { Participant } from './participants/participant.ts'
import type { PartyConfig } from './parties/config.ts'
import { partyMethods } from './parties/parties.methods.ts'
import { Parties } from './parties/parties.ts'
import { createPartyEvents } from './parties/party-events.ts'
import type { People } from './parties/people.port.ts'
import type { RoomsConfig } from './rooms/config.ts'
import type { RoomRequests } from './rooms/requests/request-queue.ts'
import type { Rooms } from './rooms/rooms.ts'
import type { BuiltInMethod, BuiltInMethods } from './rpc/built-in.ts'

type GatheringsDeps = {
  clock: Clock
  log: Log
  ids: Pick<Ids, 'bytes'>
  script: GameScript
  /** Those that are connected here. */
  local: Accounts
  coordination: Coordination
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
  const { clock, script, people, ids, coordination } = deps
  const accounts = coordination.accountsOver(deps.local)
  const queue = createTicketQueue(clock, (ticket) => {
    ticket.revision += 1
    coordination.ticketChanged(ticket)
  })
  const newId = () => ids.bytes(idBytes).toString('base64url')
  const parties = new Parties({
    config: deps.party,
    clock,
    accounts,
    events: createPartyEvents(accounts, coordination.partyChanged),
    newId,
    cancelTicket: (partyId) => matchmaker.partyChanged(partyId),
    closed: coordination.partyChanged,
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
    coordination,
    mayMakeRooms: deps.mayMakeRooms,
    newId,
    randomness: ids.bytes,
    observeWait: deps.observeWait,
    partyOf,
  })

  const methods: BuiltInMethods = {
    ...matchmakerMethods(matchmaker),
    ...partyMethods({
      ...{ parties, accounts, people, clock },
      membersMax: deps.party.max_members,
      isQueued: (partyId) => queue.ofParty(partyId) !== undefined,
    }),
  }
  return {
    matchmaker,
    gathered: createGathered({ ...deps, methods, matchmaker, parties, queue }),
    ...createComings({ coordination, accounts, matchmaker, parties }),
    methods: (requests: RoomRequests): BuiltInMethods => ({
      ...coordinated(coordination, methods),
      'matchmaker.accept': acceptMethod({ hooks: script, requests, coordination, methods }),
    }),
  }
}

type GatheredDeps = Pick<GatheringsDeps, 'coordination' | 'local'> & {
  methods: BuiltInMethods
  matchmaker: Matchmaker
  parties: Parties
  queue: TicketQueue
}

/** Tickets and parties, as they pass from node to node. */
function createGathered(deps: GatheredDeps): Gathered {
  const { methods, local, matchmaker, parties, queue, coordination } = deps
  return {
    ...{ methods, local, form: matchmaker.form },
    cameOnline: (account) => parties.cameOnline(account),
    offers: matchmaker.offers,
    records: () => ({ tickets: matchmaker.records(), parties: parties.records() }),
    restore(records) {
      for (const party of records.parties) parties.restore(party)
      const tickets = records.tickets.toSorted((a, b) => b.waited_ms - a.waited_ms)
      for (const ticket of tickets) matchmaker.restore(ticket)
    },
    clear() {
      queue.clear()
      parties.clear()
      matchmaker.offers.forget(() => true)
    },
    wentOffline(account) {
      matchmaker.accountGone(account)
      parties.wentOffline(account)
    },
    repeat(account) {
      const [ticket, party] = [queue.ofAccount(account), parties.of(account)]
      if (ticket !== undefined) coordination.ticketChanged(ticket)
      if (party !== undefined) coordination.partyChanged(party)
    },
  }
}

type ComingsDeps = Pick<GatheredDeps, 'coordination' | 'matchmaker' | 'parties'> & {
  accounts: Accounts
}

/** What comes and goes on this node; with others the coordinator hears of it by itself. */
function createComings({ coordination, accounts, matchmaker, parties }: ComingsDeps) {
  const isGone = (account: AccountKey) => !coordination.isShared && !accounts.isOnline(account)
  const disconnected: Disconnected = {
    cancelTicket({ context }) {
      const account = accountKey(context)
      if (isGone(account)) matchmaker.accountGone(account)
    },
    updateParty({ context: { user_id } }) {
      if (user_id !== null && isGone(user_id)) parties.wentOffline(user_id)
    },
  }
  return {
    disconnected,
    cameOnline(userId: string): void {
      if (!coordination.isShared) parties.cameOnline(userId)
    },
  }
}

/** The same methods, carried to the node that has tickets and parties. */
function coordinated(coordination: Coordination, methods: BuiltInMethods): BuiltInMethods {
  const carried = Object.entries(methods).map(([method, { fields }]): [string, BuiltInMethod] => {
    const call: BuiltInMethod['call'] = (caller, payload) =>
      coordination.call({ method, caller, payload }, methods)
    return [method, { fields, call }]
  })
  return Object.fromEntries(carried)
}
