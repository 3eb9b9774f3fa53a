import type { Clock } from '../../../../kernel/clock.ts'
import type { Log } from '../../../../kernel/log/log.ts'
import { nobody } from '../../../../kernel/play/calls.ts'
import type { RoomHooks } from '../../../../kernel/play/room-hooks.ts'
import type { AccountKey, Accounts } from '../../accounts.port.ts'
import type { Coordination } from '../../coordination.port.ts'
import { defaultLabel, labelFrom, noteProblem } from '../../rooms/requests/label-answers.ts'
import { makeState } from '../../rooms/requests/state-making.ts'
import type { Room } from '../../rooms/room.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import type { RemovalReason } from '../tickets/removal-push.ts'
import { byAge, type Ticket } from '../tickets/ticket.ts'
import type { TicketQueue } from '../tickets/ticket-queue.ts'
import { recordOfTicket, ticketFrom } from '../tickets/ticket-record.ts'
import type { Handoffs } from './handoffs.ts'
import {
  type FormedMatch,
  formedOf,
  type MatchOrder,
  type Recipients,
  recipientsOf,
} from './match-order.ts'

export type FormingDeps = {
  clock: Clock
  coordination: Pick<Coordination, 'placeOfMatch' | 'form' | 'fillOffer'>
  config: { default_ttl_ms: number; max_ttl_ms: number }
  log: Log
  hooks: RoomHooks
  rooms: Rooms
  accounts: Accounts
  handoffs: Handoffs
  queue: TicketQueue
  limits: { max_rooms: number }
  mayMakeRooms(): boolean
  /** The members of a party that its leader queues, or why not. */
  partyOf(partyId: unknown, leader: AccountKey): { accounts: AccountKey[] } | { refusal: string }
  /** Counts a match: everybody of the group has a token. */
  countFormed(group: readonly Ticket[]): void
  /** An offer has taken a ticket. */
  taken(ticket: Ticket): void
  /** A ticket has lost its room and cannot wait again. */
  dropped(ticket: Ticket, reason: RemovalReason): void
}

