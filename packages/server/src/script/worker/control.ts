/**
 * What the watchdog sees at any time, even while the script computes: which call runs, whether
 * calls wait, and a counter that is odd while a slice runs. The watchdog compares it with what it
 * saw before, so the two threads need no common time.
 */
export type Control = Int32Array

const slices = 0
const running = 1
const open = 2
const words = 3

export function createControl(): { control: Control; shared: SharedArrayBuffer } {
  const shared = new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT)
  return { control: new Int32Array(shared), shared }
}

/** A slice begins; one that was running has ended. Only the script's thread writes. */
export function beginSlice(control: Control, call: number): void {
  Atomics.store(control, running, call | 0)
  const before = Atomics.load(control, slices)
  Atomics.store(control, slices, before % 2 === 0 ? before + 1 : before + 2)
}

export function endSlice(control: Control): void {
  const before = Atomics.load(control, slices)
  if (before % 2 !== 0) Atomics.store(control, slices, before + 1)
}

export function sliceCounter(control: Control): number {
  return Atomics.load(control, slices)
}

/** The lower 32 bits of the id of the call that runs or ran last. */
export function runningCall(control: Control): number {
  return Atomics.load(control, running)
}

export function setOpenCalls(control: Control, count: number): void {
  Atomics.store(control, open, count)
}

export function hasOpenCalls(control: Control): boolean {
  return Atomics.load(control, open) > 0
}
