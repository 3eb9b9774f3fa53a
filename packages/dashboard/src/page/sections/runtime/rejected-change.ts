import type { ScriptActivation } from '@guildhall/contract'

/**
 * The change that was not taken, as long as none was since: a script that starts again, or takes
 * over for one that failed, is no change. Activations come newest first.
 */
export function rejectedChange(
  activations: readonly ScriptActivation[],
): ScriptActivation | undefined {
  const [newest, ...before] = activations
  if (newest === undefined) return undefined
  if (newest.outcome === 'rejected') return newest
  if (newest.reason !== 'restart' && newest.reason !== 'rollback') return undefined
  const rejected = rejectedChange(before)
  return rejected && { ...rejected, generation: newest.generation }
}
