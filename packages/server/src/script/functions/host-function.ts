import type { ScriptFunction } from '@guildhall/contract'
import { compileWriter } from '../../kernel/json/json-writer.ts'
import type { ScriptCaller } from '../../kernel/play/script.ts'
import type { Awaitable } from '../../kernel/time/awaitable.ts'
import type { HostFunctions } from '../ports.ts'
import { answerFilter } from './answers.ts'
import { checkedArguments } from './arguments.ts'

type HostFunction = (caller: ScriptCaller, given: readonly unknown[]) => Awaitable<unknown>

/**
 * A function of the node as the script calls it: with the arguments that the table declares, and
 * the answer either as a value or, where its options say `raw`, as bytes of JSON. What is answered
 * at once waits for nothing.
 */
export function hostFunction(
  name: string,
  row: ScriptFunction,
  fn: NonNullable<HostFunctions[string]>,
): HostFunction {
  const filter = answerFilter(row.ok)
  const write = rawWriter(row)
  return (caller, given) => {
    const { args, isRaw } = asked(row, checkedArguments(name, row, given))
    const answer: unknown = fn(caller, args, undefined)
    const answered = isRaw ? write : filter
    return answer instanceof Promise ? answer.then(answered) : answered(answer)
  }
}

type Arguments = { [argument: string]: unknown }

/** The function itself knows of no `raw`. */
function asked({ raw: mayBeRaw }: ScriptFunction, args: Arguments) {
  if (!mayBeRaw || !isObject(args.options)) return { args, isRaw: false }
  const { raw, ...options } = args.options
  return { args: { ...args, options }, isRaw: raw === true }
}

/** Those who share an answer share its bytes. */
function rawWriter({ ok }: ScriptFunction): (answer: unknown) => Promise<Uint8Array> {
  const written = new WeakMap<object, Promise<Uint8Array>>()
  let writer: ReturnType<typeof compileWriter> | undefined

  async function write(answer: unknown): Promise<Uint8Array> {
    if (ok === undefined) throw new Error('there is no answer to write')
    writer ??= compileWriter(ok)
    const text = writer(answer)
    if (typeof text === 'string') return encoder.encode(text)
    await text.written(() => true)
    return new Uint8Array(Buffer.concat(text.pieces.map((piece) => Buffer.from(piece))))
  }

  return (answer) => {
    if (!isObject(answer)) return write(answer)
    const known = written.get(answer) ?? write(answer)
    written.set(answer, known)
    return known
  }
}

const encoder = new TextEncoder()

function isObject(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null
}
