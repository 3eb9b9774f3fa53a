import { type LoadedConfig, loadConfig } from '../config/load.ts'
import type { Environment } from '../config/sources/environment.ts'
import type { FlagAssignment } from '../config/sources/flags.ts'
import { type Invocation, parseArguments } from './arguments.ts'
import { check } from './commands/check.ts'
import { profile } from './commands/profile.ts'
import { reload } from './commands/reload.ts'
import { printVersion } from './commands/version.ts'
import { helpText } from './commands.ts'
import type { InspectScript } from './inspect-script.port.ts'
import { exitCodes, printJson, printLines, type Terminal } from './terminal.ts'

/** What the commands need of the rest of the node. */
export type CommandDeps = {
  /** Runs a node until it stops; resolves to the exit code. */
  serve(loaded: LoadedConfig, options: ServeOptions): Promise<number>
  /** Loads the script that the configuration selects, for `check`. */
  inspectScript?: InspectScript
}

/** `log` asks for the whole log, of which a person sees little otherwise. */
export type ServeOptions = { log: boolean }

/**
 * Runs one command line, given without the program's name, and resolves to the exit code. What is
 * large or seldom asked for is loaded by its command, so that a node starts at once.
 */
export async function runCommand(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
  deps: CommandDeps,
): Promise<number> {
  const invocation = parseArguments(argv)
  if (typeof invocation === 'string') {
    printLines(terminal.stderr, [`guildhall: ${invocation}`])
    return exitCodes.configuration
  }
  if (invocation.help) {
    terminal.stdout.write(helpText(invocation.named ? invocation.command : undefined))
    return exitCodes.ok
  }
  switch (invocation.command) {
    case 'version':
      return printVersion(invocation, terminal)
    case 'hash-password': {
      const { hashPassword } = await import('./commands/hash-password.ts')
      return hashPassword(invocation, terminal)
    }
    case 'init': {
      const { initGame } = await import('./commands/init.ts')
      return initGame(invocation, terminal)
    }
    default:
      return withConfig(invocation, { env, terminal, deps })
  }
}

type Context = { env: Environment; terminal: Terminal; deps: CommandDeps }

async function withConfig(invocation: Invocation, context: Context): Promise<number> {
  const { env, terminal, deps } = context
  const { configPath } = invocation
  const settings = [...settingsOf(invocation), ...invocation.settings]
  const loaded = await loadConfig({ env, cwd: terminal.cwd, configPath, flags: settings })
  if (!loaded.ok) {
    if (invocation.json) printJson(terminal.stdout, { ok: false, problems: loaded.problems })
    else printLines(terminal.stderr, loaded.problems)
    return exitCodes.configuration
  }
  switch (invocation.command) {
    case 'check':
      return check(loaded, invocation, { terminal, inspectScript: deps.inspectScript })
    case 'migrate': {
      const { migrateDatabase } = await import('./commands/migrate.ts')
      return migrateDatabase(loaded, invocation, terminal)
    }
    case 'backup': {
      const { backUp } = await import('./commands/backup.ts')
      return backUp(loaded, invocation, terminal)
    }
    case 'restore': {
      const { restore } = await import('./commands/restore.ts')
      return restore(loaded, invocation, terminal)
    }
    case 'test-script': {
      const { testScript } = await import('./commands/test-script.ts')
      return testScript(loaded, invocation, terminal)
    }
    case 'bundle': {
      const { bundleGame } = await import('./commands/bundle.ts')
      return bundleGame(loaded, invocation, terminal)
    }
    case 'bots': {
      const { runBotsOf } = await import('./commands/bots.ts')
      return runBotsOf(loaded, invocation, terminal)
    }
    case 'reload':
      return reload(loaded, invocation, terminal)
    case 'profile':
      return profile(loaded, invocation, terminal)
    case 'doctor': {
      const { doctor } = await import('./commands/doctor.ts')
      return doctor(loaded, invocation, terminal)
    }
    case 'audit verify': {
      const { auditVerify } = await import('./commands/audit-verify.ts')
      return auditVerify(loaded, invocation, terminal)
    }
    default:
      return deps.serve(loaded, { log: invocation.switches.has('--log') })
  }
}

/** What a command sets by itself; flags of the line come behind, and win. */
function settingsOf({ command, argument }: Invocation): FlagAssignment[] {
  if (command !== 'dev') return []
  const set = (key: string, text: string) => ({ flag: 'dev', key, text })
  const folder = argument === undefined ? [] : [set('runtime.scripts_dir', argument)]
  return [set('runtime.hot_reload', 'true'), set('runtime.hot_reload_poll_ms', '100'), ...folder]
}
