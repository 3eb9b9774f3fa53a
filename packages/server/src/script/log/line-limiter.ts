import type { Clock } from '../../kernel/clock.ts'

const linesPerSecond = 100
const lineChars = 8_192

/**
 * Lets at most 100 lines per second through to the log. `write` gets how many lines were left out
 * since the last one.
 */
export function createLineLimiter(clock: Pick<Clock, 'monotonicMs'>) {
  let secondMs = Number.NEGATIVE_INFINITY
  let written = 0
  let omitted = 0
  return (write: (omitted: number) => void): void => {
    const nowMs = clock.monotonicMs()
    if (nowMs - secondMs >= 1000) {
      secondMs = nowMs
      written = 0
    }
    if (written >= linesPerSecond) {
      omitted += 1
      return
    }
    written += 1
    write(omitted)
    omitted = 0
  }
}

/** Cuts a stream of text into lines. A line that does not end is cut at 8,192 characters. */
export function createLineSplitter(emit: (line: string) => void) {
  let rest = ''
  return (text: string): void => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) emit(line.slice(0, lineChars))
    if (rest.length > lineChars) {
      emit(rest.slice(0, lineChars))
      rest = ''
    }
  }
}
