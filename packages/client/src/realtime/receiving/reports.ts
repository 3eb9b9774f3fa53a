import { Listeners, type Off } from '../../listeners.ts'
import { reportToConsole } from '../../report.ts'
import type { ConnectionEvents } from '../connection-types.ts'

/** The events of a connection and their listeners. */
export type Reports = {
  on<E extends keyof ConnectionEvents>(event: E, call: (value: ConnectionEvents[E]) => unknown): Off
  has(event: keyof ConnectionEvents): boolean
  emit<E extends keyof ConnectionEvents>(event: E, value: ConnectionEvents[E]): void
  /** What a listener has thrown: an `error` event, or a line in the console. */
  failed(error: unknown): void
}

export function createReports(): Reports {
  const listeners = new Listeners<keyof ConnectionEvents>(failed)
  const errorListeners = new Listeners<'error'>(reportToConsole)

  function failed(error: unknown): void {
    if (errorListeners.has('error')) errorListeners.emit('error', error)
    else reportToConsole(error)
  }

  return {
    on: (event, call) =>
      event === 'error' ? errorListeners.on('error', call) : listeners.on(event, call),
    has: (event) => listeners.has(event),
    emit(event, value) {
      if (event === 'error') errorListeners.emit('error', value)
      else listeners.emit(event, value)
    },
    failed,
  }
}
