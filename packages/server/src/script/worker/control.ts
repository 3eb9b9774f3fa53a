import type { Overdue } from '../wire/overdue.ts'

/**
 * What the watchdog sees at any time, even while the script computes: which call runs, whether
 * calls wait, whether a debugger is attached, and a counter that is odd while a slice runs. The
 * watchdog compares it with what it saw before. Only what it shall interrupt has a time, which all
 * threads of a process count alike.
 */
export type Control = Int32Array

const slices = 0
const running = 1
const open = 2
const begun = 3
const attached = 4
const ticked = 5
const guarded = 6
const guardedUntil = 7
const words = 8

/** What is armed has an odd number, which `interrupted` is added to. */
const guardNumbers = 0x3fff_ffff
const interrupted = 0x4000_0000

export function createControl(): { control: Control; shared: SharedArrayBuffer } {
  const shared = new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT)
  return { control: new Int32Array(shared), shared }
}

/**
 * The first slice of a call begins, or with 0 whatever computes later; one that was running has
 * ended. Only the script's thread writes.
 */
export function beginSlice(control: Control, call: number): void {
  Atomics.store(control, running, call | 0)
  // A call that had to wait for another begins after later ones.
  const isLast = ((call - Atomics.load(control, begun)) | 0) > 0
  if (call !== 0 && isLast) Atomics.store(control, begun, call | 0)
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

/** Which call is at fault when a slice runs too long. */
export function overdueCall(control: Control): Overdue {
  return { running: Atomics.load(control, running), begun: Atomics.load(control, begun) }
}

/** From now on the watchdog interrupts this thread, unless it is disarmed by then (`processMs`). */
export function arm(control: Control, untilMs: number): void {
  Atomics.store(control, guardedUntil, Math.ceil(untilMs) | 0)
  Atomics.store(control, guarded, Atomics.load(control, guarded) + 1)
}

/** False when the interrupt is on its way: it ends whatever runs until then. */
export function disarm(control: Control): boolean {
  const armed = Atomics.load(control, guarded)
  if (armed >= interrupted) return false
  return Atomics.compareExchange(control, guarded, armed, behind(armed)) === armed
}

/** Whether an interrupt has ended what was armed, or is about to, and nobody has taken it. */
export function isInterrupted(control: Control): boolean {
  return Atomics.load(control, guarded) >= interrupted
}

/**
 * Whether what was armed has been ended by an interrupt, be it one of the script's own; only once.
 */
export function takeInterrupt(control: Control): boolean {
  const armed = Atomics.load(control, guarded)
  if (armed % 2 === 0) return false
  return Atomics.compareExchange(control, guarded, armed, behind(armed)) === armed
}

/** A timer of the watchdog may be for an earlier number still: none comes again soon. */
function behind(armed: number): number {
  return (armed + 1) & guardNumbers
}

/** The number of what is armed, for `interrupt`; undefined when nothing is. */
export function armedNumber(control: Control): number | undefined {
  const armed = Atomics.load(control, guarded)
  return armed % 2 === 0 || armed >= interrupted ? undefined : armed
}

/** How long it may still run. */
export function armedForMs(control: Control, nowMs: number): number {
  return (Atomics.load(control, guardedUntil) - Math.floor(nowMs)) | 0
}

/** Whether it may be interrupted now: it was not disarmed, and cannot be any more. */
export function interrupt(control: Control, armed: number): boolean {
  return Atomics.compareExchange(control, guarded, armed, armed + interrupted) === armed
}

export function setOpenCalls(control: Control, count: number): void {
  Atomics.store(control, open, count)
}

export function hasOpenCalls(control: Control): boolean {
  return Atomics.load(control, open) > 0
}

/** While a debugger is attached, deadlines and bounds rest. */
export function setAttached(control: Control, isSo: boolean): void {
  Atomics.store(control, attached, isSo ? 1 : 0)
}

export function isAttached(control: Control): boolean {
  return Atomics.load(control, attached) !== 0
}

/** The watchdog looks, every few milliseconds. What computes sees that time has passed. */
export function tick(control: Control): void {
  Atomics.add(control, ticked, 1)
}

export function ticks(control: Control): number {
  return Atomics.load(control, ticked)
}
