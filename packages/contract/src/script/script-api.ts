import type { z } from 'zod'
import { type ReadRows, readRows, type Written } from '../values/once.ts'

/** The closed list of codes that the functions of `guildhall` raise. */
export const scriptErrorCodes = [
  'invalid_argument',
  'not_found',
  'conflict',
  'forbidden',
  'unavailable',
  'timeout',
  'limit_exceeded',
  'http_error',
  'internal',
] as const
export type ScriptErrorCode = (typeof scriptErrorCodes)[number]

export type ScriptTier = 'sandboxed' | 'trusted'

/**
 * A function of the script API is a value. The bindings of every language, the checks of its
 * arguments, the refusal by tier, `guildhall.d.ts` and the reference page are derived from it.
 */
export type ScriptFunction = {
  /** One sentence for the reference and the type declarations. */
  doc: string
  /** Code that shows the use, one line each. */
  example?: readonly string[]
  /** In the order in which a script gives them. Trailing ones may be optional. */
  args: Readonly<Record<string, z.ZodType>>
  /** The argument that holds several operations: a refusal says which one was the first to fail. */
  operations?: string
  /** What it returns; undeclared members do not reach the script. Without it, nothing. */
  ok?: z.ZodType
  /**
   * Its options have `raw`: with it the answer is its JSON as bytes, which the node writes and the
   * script hands on, such as in a reply. `json.decode` makes the answer of them.
   */
  raw?: true
  /** Codes beyond `invalid_argument`, which every function with arguments has. */
  errors?: readonly ScriptErrorCode[]
  /** The lowest tier that has it; a lower one gets `forbidden`. */
  tier: ScriptTier
  /**
   * Who does it. `node`: the call suspends the handler until the node has answered. `command`: the
   * node does it when the slice ends. `worker`: done at once beside the script.
   */
  runs: 'node' | 'command' | 'worker'
  /** Declared and not served yet: to mention it raises `unavailable`. */
  planned?: true
}

/** Functions by their full name, such as `wallet.adjust` or `storage_read`. */
export type ScriptApi = Readonly<Record<string, ScriptFunction>>

/**
 * Declares the functions of one noun. Schemas are given by functions, see `defineApi`.
 *
 * @example
 * export const walletScript = defineScriptApi({
 *   'wallet.get': { doc: 'The balances of an account by currency.', args: () => ({ user_id }),
 *     ok: () => int64ByName, errors: ['not_found'], tier: 'trusted', runs: 'node' },
 * })
 */
export function defineScriptApi<const A extends WrittenApi>(
  api: A & OnlyMembersOfRows<A>,
): ReadRows<A> {
  return readRows<A>(api)
}

type WrittenApi = Readonly<Record<string, Written<ScriptFunction, 'args' | 'ok'>>>

/** A misspelt optional member would otherwise be one more that nothing reads. */
type OnlyMembersOfRows<A extends WrittenApi> = {
  [K in keyof A]: { [M in Exclude<keyof A[K], keyof ScriptFunction>]: never }
}

/** Arguments as the implementation gets them: by name, checked, defaults filled in. */
export type ScriptArgs<F extends ScriptFunction> = {
  [K in keyof F['args']]: z.output<F['args'][K]>
}

/** What the implementation of a function answers. */
export type ScriptAnswer<F extends ScriptFunction> = F extends { ok: z.ZodType }
  ? z.input<F['ok']>
  : undefined

/** The names of the served functions of a table that are done in one place. */
export type ScriptNames<A extends ScriptApi, Runs extends ScriptFunction['runs']> = {
  [K in keyof A]: A[K] extends { planned: true } ? never : A[K]['runs'] extends Runs ? K : never
}[keyof A]

/**
 * One implementation for every served function that the node does; a missing one does not compile,
 * and neither does one that is only planned.
 */
export type ScriptFunctions<A extends ScriptApi, Caller> = {
  readonly [K in ScriptNames<A, 'node'>]: (
    caller: Caller,
    args: ScriptArgs<A[K]>,
  ) => ScriptAnswer<A[K]> | Promise<ScriptAnswer<A[K]>>
}

/**
 * One implementation for every served command. `made` is what the script was answered with when it
 * called, such as the id of a log line.
 */
export type ScriptCommands<A extends ScriptApi, Caller> = {
  readonly [K in ScriptNames<A, 'command'>]: (
    caller: Caller,
    args: ScriptArgs<A[K]>,
    made: ScriptAnswer<A[K]>,
  ) => void
}
