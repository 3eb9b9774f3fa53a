import type { NewCall } from '../calls.ts'
import { hookCode, hooksByCode } from '../wire/hooks.ts'

/**
 * Whether a call waits while its script starts or hands over. What runs while on_start does: timers
 * that it set, and filters, which its own writes to the storage wait for.
 */
export function mustWait(call: NewCall, state: string): boolean {
  if (state === 'starting') return call.hook !== hookCode.timer && !isFilter(call)
  return state === 'paused' && !isFilter(call)
}

/** What is open may wait for it. */
export function isFilter({ hook }: NewCall): boolean {
  return hooksByCode[hook]?.row.immediate === true
}
