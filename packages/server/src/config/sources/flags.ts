import { problemLine, type Source, unknownKeyLine } from '../problem.ts'
import { keys } from '../schema.ts'
import { suggest } from '../suggestion.ts'
import { isSecret, mayHoldSecret } from '../values/values.ts'
import type { Assignment, Assignments } from './assignment.ts'
import { environmentFileName, environmentName } from './environment.ts'

/** A key that the command line sets: by `--set KEY=VALUE`, or by a flag of its own. */
export type FlagAssignment = {
  readonly flag: string
  readonly key: string
  readonly text: string
}

/** The key of each flag that stands for one. */
export const flagKeys: ReadonlyMap<string, string> = new Map([
  ['--bind', 'http.bind'],
  ['--log-level', 'logging.level'],
  ['--node-id', 'server.node_id'],
])

export function readFlags(flags: readonly FlagAssignment[], cwd: string): Assignments {
  const assignments: Assignment[] = []
  const problems: string[] = []
  for (const { flag, key, text } of flags) {
    const source: Source = { layer: 'flag', text: `flag ${flag}` }
    const secretKey = [key, key.replace(/_file$/, '')].find(isSecretName)
    if (secretKey !== undefined) {
      problems.push(problemLine(secretKey, source, refusal(secretKey)))
    } else if (keys.has(key)) {
      assignments.push({ key, form: 'value', raw: { kind: 'text', text }, source, base: cwd })
    } else {
      problems.push(unknownKeyLine(key, source, suggest(key, openKeys())))
    }
  }
  return { assignments, problems }
}

/** Splits `KEY=VALUE`; undefined when there is no key or no equals sign. */
export function parseSetting(text: string): FlagAssignment | undefined {
  const at = text.indexOf('=')
  return at < 1
    ? undefined
    : { flag: '--set', key: text.slice(0, at).trim(), text: text.slice(at + 1) }
}

/** What is said about a `--set` that is none. The text may hold a secret, so it is not repeated. */
export const settingUsage = '--set takes KEY=VALUE, such as --set http.bind=127.0.0.1:8000'

function refusal(key: string) {
  const declared = keys.get(key)
  const variables = [environmentName(key)]
  if (declared && isSecret(declared)) variables.push(environmentFileName(key))
  return {
    wrong: 'a secret cannot be set by a flag, because other users can read command lines',
    allowed: `${variables.join(', ')} or the configuration file`,
  }
}

function isSecretName(key: string): boolean {
  const declared = keys.get(key)
  return declared !== undefined && mayHoldSecret(declared)
}

function* openKeys(): Generator<string> {
  for (const key of keys.keys()) if (!isSecretName(key)) yield key
}
