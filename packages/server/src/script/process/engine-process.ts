import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../kernel/clock.ts'
import { compiledFolder } from '../../kernel/host/cache-folder.ts'
import type { ScriptConfig } from '../config.ts'
import type { WorkerSettings } from '../wire/protocol.ts'
import type { EnginePlaces, Program } from './engine-programs.ts'
import { type Selection, selectEntrypoint } from './languages.ts'

/** All that the process of a worker is started with. */
export type ProcessStart = {
  readonly program: Program
  readonly settings: EnginePlaces & Pick<WorkerSettings, 'memoryMb'>
  readonly environment: NodeJS.ProcessEnv
}

/**
 * A process, not a thread: a thread that runs out of memory ends the whole process, and one in a
 * loop that the engine does not interrupt cannot be ended at all.
 */
export function startProcess(start: ProcessStart): ChildProcess {
  // Loaded by those alone who have a script.
  const { spawn } = process.getBuiltinModule('node:child_process')
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'] as const
  return spawn(process.execPath, argumentsOf(start), {
    env: start.environment,
    stdio: [...stdio],
  })
}

function argumentsOf({ program, settings }: ProcessStart): string[] {
  return [
    `--max-old-space-size=${settings.memoryMb}`,
    '--disable-warning=ExperimentalWarning',
    ...program.execArgv(settings),
    fileURLToPath(program.entry),
  ]
}

/**
 * The process of the script that a node begins with, started while the node itself is still being
 * loaded, which takes about as long. It waits until it is taken, and ends with the node.
 */
export class EarlyProcess {
  readonly #start: ProcessStart
  #child: ChildProcess | undefined

  constructor(start: ProcessStart) {
    this.#start = start
    // One that cannot be started is none: whoever wants it starts another, and hears why.
    this.#child = startProcess(start).on('error', () => this.end())
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Gives it away, once. Undefined where it has ended, or another one is wanted by now. */
  take(wanted: ProcessStart): ChildProcess | undefined {
    const child = this.#child
    const lives = child?.pid !== undefined && child.exitCode === null && child.signalCode === null
    if (!lives || !isSame(this.#start, wanted)) {
      this.end()
      return undefined
    }
    this.#child = undefined
    return child
  }

  /** Ends it, unless it was taken. */
  end(): void {
    const child = this.#child
    this.#child = undefined
    if (child?.pid !== undefined) child.kill('SIGKILL')
  }
}

function isSame(one: ProcessStart, other: ProcessStart): boolean {
  const all = (start: ProcessStart) => JSON.stringify([argumentsOf(start), start.environment])
  return all(one) === all(other)
}

/**
 * Starts the process of the script that a configuration selects. Undefined where there is none, or
 * where it is not known yet how it starts: an engine with an image looks for it first.
 */
export function startEarly(
  config: ScriptConfig,
  environment: NodeJS.ProcessEnv,
  clock: Pick<Clock, 'nowUnixMs'>,
): EarlyProcess | undefined {
  const selection = config.enabled ? selected(config) : undefined
  if (selection === undefined || selection.engine.hasImage) return undefined
  return new EarlyProcess({
    program: selection.engine,
    settings: {
      memoryMb: config.memory_mb,
      packageDir: selection.packageDir,
      imageFile: '',
      inspects: config.inspect !== undefined,
    },
    environment: workerEnvironment(environment, clock),
  })
}

/** What is wrong with it, the node says when it loads the script. */
function selected(config: ScriptConfig): Selection | undefined {
  try {
    return selectEntrypoint(config)
  } catch {
    return undefined
  }
}

/**
 * What of its environment the node keeps from the script: its configuration, and what `node
 * --watch` sets for the node itself, which is to report each module that it loads.
 */
const withheld = /^guildhall_|^watch_report_dependencies$/i

/** The environment of a script's process. */
export function workerEnvironment(
  environment: NodeJS.ProcessEnv,
  clock: Pick<Clock, 'nowUnixMs'>,
): NodeJS.ProcessEnv {
  const entries = Object.entries(environment)
  return {
    NODE_COMPILE_CACHE: compiledFolder(environment, clock),
    ...Object.fromEntries(entries.filter(([name]) => !withheld.test(name))),
  }
}
