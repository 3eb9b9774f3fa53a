import { GuildhallError } from '../../error.ts'
import type { Host } from '../../host.ts'
import type { CallOptions } from '../call-options.ts'

const timeoutMsDefault = 15_000

/**
 * Calls `failed` once, when the time is over or the signal aborts.
 *
 * @returns Ends the watch.
 */
export function watchDeadline(
  host: Host,
  { timeoutMs = timeoutMsDefault, signal }: CallOptions,
  failed: (error: GuildhallError) => void,
): () => void {
  const stop = () => {
    stopTimer()
    signal?.removeEventListener('abort', aborted)
  }
  const end = (error: GuildhallError) => {
    stop()
    failed(error)
  }
  const aborted = () => end(abortedBy(signal))
  const stopTimer = host.startTimer(timeoutMs, () => {
    end(new GuildhallError('timeout', `there was no answer within ${timeoutMs} ms`))
  })
  signal?.addEventListener('abort', aborted)
  return stop
}

export function abortedBy(signal?: AbortSignal): GuildhallError {
  return new GuildhallError('aborted', 'the call was aborted', { cause: signal?.reason })
}
