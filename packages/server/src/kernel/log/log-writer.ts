import type { Writable } from 'node:stream'
import { atEndOfTurn, type Clock } from '../clock.ts'
import { type Log, type LogFields, type LogLevel, logLevels } from './log.ts'
import { type LogFormat, renderLine } from './log-lines.ts'

/** The node's log, and what its owner needs to know about it. */
export type LogWriter = {
  log: Log
  /** Lines that were lost because the reader of the log was gone or too slow. */
  linesDropped(): number
  /** Hands on what was written in this turn; call it before the process exits. */
  flush(): void
}

/** Takes text that ends with a line break, or refuses it; it never waits and never throws. */
export type LogSink = (text: string) => boolean

/** The lowest level that is written: for everything, and for components that have their own. */
export type LogLevels = { standard: LogLevel; components: ReadonlyMap<string, LogLevel> }

type LogOptions = {
  levels: LogLevels
  format: LogFormat
  nodeId: string
  bootId: string
  clock: Pick<Clock, 'nowUnixMs'>
  write: LogSink
}

export function createLog(options: LogOptions): LogWriter {
  const { levels, format, clock, write } = options
  const origin = { node_id: options.nodeId, boot_id: options.bootId }
  let pending: string[] = []
  let dropped = 0

  function flush(): void {
    if (pending.length === 0) return
    const lines = pending
    pending = []
    if (!write(lines.join(''))) dropped += lines.length
  }

  function take(line: string, level: LogLevel): void {
    if (pending.push(line) === 1) atEndOfTurn(flush)
    // What is grave may be the last thing the process says.
    if (level === 'error' || pending.length >= linesPerWriteMax) flush()
  }

  function open(component: string, bound: LogFields): Log {
    const lowest = logLevels.indexOf(levels.components.get(component) ?? levels.standard)
    const at = (level: LogLevel) => {
      if (logLevels.indexOf(level) < lowest) return silence
      return (message: string, fields?: LogFields) => {
        const time = new Date(clock.nowUnixMs()).toISOString()
        const head = { time, level, component, msg: message, ...origin }
        take(renderLine(format, head, { ...bound, ...fields }), level)
      }
    }
    return {
      trace: at('trace'),
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      component: (name) => open(name, bound),
      with: (fields) => open(component, { ...bound, ...fields }),
    }
  }

  return { log: open('node', {}), linesDropped: () => dropped, flush }
}

/**
 * Reads a level and its exceptions; undefined when the text is neither.
 *
 * @example parseLogLevels('info,realtime=debug')
 */
export function parseLogLevels(text: string): LogLevels | undefined {
  const [standard, ...exceptions] = text.split(',').map((part) => part.trim())
  if (!isLogLevel(standard)) return undefined
  const components = new Map<string, LogLevel>()
  for (const exception of exceptions) {
    const [name = '', level, ...rest] = exception.split('=').map((part) => part.trim())
    if (!name || !isLogLevel(level) || rest.length > 0) return undefined
    components.set(name, level)
  }
  return { standard, components }
}

/**
 * Writes to a stream, usually standard error, without ever waiting for its reader. What the reader
 * has not taken is held up to a bound; past it, and once the stream is closed, lines are refused.
 */
export function createStreamSink(stream: Writable): LogSink {
  let closed = false
  stream.on('error', () => {
    closed = true
  })
  return (text) => {
    if (closed || !stream.writable || stream.writableLength > unreadBytesMax) return false
    stream.write(text)
    return true
  }
}

const linesPerWriteMax = 256
const unreadBytesMax = 1_048_576

function silence(): void {}

function isLogLevel(text: string | undefined): text is LogLevel {
  return logLevels.some((level) => level === text)
}
