import { copyArguments } from '../arguments.ts'
import type { BindingHost } from './binding-host.ts'

/** A function of the node: the script waits for it, and the node checks the arguments. */
export function createHostCallBinding(host: BindingHost, name: string) {
  return async (...given: unknown[]): Promise<unknown> => host.ask(name, copyArguments(name, given))
}
