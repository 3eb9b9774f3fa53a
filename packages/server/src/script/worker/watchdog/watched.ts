import { Worker } from 'node:worker_threads'
import type { WorkerSettings } from '../../wire/protocol.ts'
import type { createControl } from '../control.ts'
import { residentBytesMax } from './memory-bounds.ts'
import { isFromWatched, type WatchdogMessage, type WatchdogSettings } from './watchdog-protocol.ts'

/** Starts the thread that watches this one, and answers it; `asked` runs with each answer. */
export function startWatchdog(
  { shared }: ReturnType<typeof createControl>,
  settings: WorkerSettings,
  asked: () => void,
): void {
  const workerData: WatchdogSettings = {
    control: shared,
    deadlineMs: Math.max(settings.deadlineMs, settings.tickDeadlineMs),
    residentBytesMax: residentBytesMax(settings.memoryMb),
  }
  const url = new URL('./watchdog.ts', import.meta.url)
  const watchdog = new Worker(url, { name: 'watchdog', workerData, execArgv: [] })
  const answer = watchdog.postMessage.bind(watchdog)
  watchdog.on('message', (message: unknown) => {
    if (!isFromWatched(message)) return
    answer({ type: 'pong', n: message.n } satisfies WatchdogMessage)
    asked()
  })
  watchdog.unref()
}
