import type { Delivery } from '../kernel/play/delivery.ts'
import type { RoomCommands, RoomStates } from '../kernel/play/room-commands.ts'
import type { ScriptCaller } from '../kernel/play/script.ts'

/**
 * What scripts reach of the rest of the node; `node/` fills it. The host gets it when it starts the
 * script, because the gateway is built with the host, and no script runs before.
 */
export type ScriptPorts = {
  delivery: Pick<Delivery, 'broadcast' | 'send'>
  functions: HostFunctions
  /** What the host needs of the rooms of this node. */
  rooms: Pick<RoomCommands, 'tickRooms' | 'closeBoundRooms'>
  states: RoomStates
}

/** For a script that nothing is behind. */
export const noPorts: ScriptPorts = {
  delivery: { broadcast() {}, send() {} },
  functions: {},
  rooms: { tickRooms: () => [], closeBoundRooms() {} },
  states: { deliverState() {}, saveState() {}, keptRooms: () => [], restoredState() {} },
}

/**
 * What scripts can ask of the node, by the names of the table. Arguments are checked before;
 * functions refuse with a `Failure`. `made` is what the script was answered with when it called a
 * command. `node/` holds the whole of them to `ServedScript`.
 */
export type HostFunctions = Readonly<Record<string, HostFunction>>

// As a method: each implementation declares the arguments of its own row.
type HostFunction = { run(caller: ScriptCaller, args: unknown, made: unknown): unknown }['run']
