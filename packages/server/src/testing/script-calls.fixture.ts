import type { ScriptCaller } from '../kernel/play/script.ts'
import { joinScript } from '../node/features/joined.ts'
import { scriptRows } from '../script/functions/arguments.ts'
import { hostFunction } from '../script/functions/host-function.ts'
import type { HostFunctions } from '../script/ports.ts'
import type { TestApi } from './api.ts'

/** A script without a player, such as a timer. */
export const scriptCaller: ScriptCaller = {
  origin: 'server',
  participant: 0,
  user_id: null,
  room_id: null,
  match_id: null,
  revision_id: 'sha256:test',
}

/** Calls a function of the script API by its name. */
export type ScriptCall = (name: string, ...args: unknown[]) => Promise<unknown>

/** Calls functions of the script API as the host does: arguments by the table, then the feature. */
export function scriptCalls(functions: HostFunctions = {}): ScriptCall {
  return async (name, ...args) => {
    const row = scriptRows.get(name)
    if (!row) throw new Error(`there is no ${name}`)
    const fn = functions[name]
    return fn && hostFunction(name, row, fn)(scriptCaller, args)
  }
}

/** The same for all features of a node. */
export function scriptOf({ features }: Pick<TestApi, 'features'>): ScriptCall {
  return scriptCalls(joinScript(features))
}
