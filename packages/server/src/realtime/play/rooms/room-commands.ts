import type { MatchRecorder } from '../../../kernel/play/match-recorder.ts'
import type { Ended, RoomCommands } from '../../../kernel/play/room-commands.ts'
import type { Others } from '../others.port.ts'
import type { Participant } from '../participants/participant.ts'
import type { Registry } from '../participants/registry.ts'
import type { Seats } from '../seats/seats.ts'
import type { Topics } from '../topics/topics.ts'
import type { Room } from './room.ts'
import type { Rooms } from './rooms.ts'

type RoomCommandsDeps = {
  rooms: Rooms
  registry: Registry
  topics: Topics
  seats: Seats
  records: MatchRecorder
  others(): Others
}

type OwnCommands = { closeAll(): void; closeRoom(room: Room): void }

export function createRoomCommands(deps: RoomCommandsDeps): RoomCommands & OwnCommands {
  const { rooms, registry, topics, seats, records, others } = deps
  const endDropped = (participant: number) => seats.end(participant, 'removed')

  function closeWhere(isMeant: (room: Room) => boolean): void {
    for (const room of [...rooms.all()]) if (isMeant(room)) rooms.close(room, endDropped)
  }

  function removeMember(roomId: number, participant: number): void {
    const member = registry.byId(participant)
    const room = rooms.byId(roomId)
    if (member === undefined || room === undefined || member.room !== room) return
    if (member.isConnected) rooms.remove(member, room)
    else seats.end(participant, 'removed')
  }

  function mayEnd(roomId: number, participant?: number): Ended {
    const room = rooms.byId(roomId)
    if (room === undefined) return 'unknown'
    const isIn = participant === undefined || registry.byId(participant)?.room === room
    if (!isIn) return 'unknown'
    return room.closing ? 'ending' : 'done'
  }

  return {
    rooms: async () => Array.from(rooms.all(), (room) => room.row()),
    room: async (roomId) => rooms.byId(roomId)?.row(),
    members: async (roomId) => rooms.byId(roomId)?.memberRows() ?? [],
    savedState: async (roomId) => rooms.byId(roomId)?.state?.saved,
    traffic: async (roomId) => rooms.byId(roomId)?.traffic(),
    updateRoom(roomId, label) {
      const room = rooms.byId(roomId)
      if (room !== undefined) rooms.relabel(room, label)
    },
    removeMember,
    mayEnd: async (roomId, participant) => mayEnd(roomId, participant),
    async endRoom(roomId) {
      const ended = mayEnd(roomId)
      const room = rooms.byId(roomId)
      if (ended === 'done' && room) rooms.close(room, endDropped, { requeue: false })
      return ended
    },
    async expelMember(roomId, participant) {
      const ended = mayEnd(roomId, participant)
      if (ended === 'done') removeMember(roomId, participant)
      return ended
    },
    setMatchResult: (matchId, resultJson) => records.result(matchId, resultJson),
    tickRooms: () => rooms.tickRooms(),
    closeBoundRooms: (generation) => closeWhere((room) => room.binding?.generation === generation),
    joinTopic(topic, participant) {
      const member = registry.byId(participant)
      if (member !== undefined) topics.join(topic, member)
      if (isElsewhereToo(member)) others().topic(topic, participant, true)
    },
    leaveTopic(topic, participant) {
      const member = registry.byId(participant)
      if (member !== undefined) topics.leave(topic, member)
      if (isElsewhereToo(member)) others().topic(topic, participant, false)
    },
    closeAll: () => closeWhere(() => true),
    closeRoom: (room) => rooms.close(room, endDropped),
  }
}

/** Whether another node has the connection or the room of a participant. */
function isElsewhereToo(member: Participant | undefined): boolean {
  return member === undefined || member.relayed || member.away !== undefined
}
