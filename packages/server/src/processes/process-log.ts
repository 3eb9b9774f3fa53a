import type { LoadedConfig } from '../config/load.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log/log.ts'
import {
  createLog,
  createStreamSink,
  type LogLevels,
  type LogWriter,
  parseLogLevels,
} from '../kernel/log/log-writer.ts'

/** What a person sees of the log: faults, and what becomes of the game's script. */
const levelsForPerson: LogLevels = {
  standard: 'warn',
  components: new Map([['script', 'info']]),
}

export type ProcessLog = {
  writer: LogWriter
  /** Whether nobody has asked for the log: then the process says little, and to a person. */
  isForPerson: boolean
}

type Parts = { clock: Clock; bootId: string; isAsked: boolean; stderr: NodeJS.WriteStream }

/** Opens the log of a process that serves. */
export function openProcessLog(loaded: LoadedConfig, parts: Parts): ProcessLog {
  const { logging, server } = loaded.config
  const { clock, bootId, isAsked, stderr } = parts
  const isForPerson = !isAsked && isLogLeftOut(loaded)
  const levels = isForPerson ? levelsForPerson : parseLogLevels(logging.level)
  if (levels === undefined) throw new Error('logging.level was checked when it was loaded')
  const writer = createLog({
    levels,
    format: isForPerson ? 'person' : logging.format,
    clock,
    bootId,
    nodeId: server.node_id,
    write: createStreamSink(stderr),
  })
  return { writer, isForPerson }
}

/** What is odd in the configuration, though a node can run with it. */
export function logConfig({ warnings, ignored_environment }: LoadedConfig, log: Log): void {
  for (const warning of warnings) log.warn(warning)
  for (const variable of ignored_environment) {
    log.debug('an environment variable means nothing here', { variable })
  }
}

/** A level of its own, or JSON, asks for the log. */
function isLogLeftOut({ config, sources }: LoadedConfig): boolean {
  const isLevelSet = sources.get('logging.level')?.layer !== 'default'
  return config.logging.format === 'pretty' && !isLevelSet
}
