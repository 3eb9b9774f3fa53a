import { printable, unknownKeyLine } from '../problem.ts'
import { keys } from '../schema.ts'
import { suggest } from '../suggestion.ts'
import { isSecret } from '../values/values.ts'
import type { Assignment, Assignments } from './assignment.ts'

/** The variables of a process, as `process.env` has them. */
export type Environment = {
  readonly [name: string]: string | undefined
  readonly GUILDHALL_CONFIG?: string | undefined
}

const prefix = 'GUILDHALL_'

/** The variable that sets a key: `http.bind` is `GUILDHALL_HTTP__BIND`. */
export function environmentName(key: string): string {
  return prefix + key.split('.').join('__').toUpperCase()
}

/** The variable that names the file of a secret key. */
export function environmentFileName(key: string): string {
  return `${environmentName(key)}_FILE`
}

/**
 * Finds the keys that the environment sets. Names without `__` are left alone, because container
 * platforms make such names for services; they are answered in `ignored`.
 */
export function readEnvironment(
  env: Environment,
  cwd: string,
): Assignments & { ignored: readonly string[] } {
  const assignments: Assignment[] = []
  const problems: string[] = []
  const ignored: string[] = []
  const set = Object.keys(env).filter((name) => name.startsWith(prefix) && env[name] !== '')
  if (set.length === 0) return { assignments, problems, ignored }

  const targets = targetsByName()
  for (const name of set.sort()) {
    const target = targets.get(name)
    const source = { layer: 'environment', text: `environment ${printable(name)}` } as const
    if (target) {
      assignments.push({
        ...target,
        raw: { kind: 'text', text: env[name] ?? '' },
        source,
        base: cwd,
      })
    } else if (name.includes('__')) {
      problems.push(unknownKeyLine(name, source, suggestVariable(name, targets)))
    } else if (name !== 'GUILDHALL_CONFIG') {
      ignored.push(name)
    }
  }
  return { assignments, problems, ignored }
}

type Target = Pick<Assignment, 'key' | 'form'>

function targetsByName(): Map<string, Target> {
  const targets = new Map<string, Target>()
  for (const [key, declared] of keys) {
    targets.set(environmentName(key), { key, form: 'value' })
    if (isSecret(declared)) targets.set(environmentFileName(key), { key, form: 'file' })
  }
  return targets
}

/** Compared as dotted names, so that the sections count and the common prefix does not. */
function suggestVariable(name: string, targets: ReadonlyMap<string, Target>): string | undefined {
  const dotted = (variable: string) =>
    variable.slice(prefix.length).replaceAll('__', '.').toLowerCase()
  const byDotted = new Map([...targets.keys()].map((known) => [dotted(known), known]))
  const found = suggest(dotted(name), byDotted.keys())
  return found === undefined ? undefined : byDotted.get(found)
}
