import { limits } from '../../wire/limits.ts'
import { printLevels } from '../../wire/protocol.ts'
import { expectText } from '../arguments.ts'
import { invalidArgument } from '../errors.ts'
import type { BindingHost } from './binding-host.ts'

/** `trace`: a line in the process log, at once, whatever becomes of the slice. */
export function createTracingBindings(host: BindingHost) {
  return {
    trace(message: unknown, level: unknown = 'info'): void {
      const known = printLevels.find((name) => name === level)
      if (!known) {
        throw invalidArgument('trace: level must be one of trace, debug, info, warn, error')
      }
      if (typeof message !== 'string') throw invalidArgument('trace: message must be a string')
      expectText(message)
      const long = message.length > limits.traceChars
      host.print(known, long ? `${message.slice(0, limits.traceChars)} [cut]` : message)
    },
  }
}
