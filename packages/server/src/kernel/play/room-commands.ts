import type { RoomMember } from '@guildhall/contract'
import type { Label, OpenRoom } from './rooms.ts'

/**
 * What scripts and the console ask of the rooms of this node. Unknown rooms, participants and
 * topics are no error: nothing happens, and lists are empty.
 */
export type RoomCommands = {
  /** All rooms, by id ascending. */
  rooms(): Promise<OpenRoom[]>
  room(roomId: number): Promise<OpenRoom | undefined>
  /** The members of a room in the order of participants, dropped ones included. */
  members(roomId: number): Promise<RoomMember[]>
  /** Changes what is given of the label. The values are within bounds. */
  updateRoom(roomId: number, label: Partial<Label>): void
  /** Removes a member with MATCH_CLOSED; the last one ends the room. */
  removeMember(roomId: number, participant: number): void
  /** The result of a match as JSON text; also while `on_match_ended` runs. */
  setMatchResult(matchId: string, resultJson: string): void
  /** The rooms whose label has `tick`, by id ascending. The list must not be changed. */
  tickRooms(): readonly TickRoom[]
  /** Closes the rooms that are bound to this generation: their worker is gone or drained. */
  closeBoundRooms(generation: number): void
  joinTopic(topic: string, participant: number): void
  leaveTopic(topic: string, participant: number): void
}

/** A room as `on_tick` needs it. */
export type TickRoom = { room_id: number; match_id: string; generation: number | null }
