import type { JsonObject } from '@guildhall/contract'

/** What a room says about itself; scripts set it, clients see parts of it. */
export type Label = {
  /** At most 128 bytes, like `mode`. */
  map: string
  mode: string
  /** 0 sets no limit of its own. */
  max_players: number
  /** A closed room is joined by nobody but those whom the matchmaker sends. */
  open: boolean
  /** Whether `on_tick` runs for the room. */
  tick: boolean
  /** Whether `rooms.list` shows the room. */
  listed: boolean
  /** At most 1,024 bytes as JSON and 16 levels. */
  properties: JsonObject
}

/** The script that a room keeps to; null on nodes that do not require a script. */
export type ScriptBinding = { revision_id: string; generation: number }

/** A live room, as scripts and the console see it. */
export type RoomRow = Label & {
  room_id: number
  match_id: string
  name: string | null
  /** Members, dropped ones included. */
  players: number
  binding: ScriptBinding | null
}

/** A member of a room; guests have no user id and no username. */
export type RoomMember = {
  participant: number
  user_id: string | null
  username: string | null
  /** False while its connection is lost and its seat is kept. */
  connected: boolean
}

/** Why a match is over. */
export type Termination = 'final_departure' | 'server_closed' | 'formation_abandoned'
