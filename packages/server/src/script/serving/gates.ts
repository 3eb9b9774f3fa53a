import type { NewCall } from '../calls.ts'
import { hookCode, hooksByCode } from '../wire/hooks.ts'

/**
 * What runs while on_start does: timers that it set, and filters, which its own writes to the
 * storage wait for.
 */
export function passesGate(call: NewCall): boolean {
  return call.hook === hookCode.timer || isFilter(call)
}

/** What is open may wait for it. */
export function isFilter({ hook }: NewCall): boolean {
  return hooksByCode[hook]?.immediate === true
}
