import type { Clock } from '../kernel/clock.ts'

/** How often a process that npm started looks whether npm is still there, in milliseconds. */
const parentLookMs = 500

/**
 * npm hands a SIGTERM on to the shell that it started the node with, and both end without the node:
 * that they are gone is all that it gets to know of it.
 */
export function whenLeftByNpm(host: NodeJS.Process, clock: Clock, onLeft: () => void): void {
  if (host.env.npm_lifecycle_event === undefined) return
  const { ppid } = host
  const watch = clock.every(parentLookMs, () => {
    if (host.ppid === ppid) return
    watch.cancel()
    onLeft()
  })
}
