import type { RoomLabel, ScriptRoom } from '@guildhall/contract'

/** What a room says about itself, with every member; scripts set it, clients see parts of it. */
export type Label = Pick<ScriptRoom, keyof RoomLabel>

/** The script that a room keeps to. */
export type ScriptBinding = { revision_id: string; generation: number }

/** An open room as scripts and the console see it. */
export type OpenRoom = ScriptRoom & {
  /** Null on nodes that do not require a script. */
  binding: ScriptBinding | null
}
