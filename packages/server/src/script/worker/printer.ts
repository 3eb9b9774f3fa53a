import type { Clock } from '../../kernel/clock.ts'
import type { FromWorker, PrintLevel } from '../wire/protocol.ts'

const linesPerSecond = 100

/** Sends lines for the process log at once, at most 100 per second; the rest is counted. */
export function createPrinter(clock: Pick<Clock, 'monotonicMs'>, post: (m: FromWorker) => void) {
  let secondMs = Number.NEGATIVE_INFINITY
  let sent = 0
  let omitted = 0
  return (level: PrintLevel, text: string): void => {
    const nowMs = clock.monotonicMs()
    if (nowMs - secondMs >= 1000) {
      secondMs = nowMs
      sent = 0
    }
    if (sent >= linesPerSecond) {
      omitted += 1
      return
    }
    sent += 1
    post({ type: 'print', level, text, omitted })
    omitted = 0
  }
}