/** Makes the rooms of groups and gives everybody a token, here or on another node. */
export function createForming(deps: FormingDeps) {
  const { hooks, rooms, accounts, handoffs, queue } = deps

  /** Lets the script set the label; what it leaves out, or gets wrong, stays as it is. */
  async function label(room: Room, group: readonly Ticket[], to: Recipients): Promise<void> {
    const members = group.flatMap((ticket) =>
      ticket.accounts.map((account) => {
        const context = to.contextOf(account)
        return {
          user_id: context?.user_id ?? null,
          participant: context?.participant ?? 0,
          properties: ticket.criteria.properties,
        }
      }),
    )
    const answer = await hooks.matched({ room_id: room.id, members })
    const said = labelFrom(answer, room.label)
    noteProblem(hooks, 'on_matchmaker_matched', said)
    if (room.phase === 'ended' || said.verdict !== 'yes' || said.value === room.label) return
    const { max_players } = said.value
    if (max_players === 0 || max_players >= members.length) rooms.relabel(room, said.value)
  }

  /** False when the definition that the label names cannot make a state. */
  async function giveState(room: Room): Promise<boolean> {
    const { id, matchId, name, label } = room
    if (!hooks.definesRoom(label.mode)) return true
    const identity = { definition: label.mode, room_id: id, match_id: matchId, name, label }
    const making = { context: nobody, room: identity, options: '{}' }
    return await makeState(deps, making, (made) => {
      if (room.phase === 'ended') return false
      rooms.relabel(room, made)
      rooms.giveState(room, identity.definition)
      return true
    })
  }

  /** Whether somebody of the ticket has gone, has queued anew, or has left its party meanwhile. */
  function whyNotAgain(ticket: Ticket): RemovalReason | undefined {
    const [leader] = ticket.accounts
    if (leader === undefined || !ticket.accounts.every(accounts.isOnline)) return 'offline'
    if (ticket.accounts.some((account) => queue.ofAccount(account) !== undefined)) return 'expired'
    if (ticket.partyId === undefined) return undefined
    const party = deps.partyOf(ticket.partyId, leader)
    if ('refusal' in party || party.accounts.length !== ticket.size) return 'party'
    const isSame = party.accounts.every((account) => ticket.accounts.includes(account))
    return isSame ? undefined : 'party'
  }

  /** The room ended before anybody could come, so the group has none, as if none could be made. */
  function giveBack(group: readonly Ticket[]): void {
    for (const ticket of group) {
      const reason = whyNotAgain(ticket)
      if (reason === undefined) queue.giveBack(ticket, 'no_room')
      else {
        ticket.state = 'removed'
        deps.dropped(ticket, reason)
      }
    }
  }

  /**
   * Never rejects; whatever the script does, everybody gets a token while there is the room. False
   * when it has ended.
   */
  async function handOver(room: Room, group: readonly Ticket[], to: Recipients): Promise<boolean> {
    try {
      await label(room, group, to)
    } catch (error) {
      deps.log.error('the label of a formed match failed', { room_id: room.id, error })
    }
    if (room.phase !== 'ended' && !(await giveState(room))) rooms.close(room, () => {})
    if (room.phase === 'ended') return false
    for (const ticket of group) {
      for (const account of ticket.accounts) handoffs.give(ticket, account, room, to)
    }
    return true
  }

  /** A room with a place for everybody of the group; undefined when there is none to have. */
  function makeRoom(group: readonly Ticket[]): Room | undefined {
    if (!deps.mayMakeRooms() || rooms.size >= deps.limits.max_rooms) return undefined
    const players = group.reduce((sum, { size }) => sum + size, 0)
    const base = { ...defaultLabel('default'), mode: 'matchmaker', open: false }
    const room = rooms.make(null, { ...base, max_players: players })
    room.heldPlaces = players
    return room
  }

  /** The group as another node is to have it. */
  function orderOf(group: readonly Ticket[]): MatchOrder {
    const nowMs = deps.clock.monotonicMs()
    const tickets = group.map((ticket) => recordOfTicket(ticket, nowMs))
    const members = group.flatMap((ticket) =>
      ticket.accounts.flatMap((account) => {
        const context = accounts.contextOf(account)
        if (context === undefined) return []
        return [{ account, participant: context.participant, user_id: context.user_id }]
      }),
    )
    return { tickets, members }
  }

  /** Everybody is sent the token that another node has made. */
  function passTokens({ room_id, tokens }: FormedMatch, group: readonly Ticket[]): void {
    for (const { ticket_id, ...token } of tokens) {
      const ticket = group.find(({ id }) => id === ticket_id)
      if (ticket?.accounts.includes(token.account)) {
        handoffs.pass(ticket, { ...token, room_id }, accounts)
      }
    }
  }

  /** The same on another node; whether it has made the room. */
  async function handOverAt(boot: string, group: readonly Ticket[]): Promise<boolean> {
    const formed = await deps.coordination.form(boot, orderOf(group))
    if (formed !== undefined) passTokens(formed, group.filter(queue.has))
    return formed !== undefined
  }

  async function form(group: readonly Ticket[], work: Promise<boolean>): Promise<void> {
    if (await work) deps.countFormed(group)
    else giveBack(group.filter(queue.has))
  }

  return {
    /** False when there is no room to have. */
    here(group: readonly Ticket[]): boolean {
      const boot = deps.coordination.placeOfMatch(accountsOf(group))
      const room = boot === undefined ? makeRoom(group) : undefined
      if (boot === undefined && room === undefined) return false
      for (const ticket of group) queue.finish(ticket, 'matched')
      if (room !== undefined) rooms.open(room)
      const work =
        room === undefined ? handOverAt(boot ?? '', group) : handOver(room, group, accounts)
      void form(group, work)
      return true
    },
    /** Has another node take the group into its offer; those that wait again, or it is silent. */
    async intoOffer(
      boot: string,
      offer_id: string,
      group: readonly Ticket[],
    ): Promise<Ticket[] | 'silent'> {
      const formed = await deps.coordination.fillOffer(boot, { offer_id, ...orderOf(group) })
      // Meanwhile this node may have ceased to coordinate, and have the tickets of another one.
      const known = group.filter(queue.has)
      if (formed !== undefined) passTokens(formed, known)
      const left = group.filter(({ handoffs }) => handoffs.length === 0)
      for (const ticket of known) if (ticket.handoffs.length > 0) deps.taken(ticket)
      giveBack(left.filter(queue.has))
      return formed === undefined ? 'silent' : left
    },
    /** Makes the room of a match of another node; undefined when there is none to have. */
    async ordered(order: MatchOrder): Promise<FormedMatch | undefined> {
      const known = { ttl: deps.config, nowMs: deps.clock.monotonicMs() }
      const group = order.tickets.flatMap((record) => ticketFrom(record, known) ?? [])
      const room = group.length === order.tickets.length ? makeRoom(group) : undefined
      if (room === undefined) return undefined
      rooms.open(room)
      if (!(await handOver(room, group, recipientsOf(order)))) return undefined
      return formedOf(room.id, group, deps.clock.nowUnixMs())
    },
  }
}

/** The accounts of the oldest ticket first. */
function accountsOf(group: readonly Ticket[]): AccountKey[] {
  return group.toSorted(byAge).flatMap((ticket) => [...ticket.accounts])
}
