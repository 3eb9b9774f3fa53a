import { setPriority } from 'node:os'

/** The lowest: such a thread still gets something when the event loop never rests. */
const niceness = 19

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
