import type { Log } from '../../kernel/log/log.ts'

/** For tests that do not look at what is logged. */
export const silentLog: Log = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  component: () => silentLog,
  with: () => silentLog,
}
