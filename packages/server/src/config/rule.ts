import type { Fault } from './problem.ts'
import type { Config } from './schema.ts'

/**
 * A rule between keys. It is skipped while one of its keys has a problem of its own; a fault is
 * reported at the first key. `isSet` says whether the operator set a key, in whatever source.
 */
export type Rule = {
  readonly keys: readonly string[]
  fault(config: Config, isSet: (key: string) => boolean): Fault | undefined
}

export function rule(keys: readonly string[], fault: Rule['fault']): Rule {
  return { keys, fault }
}

export function unless(holds: boolean, fault: Fault): Fault | undefined {
  return holds ? undefined : fault
}
