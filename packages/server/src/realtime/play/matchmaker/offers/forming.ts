import type { Log } from '../../../../kernel/log/log.ts'
import { nobody } from '../../../../kernel/play/calls.ts'
import type { RoomHooks } from '../../../../kernel/play/room-hooks.ts'
import type { AccountKey, Accounts } from '../../accounts.port.ts'
import { defaultLabel, labelFrom, stateLabel } from '../../rooms/requests/label-answers.ts'
import type { Room } from '../../rooms/room.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import type { RemovalReason } from '../tickets/removal-push.ts'
import type { Ticket } from '../tickets/ticket.ts'
import type { TicketQueue } from '../tickets/ticket-queue.ts'
import type { Handoffs } from './handoffs.ts'

export type FormingDeps = {
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
  /** A ticket has lost its room and cannot wait again. */
  dropped(ticket: Ticket, reason: RemovalReason): void
}

/** Makes the room of a group and gives everybody a token; false when there is no room to have. */
export function createForming(deps: FormingDeps) {
  const { hooks, rooms, accounts, handoffs, queue } = deps

  /** Lets the script set the label; what it leaves out, or gets wrong, stays as it is. */
  async function label(room: Room, group: readonly Ticket[]): Promise<void> {
    const members = group.flatMap((ticket) =>
      ticket.accounts.map((account) => {
        const context = accounts.contextOf(account)
        return {
          user_id: context?.user_id ?? null,
          participant: context?.participant ?? 0,
          properties: ticket.criteria.properties,
        }
      }),
    )
    const answer = await hooks.matched({ room_id: room.id, members })
    const said = labelFrom(answer, room.label)
    if (room.phase === 'ended' || said.verdict !== 'yes' || said.value === room.label) return
    const { max_players } = said.value
    if (max_players === 0 || max_players >= members.length) rooms.relabel(room, said.value)
  }

  /** False when the definition that the label names cannot make a state. */
  async function makeState(room: Room): Promise<boolean> {
    const { id, matchId, name, label } = room
    if (!hooks.definesRoom(label.mode)) return true
    const identity = { definition: label.mode, room_id: id, match_id: matchId, name, label }
    rooms.expectState(id)
    const answer = await hooks.stateCreate(nobody, { room: identity, options: '{}' })
    const said = stateLabel(answer, label)
    if (said === undefined || room.phase === 'ended') {
      rooms.refuseState(id)
      hooks.stateDrop(id)
      return false
    }
    rooms.relabel(room, said)
    rooms.giveState(room, identity.definition)
    return true
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

  /** Never rejects; whatever the script does, everybody gets a token while there is the room. */
  async function handOver(room: Room, group: readonly Ticket[]): Promise<void> {
    try {
      await label(room, group)
    } catch (error) {
      deps.log.error('the label of a formed match failed', { room_id: room.id, error })
    }
    if (room.phase !== 'ended' && !(await makeState(room))) rooms.close(room, () => {})
    if (room.phase === 'ended') return giveBack(group)
    for (const ticket of group) {
      for (const account of ticket.accounts) handoffs.give(ticket, account, room)
    }
    deps.countFormed(group)
  }

  return (group: readonly Ticket[]): boolean => {
    if (!deps.mayMakeRooms() || rooms.size >= deps.limits.max_rooms) return false
    const players = group.reduce((sum, { size }) => sum + size, 0)
    const base = { ...defaultLabel('default'), mode: 'matchmaker', open: false }
    const room = rooms.make(null, { ...base, max_players: players })
    room.heldPlaces = players
    for (const ticket of group) queue.finish(ticket, 'matched')
    rooms.open(room)
    void handOver(room, group)
    return true
  }
}
