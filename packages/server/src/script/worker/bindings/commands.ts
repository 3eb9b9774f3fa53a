import type { ScriptFunction } from '@guildhall/contract'
import { Failure } from '../../../kernel/failure.ts'
import { checkedArguments, commandIndexes } from '../../functions/arguments.ts'
import { copyArguments, toJson } from '../arguments.ts'
import { GuildhallError, invalidArgument } from '../errors.ts'
import { type BindingHost, callerOf, countCommand, countPayload } from './binding-host.ts'
import type { CommandAnswer } from './lines.ts'

/**
 * A command of the table: checked at the call, done by the node when the slice ends. It travels as
 * its arguments in JSON.
 */
export function createCommandBinding(
  host: BindingHost,
  name: string,
  { row, answer }: { row: ScriptFunction; answer: CommandAnswer | undefined },
) {
  const index = commandIndexes.get(name) ?? -1
  return (...given: unknown[]): unknown => {
    const invocation = callerOf(host)
    const args = copyArguments(name, row, given)
    const made = answer?.(invocation, args)
    check(name, row, args)
    const text = toJson(made === undefined ? { args } : { args, made }) ?? ''
    countCommand(invocation)
    countPayload(invocation, text)
    host.runner.outputOf(invocation).command(index, text, invocation.call)
    return made
  }
}

function check(name: string, row: ScriptFunction, args: readonly unknown[]): void {
  try {
    checkedArguments(name, row, args)
  } catch (error) {
    if (error instanceof Failure) throw invalidArgument(error.text ?? `${name}: not valid`)
    throw new GuildhallError('internal', `${name}: the arguments could not be checked`)
  }
}
