import { dirname, resolve } from 'node:path'
import { isKey, type Section } from './key.ts'
import { defaultSource, problemLine, type Source } from './problem.ts'
import { hasDefaultCredentials, isLocal, rules } from './rules.ts'
import { type Config, keys, schema } from './schema.ts'
import type { Assignment, Assignments, Raw } from './sources/assignment.ts'
import { type Environment, readEnvironment } from './sources/environment.ts'
import { type FileLocation, type FileResult, readConfigFile } from './sources/file.ts'
import { type FlagAssignment, readFlags } from './sources/flags.ts'
import { readSecretFile } from './sources/secret-file.ts'
import { holdsPassword } from './values/operators.ts'
import { checkText, checkValue, isSecret, type Verdict } from './values/values.ts'

export type LoadOptions = {
  readonly env: Environment
  /** The working directory: relative paths start here, and `guildhall.toml` is looked for here. */
  readonly cwd: string
  /** The path that `--config` gave. */
  readonly configPath?: string | undefined
  /** Keys that flags set, in the order in which they stand on the command line. */
  readonly flags?: readonly FlagAssignment[]
}

/** A configuration that can be used, or every reason why there is none. */
export type LoadResult = LoadedConfig | { readonly ok: false; readonly problems: readonly string[] }

export type LoadedConfig = {
  readonly ok: true
  readonly config: Config
  /** Where the configuration file lies, or would lie; an absolute path. */
  readonly folder: string
  /** Where each key's value came from; every key has an entry. */
  readonly sources: ReadonlyMap<string, Source>
  /** Lines for the log at level warn. */
  readonly warnings: readonly string[]
  /** Names of variables that start with `GUILDHALL_` and mean nothing: for the log at debug. */
  readonly ignored_environment: readonly string[]
}

/**
 * Resolves the configuration: defaults, file, environment and flags, merged key by key and then
 * checked once. No line of the result holds the value of a secret key.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  const { env, cwd, flags = [] } = options
  const location = locate(options)
  const file = await readConfigFile(location, cwd)
  const environment = readEnvironment(env, cwd)
  const merged = merge([file, environment, readFlags(flags, cwd)])
  const settled = settle(merged.assignments, cwd)
  const problems = [...merged.problems, ...settled.problems]
  if (file.readableByOthers && holdsSecret(file)) {
    settled.warnings.push(`${file.name} holds a secret and can be read by other users`)
  }

  const config = nest(settled.values)
  const isSet = (key: string) => settled.sources.get(key) !== undefined
  const sourceOf = (key: string) => settled.sources.get(key) ?? defaultSource
  for (const rule of rules) {
    if (rule.keys.some((key) => settled.faulty.has(key))) continue
    const fault = rule.fault(config, isSet)
    const [key = ''] = rule.keys
    if (fault) problems.push(problemLine(key, sourceOf(key), fault))
  }
  if (problems.length > 0) return { ok: false, problems }
  return {
    ok: true,
    config,
    folder: dirname(resolve(cwd, location.path)),
    sources: new Map([...keys.keys()].map((key) => [key, sourceOf(key)])),
    warnings: [...settled.warnings, ...cautions(config)],
    ignored_environment: environment.ignored,
  }
}

function locate({ configPath, env }: LoadOptions): FileLocation {
  const named = configPath ?? (env.GUILDHALL_CONFIG || undefined)
  return named === undefined
    ? { path: 'guildhall.toml', named: false }
    : { path: named, named: true }
}

/** Takes each key from the highest source that has it. `sources` run from low to high. */
function merge(sources: readonly Assignments[]): Assignments {
  const chosen = new Map<string, Assignment>()
  const problems = sources.flatMap((source) => source.problems)
  for (const assignment of sources.flatMap((source) => source.assignments)) {
    const { key, source, form } = assignment
    const before = chosen.get(key)
    chosen.set(key, assignment)
    if (before?.source.layer !== source.layer || before.form === form) continue
    problems.push(
      problemLine(key, source, {
        wrong: `is given both as a value and as a file (${before.source.text})`,
        allowed: 'one of the two',
      }),
    )
  }
  return { assignments: [...chosen.values()], problems }
}

