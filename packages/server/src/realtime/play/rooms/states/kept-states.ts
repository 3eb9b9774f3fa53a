import type { Clock } from '../../../../kernel/clock.ts'
import type { RoomStates } from '../../../../kernel/play/room-commands.ts'
import type { Participant } from '../../participants/participant.ts'
import type { Registry } from '../../participants/registry.ts'
import type { Room } from '../room.ts'
import type { Rooms } from '../rooms.ts'
import type { StateFollowing } from './following.ts'

type KeptStatesDeps = {
  clock: Clock
  rooms: Rooms
  registry: Pick<Registry, 'byId'>
  following: StateFollowing
  /** The server ends a room. */
  close(room: Room): void
}

/** The newest state of each room that the script has handed over, for the worker after it. */
export function createKeptStates(deps: KeptStatesDeps): Omit<RoomStates, 'deliverState'> {
  const { clock, rooms, registry, following } = deps

  function participantsOf({ members }: Room): Participant[] {
    return members.flatMap(({ context }) => registry.byId(context.participant) ?? [])
  }

  return {
    saveState({ room_id, seq, text }) {
      const bytes = Buffer.byteLength(text)
      rooms.keepState(room_id, { seq, text, bytes, atUnixMs: clock.nowUnixMs() })
    },
    keptRooms() {
      return Array.from(rooms.all()).flatMap((room) => {
        const { state, binding, id, matchId, name, label } = room
        if (state === undefined || binding !== null) return []
        const members = room.memberRows().map(({ connected: _, ...member }) => member)
        const { definition, saved } = state
        const identity = { definition, room_id: id, match_id: matchId, name, label }
        return { ...identity, members, state: saved?.text ?? 'null', seq: saved?.seq ?? 0 }
      })
    },
    restoredState(roomId, isThere) {
      const room = rooms.byId(roomId)
      if (room?.state === undefined) return
      if (isThere) following.begunAnew(participantsOf(room))
      else deps.close(room)
    },
  }
}
