import type { ScriptFunction } from '@guildhall/contract'
import { copyArguments } from '../arguments.ts'
import { GuildhallError } from '../errors.ts'
import type { BindingHost } from './binding-host.ts'

/** A function of the node: the script waits for it, and the node checks the arguments. */
export function createHostCallBinding(host: BindingHost, name: string, row: ScriptFunction) {
  return async (...given: unknown[]): Promise<unknown> => {
    const result = await host.ask(name, copyArguments(name, row, given))
    if (result.ok) return result.value
    // Made behind the await, where the engine knows who waits: its stack names the script's line.
    throw new GuildhallError(result.code, result.message, result)
  }
}
