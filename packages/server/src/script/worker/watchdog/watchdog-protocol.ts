/** What the watchdog thread is started with. */
export type WatchdogSettings = {
  readonly control: SharedArrayBuffer
  readonly deadlineMs: number
  readonly residentBytesMax: number
}

/** Between the watchdog and the thread that it watches. */
export type WatchdogMessage = { readonly type: 'ping' | 'pong'; readonly n: number }

export function isFromWatched(message: unknown): message is WatchdogMessage {
  return typeof message === 'object' && message !== null && 'n' in message
}

/**
 * The pipe from the watchdog to the node, in lines: `beat TURNS CPU` every second, with how often
 * the event loop of the other thread was seen to turn and the microseconds of CPU that the process
 * has used; `overdue RUNNING BEGUN` (see overdue.ts), `unresponsive` or `memory` before the end.
 * The channel for messages belongs to the other thread, which may be stuck.
 */
export const reportFd = 4
