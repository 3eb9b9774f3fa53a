import { type Log, type LogFields, type LogLevel, logLevels } from './log.ts'

export type RecordedLine = {
  level: LogLevel
  component: string
  message: string
  fields: LogFields
}

/** A log that keeps its lines, so that a test can read what a component said. */
export type RecordedLog = Log & { readonly lines: readonly RecordedLine[] }

export function createRecordedLog(): RecordedLog {
  const lines: RecordedLine[] = []
  return { ...record(lines, '', {}), lines }
}

function record(lines: RecordedLine[], component: string, bound: LogFields): Log {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    lines.push({ level, component, message, fields: { ...bound, ...fields } })
  }
  const [trace, debug, info, warn, error] = logLevels
  return {
    trace: at(trace),
    debug: at(debug),
    info: at(info),
    warn: at(warn),
    error: at(error),
    component: (name) => record(lines, name, bound),
    with: (fields) => record(lines, component, { ...bound, ...fields }),
  }
}
