import type { Departure } from '@guildhall/contract'
import type { Awaitable } from '../../kernel/time/awaitable.ts'
import type { OutgoingFrame } from '../frames/outgoing-frame.ts'
import { type Claimed, nowhere, type Place } from '../play.port.ts'
import type { Player } from '../ports.ts'
import type { Entered } from './elsewhere.port.ts'
import type { Away } from './participants/away.ts'
import { disconnect, noReceiver, type Participant } from './participants/participant.ts'
import type { Registry } from './participants/registry.ts'
import type { RelayedRequest, RoomEntry } from './rooms/requests/room-entry.ts'
import type { Rooms } from './rooms/rooms.ts'
import type { Seats } from './seats/seats.ts'

/**
 * What the relay between nodes does with participants: those of this node that go to rooms of
 * others, and those of others that are in rooms here.
 */
export type Visits = {
  participant(id: number): Participant | undefined
  /** Takes a participant out of where it is here, into a room of another node. */
  goAway(participant: Participant, away: Away, place: Place): void
  /** It is outside of any room again. */
  comeBack(participant: Participant): void
  /** Lets a participant of another node enter a room here. */
  enter(participant: number, request: RelayedRequest): Promise<Entered>
  /** A participant of another node leaves its room here, and is here no more. */
  end(participant: number, departure: Departure): void
  /** Takes it out of its room; false when it is in none. */
  leave(participant: number): number | undefined
  /** Removes it from its room, with MATCH_CLOSED. */
  remove(participant: number): void
  /** A certain dropped participant, for a connection of its account that knows it. */
  claim(participant: number, account: Player): Awaitable<Claimed> | undefined
  /** A seat of the account that is here. */
  claimOwn(account: Player): Awaitable<Claimed> | undefined
  /** The topics that a participant is in. */
  topicsOf(participant: number): readonly string[]
  awaitUnsent(participant: number): void
  awaitReturn(participant: number, isAwaited: () => boolean): void
  addUnsent(participant: number, unsent: readonly OutgoingFrame[]): void
  /** Closes the rooms whose names are not theirs any more. */
  closeRooms(isMeant: (room: { id: number; name: string | null }) => boolean): void
  /** The open rooms that have a name. */
  named(): { id: number; name: string }[]
}

type VisitsDeps = {
  registry: Registry
  rooms: Rooms
  entry: RoomEntry
  seats: Seats
  finish(participant: Participant, departure: Departure): void
}

export function createVisits({ registry, rooms, entry, seats, finish }: VisitsDeps): Visits {
  function endSeat(participant: number): void {
    seats.end(participant, 'removed')
  }

  return {
    participant: registry.byId,
    goAway(participant, away, place) {
      rooms.leave(participant, 'left')
      // What the old room sent last may have ended a connection that does not read.
      if (!participant.isConnected) return away.left()
      if (participant.away !== away) participant.away?.left()
      participant.away = away
      registry.roomless.delete(participant)
      const { room_id, match_id } = place
      participant.context = { ...participant.context, room_id, match_id }
      participant.receiver.placed(place)
      registry.touch(participant)
    },
    comeBack(participant) {
      participant.away = undefined
      participant.context = { ...participant.context, room_id: null, match_id: null }
      if (!participant.isConnected) return
      registry.roomless.add(participant)
      participant.receiver.placed(nowhere)
      registry.touch(participant)
    },
    async enter(id, request) {
      const participant = registry.byId(id)
      if (participant === undefined) return { is: 'done' }
      return entry.enterRelayed(participant, request)
    },
    end(id, departure) {
      const participant = registry.byId(id)
      if (participant === undefined) return
      if (!participant.isConnected) return seats.end(id, departure)
      registry.disconnect(participant)
      disconnect(participant, noReceiver)
      finish(participant, departure)
    },
    leave(id) {
      const participant = registry.byId(id)
      return participant && rooms.leave(participant, 'left')?.id
    },
    remove(id) {
      const participant = registry.byId(id)
      if (participant?.room !== undefined) rooms.remove(participant, participant.room)
    },
    claim: seats.claimOf,
    claimOwn: seats.claim,
    topicsOf: (id) => [...(registry.byId(id)?.topics ?? [])],
    awaitUnsent: seats.awaitUnsent,
    awaitReturn: seats.awaitReturn,
    addUnsent: seats.addUnsent,
    closeRooms(isMeant) {
      for (const room of [...rooms.all()]) if (isMeant(room)) rooms.close(room, endSeat)
    },
    named: () =>
      Array.from(rooms.all()).flatMap(({ id, name }) => (name === null ? [] : [{ id, name }])),
  }
}
