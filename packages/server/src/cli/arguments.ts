import { quoted } from '../config/problem.ts'
import {
  type FlagAssignment,
  flagKeys,
  parseSetting,
  settingUsage,
} from '../config/sources/flags.ts'
import { suggest } from '../config/suggestion.ts'
import { type CommandName, commandNames, commands, commandWords } from './commands.ts'

/** A command line that makes sense. */
export type Invocation = {
  readonly command: CommandName
  /** Whether the line names the command, or leaves it at the default. */
  readonly named: boolean
  /** What stands behind a command that takes something, e.g. the folder of `test-script`. */
  readonly argument: string | undefined
  readonly configPath: string | undefined
  /** Configuration keys that flags set, in their order. */
  readonly settings: readonly FlagAssignment[]
  readonly json: boolean
  readonly help: boolean
  /** Flags of the command itself, e.g. `--print`. */
  readonly switches: ReadonlySet<string>
  /** Flags of the command itself that have a value, e.g. `--limit`. */
  readonly values: ReadonlyMap<string, string>
}

/**
 * Reads a command line (without the program). A text instead of an invocation is the complaint
 * about it; it repeats names, but neither values nor stray arguments, which could be secrets.
 */
export function parseArguments(argv: readonly string[]): Invocation | string {
  const words: string[] = []
  const flags: { name: string; value: string | undefined }[] = []
  const rest = [...argv]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('-')) {
      words.push(word)
      continue
    }
    const [name = '', inline] = splitOnce(word)
    flags.push({ name, value: inline ?? (takesValue(name) ? rest.shift() : undefined) })
  }

  // A word behind a mistyped flag may be its value, so the flags are looked at first.
  const stranger = flags.find(({ name }) => !everyFlag.includes(name))
  if (stranger) return unknown('flag', stranger.name, everyFlag)
  const [word = 'serve', ...stray] = joined(words)
  const command = commandWords.get(word)
  if (command === undefined) return unknown('command', word, [...commandWords.keys()])
  const most = 'argument' in commands[command] ? 1 : 0
  if (stray.length > most) return tooMany(command, most)
  const invocation = readFlags(command, flags)
  if (typeof invocation === 'string') return invocation
  return { ...invocation, named: words.length > 0, argument: stray[0] }
}

/** An invocation but for the word that began it. */
type Unnamed = Omit<Invocation, 'named' | 'argument'>

function tooMany(command: CommandName, most: number): string {
  const takes = most === 0 ? 'no argument' : 'one argument'
  return `${command} takes ${takes}; run \`guildhall ${command} --help\``
}

type Flag = { name: string; value: string | undefined }

/** A command of two words is one name. */
function joined(words: readonly string[]): readonly string[] {
  const [first, second, ...rest] = words
  const isHead = commandNames.some((name) => name.startsWith(`${first} `))
  return isHead && second !== undefined ? [`${first} ${second}`, ...rest] : words
}

const globalSwitches = ['--json', '--help', '--version']
const globalValues = ['--config', '--set', ...flagKeys.keys()]
const ownFlags = commandNames.flatMap((name) => [...commands[name].switches])
const ownValues = ownFlags.filter((own) => 'value' in own).map((own): string => own.name)
const everyFlag = [...globalValues, ...globalSwitches, ...ownFlags.map((own) => own.name)]

function readFlags(word: CommandName, flags: readonly Flag[]): Unnamed | string {
  const own = commands[word].switches.map((it): string => it.name)
  const known = [...globalValues, ...globalSwitches, ...own]
  const settings: FlagAssignment[] = []
  const switches = new Set<string>()
  const values = new Map<string, string>()
  let configPath: string | undefined
  for (const { name, value } of flags) {
    if (!known.includes(name)) return unknown('flag', name, known)
    if (!takesValue(name)) {
      if (value !== undefined) return `${name} takes no value`
      switches.add(name)
      continue
    }
    if (value === undefined) return `${name} needs a value`
    const key = flagKeys.get(name)
    if (key !== undefined) {
      settings.push({ flag: name, key, text: value })
    } else if (ownValues.includes(name)) {
      values.set(name, value)
    } else if (name === '--config') {
      if (value === '') return '--config needs the path of a file'
      configPath = value
    } else {
      const setting = parseSetting(value)
      if (!setting) return settingUsage
      settings.push(setting)
    }
  }
  return {
    command: switches.has('--version') ? 'version' : word,
    configPath,
    settings,
    json: switches.has('--json'),
    help: switches.has('--help'),
    switches,
    values,
  }
}

function takesValue(name: string): boolean {
  return globalValues.includes(name) || ownValues.includes(name)
}

function splitOnce(word: string): [string, string | undefined] {
  const at = word.indexOf('=')
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

function unknown(kind: string, typed: string, known: readonly string[]): string {
  // Half of a name is further from the whole one than a suggestion may be.
  const nearest = known.find((name) => name.startsWith(`${typed} `)) ?? suggest(typed, known)
  const hint = nearest === undefined ? '; run `guildhall --help`' : `; did you mean "${nearest}"?`
  return `unknown ${kind} ${quoted(typed)}${hint}`
}
