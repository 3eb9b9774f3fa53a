/**
 * What a component says about its work. Fields keep their wire spelling (`request_id`,
 * `duration_ms`). Never put a token, password, receipt, body, query value, email or secret into a
 * message or a field.
 *
 * @example log.warn('a batch of audit rows could not be written', { queued: 12, error })
 */
export type Log = {
  trace(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** The same log under another component name, e.g. `log.component('realtime')`. */
  component(name: string): Log
  /** The same log, every line of which also carries `fields`, e.g. the request's `request_id`. */
  with(fields: LogFields): Log
}

/** From the most talkative to the gravest. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** `error` may hold anything that was thrown; its message and stack are written. */
export type LogFields = { [name: string]: unknown; error?: unknown }
