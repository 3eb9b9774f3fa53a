import type { ScriptCaller } from '../kernel/script.ts'

/** What the script host needs from the rest of the node; `node/` fills it. */

/**
 * What scripts can ask of the node, by the names of the table. Arguments are checked before;
 * functions refuse with a `Failure`. `made` is what the script was answered with when it called a
 * command. `node/` holds the whole of them to `ServedScript`.
 */
export type HostFunctions = Readonly<Record<string, HostFunction>>

// As a method: each implementation declares the arguments of its own row.
type HostFunction = { run(caller: ScriptCaller, args: unknown, made: unknown): unknown }['run']
