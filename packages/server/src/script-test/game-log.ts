import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log/log.ts'
import { createLog } from '../kernel/log/log-writer.ts'

/** A line of the node's log, with its fields. */
export type LogLine = {
  readonly level: string
  readonly component: string
  readonly msg: string
  readonly [field: string]: unknown
}

/** The log of a game under test: kept for the test, and shown where something went wrong. */
export function createGameLog(clock: Clock, show: (text: string) => void) {
  const lines: LogLine[] = []
  const { log, flush } = createLog({
    levels: { standard: 'info', components: new Map([['script', 'trace']]) },
    format: 'json',
    nodeId: 'test',
    bootId: 'test',
    clock,
    write(text) {
      for (const line of text.trimEnd().split('\n')) {
        // The writer made it.
        const read = JSON.parse(line) as LogLine
        lines.push(read)
        if (isShown(read)) show(shown(read))
      }
      return true
    },
  })
  return {
    log: log satisfies Log,
    lines(): readonly LogLine[] {
      flush()
      return lines
    },
  }
}

function isShown({ level, component }: LogLine): boolean {
  return level === 'error' || (level === 'warn' && component === 'script')
}

function shown({ level, msg, component, time, node_id, boot_id, ...fields }: LogLine): string {
  const facts = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return `${[level, msg, ...facts].join(' ')}\n`
}
