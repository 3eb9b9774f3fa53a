import { Worker } from 'node:worker_threads'
import type { WorkerSettings } from '../protocol.ts'
import type { createControl } from './control.ts'
import { isFromWatched, type WatchdogMessage, type WatchdogSettings } from './watchdog-protocol.ts'

const mebibyte = 1_048_576

/**
 * What a process needs besides the script's heap and its buffers: two engines, their code, and the
 * young generation. Buffers may take as much again as the heap, which the engine itself limits.
 */
const ownMb = 256

/** Starts the thread that watches this one, and answers it. */
export function startWatchdog(
  { shared }: ReturnType<typeof createControl>,
  settings: WorkerSettings,
): void {
  const workerData: WatchdogSettings = {
    control: shared,
    deadlineMs: Math.max(settings.deadlineMs, settings.tickDeadlineMs),
    memoryBytesMax: (settings.memoryMb * 2 + ownMb) * mebibyte,
  }
  const url = new URL('./watchdog.ts', import.meta.url)
  const watchdog = new Worker(url, { name: 'watchdog', workerData, execArgv: [] })
  const answer = watchdog.postMessage.bind(watchdog)
  watchdog.on('message', (message: unknown) => {
    if (isFromWatched(message)) answer({ type: 'pong', n: message.n } satisfies WatchdogMessage)
  })
  watchdog.unref()
}
