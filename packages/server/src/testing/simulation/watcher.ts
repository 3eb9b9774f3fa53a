import type { MatchRecorder } from '../../kernel/play/match-recorder.ts'
import type { World } from './world.ts'

type WatchedRoom = { id: number; name: string | null; boot: string; order: number }

/** Sees what all nodes do, and says what must never be. */
export type Watcher = {
  recorder(boot: string): MatchRecorder
  /** A member was admitted to a room. */
  admitted(roomId: number, participant: number): void
  /** The script of a room has sent its message of this number. */
  spoke(roomId: number, count: number): void
  /** The script of a room has got a message of a member. */
  heard(participant: number, roomId: number | null, count: number): void
  /** A client asks for a room by its name, until it has its answer. */
  asks(participant: number, name: string | undefined): void
  /** How many messages a room has sent. */
  saidIn(roomId: number): number
  /** The rooms of a boot that are open. */
  roomsOf(boot: string): WatchedRoom[]
}

export function createWatcher(world: World): Watcher {
  const open = new Map<string, WatchedRoom>()
  const closed = new Set<string>()
  const newestOfName = new Map<string, WatchedRoom>()
  const byId = new Map<number, WatchedRoom>()
  const said = new Map<number, number>()
  const heardOf = new Map<string, number>()
  const asked = new Map<number, string>()
  let made = 0

  return {
    recorder: (boot) => ({
      opened({ match_id, room_id, name }) {
        made += 1
        const room = { id: room_id, name, boot, order: made }
        if (open.has(match_id) || closed.has(match_id)) {
          world.broken(`(d) the record ${match_id} was opened twice`)
        }
        open.set(match_id, room)
        byId.set(room_id, room)
        if (name !== null) newestOfName.set(name, room)
        world.say(`${boot} makes room ${room_id} ${name ?? ''}`)
      },
      admitted() {},
      labelled() {},
      result() {},
      ended(match_id) {
        const room = open.get(match_id)
        if (room === undefined) world.broken(`(d) the record ${match_id} was closed and not open`)
        else world.say(`${boot} ends room ${room.id} ${room.name ?? ''}`)
        open.delete(match_id)
        closed.add(match_id)
      },
    }),
    admitted(roomId, participant) {
      const name = asked.get(participant)
      const room = byId.get(roomId)
      world.say(`room ${roomId} admits ${participant} ${name ?? ''}`)
      if (name === undefined || room?.name !== name) return
      const newest = newestOfName.get(name)
      if (newest === undefined || newest.order <= room.order) return
      world.broken(`(a) ${roomId} admits by the name ${name}, which room ${newest.id} has taken`)
    },
    spoke: (roomId, count) => void said.set(roomId, count),
    heard(participant, roomId, count) {
      // Outside of rooms the edge hears it, and an owner what was under way when it left.
      if (roomId === null) return
      const key = `${participant} ${roomId}`
      const last = heardOf.get(key) ?? 0
      heardOf.set(key, count)
      if (count > last) return
      world.broken(`messages of ${participant} came out of order: ${count} behind ${last}`)
    },
    asks(participant, name) {
      if (name === undefined) asked.delete(participant)
      else asked.set(participant, name)
    },
    saidIn: (roomId) => said.get(roomId) ?? 0,
    roomsOf: (boot) => [...open.values()].filter((room) => room.boot === boot),
  }
}
