import { setPriority } from 'node:os'

/**
 * A tenth of what the event loop gets where both want one core. At 19, the lowest, a thread beside
 * six busy processes got 5 ms a second, and no read of the explorer ended within its 5 s.
 */
const niceness = 10

/**
 * Lets the event loop go first where the calling thread competes with it for a core. Linux keeps a
 * priority per thread; elsewhere this would slow down the whole process, so nothing happens there.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, niceness)
  } catch {
    // A sandbox may forbid it. The threads then compete on equal terms.
  }
}