type Settled = {
  values: Map<string, unknown>
  sources: Map<string, Source>
  faulty: Set<string>
  problems: string[]
  warnings: string[]
}

/** Checks every chosen assignment. A key with a fault keeps its default, for the rules to skip. */
function settle(assignments: readonly Assignment[], cwd: string): Settled {
  const settled: Settled = {
    values: new Map([...keys].map(([key, declared]) => [key, declared.default])),
    sources: new Map(),
    faulty: new Set(),
    problems: [],
    warnings: [],
  }
  for (const assignment of assignments) {
    const { key, source } = assignment
    settled.sources.set(key, source)
    const verdict = judge(assignment, cwd, settled.warnings)
    if ('fault' in verdict) {
      settled.faulty.add(key)
      settled.problems.push(problemLine(key, source, verdict.fault))
    } else {
      settled.values.set(key, verdict.value)
    }
  }
  return settled
}

function judge(assignment: Assignment, cwd: string, warnings: string[]): Verdict {
  const { key, form, raw, source, base } = assignment
  const declared = keys.get(key)
  if (!declared) throw new Error(`there is no key ${key}`)
  const secretOf = (path: Raw) => {
    const read = readSecretFile(path, base)
    if (!('fault' in read) && read.readableByOthers) {
      warnings.push(`the file of ${key} (${source.text}) can be read by other users`)
    }
    return read
  }
  const secretOfEntry = (value: unknown) => secretOf({ kind: 'typed', value })
  if (form === 'file') {
    const read = secretOf(raw)
    return 'fault' in read ? read : checkText(declared, read.text, secretOfEntry)
  }
  const verdict =
    raw.kind === 'text'
      ? checkText(declared, raw.text, secretOfEntry)
      : checkValue(declared, raw.value, secretOfEntry)
  if ('fault' in verdict) return verdict
  return { value: anchored(verdict.value, { isPath: declared.kind === 'path', key, base, cwd }) }
}

type Anchor = { isPath: boolean; key: string; base: string; cwd: string }

/**
 * Makes a relative path mean what it meant where it was written. It stays as it is when that is
 * the working directory, so that operators find their own words in the effective configuration.
 */
function anchored(value: unknown, { isPath, key, base, cwd }: Anchor): unknown {
  if (typeof value !== 'string' || base === resolve(cwd)) return value
  if (isPath) return resolve(base, value)
  if (key !== 'database.url' || !value.startsWith('sqlite:')) return value
  return `sqlite:${resolve(base, value.slice('sqlite:'.length))}`
}

function holdsSecret({ assignments }: FileResult): boolean {
  return assignments.some(({ key, form, raw }) => {
    const declared = keys.get(key)
    if (form !== 'value' || declared === undefined) return false
    if (declared.kind === 'operators') return raw.kind === 'typed' && holdsPassword(raw.value)
    return isSecret(declared) && (key !== 'database.url' || !isUrlOfThisMachine(raw))
  })
}

/** The URL of a database without a server, which holds no credentials. */
function isUrlOfThisMachine(raw: Assignment['raw']): boolean {
  return /^(?:memory|sqlite):/.test(raw.kind === 'text' ? raw.text : String(raw.value))
}

/** What works, and should still not stay as it is. */
function cautions({ http, console }: Config): string[] {
  const lines: string[] = []
  if (isLocal(http.bind) && hasDefaultCredentials(console)) {
    lines.push('console.username and console.password are the defaults; set your own')
  }
  if (http.behind_tls_proxy && http.trusted_proxies.length === 0) {
    lines.push(
      'http.behind_tls_proxy is true while http.trusted_proxies is empty: every client seems to ' +
        'have the address of the proxy',
    )
  }
  return lines
}

/** Puts dotted keys into the nesting of the schema. */
function nest(values: ReadonlyMap<string, unknown>): Config {
  function nested(section: Section, prefix: string): Record<string, unknown> {
    const members = Object.entries(section).map(([name, entry]) => {
      const dotted = prefix + name
      return [name, isKey(entry) ? values.get(dotted) : nested(entry, `${dotted}.`)]
    })
    return Object.fromEntries(members)
  }
  // Every key was checked against its declaration, from which the type is derived.
  return nested(schema, '') as Config
}
