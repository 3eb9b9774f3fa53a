import type { RoomMember } from '@guildhall/contract'
import type { KeptRoom } from './room-hooks.ts'
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
  /** The newest state that the script has handed over; undefined for a room without state. */
  savedState(roomId: number): Promise<SavedState | undefined>
  /** Since when it is open, and what has come into it. */
  traffic(roomId: number): Promise<RoomTraffic | undefined>
  /** Changes what is given of the label. The values are within bounds. */
  updateRoom(roomId: number, label: Partial<Label>): void
  /** Removes a member with MATCH_CLOSED; the last one ends the room. */
  removeMember(roomId: number, participant: number): void
  /** What `endRoom` would answer, or `expelMember` where a participant is given. */
  mayEnd(roomId: number, participant?: number): Promise<Ended>
  /** Ends a room for an operator: its members get MATCH_CLOSED and need not queue again. */
  endRoom(roomId: number): Promise<Ended>
  /** As `removeMember`, for an operator, who hears what came of it. */
  expelMember(roomId: number, participant: number): Promise<Ended>
  /** The result of a match as JSON text; also while `on_match_ended` runs. */
  setMatchResult(matchId: string, resultJson: string): void
  /** The rooms whose label has `tick`, by id ascending. The list must not be changed. */
  tickRooms(): readonly TickRoom[]
  /** Closes the rooms that are bound to this generation: their worker is gone or drained. */
  closeBoundRooms(generation: number): void
  joinTopic(topic: string, participant: number): void
  leaveTopic(topic: string, participant: number): void
}

/** What has come into an open room so far. */
export type RoomTraffic = {
  match_id: string
  opened_at_unix_ms: number
  /** Messages and positions of its members. */
  messages_total: number
}

/** What came of it; `ending` while the room ends already. */
export type Ended = 'done' | 'unknown' | 'ending'

/** The state of a room as JSON, behind the sync of this number. */
export type SavedState = {
  readonly seq: number
  readonly text: string
  readonly bytes: number
  readonly atUnixMs: number
}

/** A room as `on_tick` needs it; `definition` is that of its state, if it has one. */
export type TickRoom = {
  room_id: number
  match_id: string
  generation: number | null
  definition?: string | null
}

/** What the script says of the states of rooms. Unknown rooms and participants are no error. */
export type RoomStates = {
  /** A body of ROOM_STATE for members that follow. `body` is copied. */
  deliverState(message: {
    room_id: number
    body: Uint8Array
    participants: readonly number[]
  }): void
  /** The state as JSON, behind the sync of this number. */
  saveState(saved: { room_id: number; seq: number; text: string }): void
  /** The rooms with state that are bound to no script, for the next worker. */
  keptRooms(): KeptRoom[]
  /** The next worker has the state of the room, or cannot have it: then the room ends. */
  restoredState(roomId: number, isThere: boolean): void
}
