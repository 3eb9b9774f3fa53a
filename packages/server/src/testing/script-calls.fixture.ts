import type { ScriptCaller } from '../kernel/script.ts'
import { checkedArguments, scriptRows } from '../script/arguments.ts'
import type { HostFunctions } from '../script/ports.ts'

/** A script without a player, such as a timer. */
export const scriptCaller: ScriptCaller = {
  origin: 'server',
  participant: 0,
  user_id: null,
  room_id: null,
  match_id: null,
  revision_id: 'sha256:test',
}

/** Calls functions of the script API as the host does: arguments by the table, then the feature. */
export function scriptCalls(functions: HostFunctions = {}) {
  return async (name: string, ...args: unknown[]): Promise<unknown> => {
    const row = scriptRows.get(name)
    if (!row) throw new Error(`there is no ${name}`)
    return functions[name]?.(scriptCaller, checkedArguments(name, row, args), undefined)
  }
}
