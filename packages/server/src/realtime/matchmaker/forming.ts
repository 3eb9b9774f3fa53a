import type { Log } from '../../kernel/log/log.ts'
import type { RoomHooks } from '../../kernel/play/room-hooks.ts'
import type { LiveAccounts } from '../accounts.ts'
import { defaultLabel, labelFrom } from '../rooms/label-answers.ts'
import type { Room } from '../rooms/room.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Handoffs } from './handoffs.ts'
import type { Ticket } from './ticket.ts'
import type { TicketQueue } from './ticket-queue.ts'

export type FormingDeps = {
  log: Log
  hooks: RoomHooks
  rooms: Rooms
  accounts: LiveAccounts
  handoffs: Handoffs
  queue: TicketQueue
  roomsMax: number
  mayMakeRooms(): boolean
}

/** Makes the room of a group and gives everybody a token; false when there is no room to have. */
export function createForming(deps: FormingDeps) {
  const { hooks, rooms, accounts, handoffs, queue } = deps

  /** Lets the script set the label; what it leaves out, or gets wrong, stays as it is. */
  async function label(room: Room, group: readonly Ticket[]): Promise<void> {
    const members = group.flatMap((ticket) =>
      ticket.accounts.map((account) => {
        const context = accounts.connections(account)[0]?.participant.context
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

  /** Never rejects; whatever the script does, everybody gets a token. */
  async function handOver(room: Room, group: readonly Ticket[]): Promise<void> {
    try {
      await label(room, group)
    } catch (error) {
      deps.log.error('the label of a formed match failed', { room_id: room.id, error })
    }
    for (const ticket of group) {
      for (const account of ticket.accounts) handoffs.give(ticket, account, room)
    }
  }

  return (group: readonly Ticket[]): boolean => {
    if (!deps.mayMakeRooms() || rooms.size >= deps.roomsMax) return false
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
