import type { ClosedReason, ReconnectOptions } from '../connection-types.ts'

/** What the close codes mean for a connection that has been open. */

/** Ends that a new attempt may mend. 4001 needs a refresh before. */
const mendable = new Set([1001, 1005, 1006, 1011, 1012, 1013, 1014, 4002, 4006, 4008])

/** What an end without a code, or an attempt that failed without one, counts as. */
export const lostCode = 1006

export type Verdict = 'retry' | 'refresh first' | 'close'

/**
 * @param code null for an end without a code
 * @param isAccount Guests have nothing to refresh
 * @param justRefreshed The attempt came right after a refresh for 4001
 */
export function verdictOn(
  code: number | null,
  { isAccount, justRefreshed }: { isAccount: boolean; justRefreshed: boolean },
): Verdict {
  if (code === 4001) return isAccount && !justRefreshed ? 'refresh first' : 'close'
  return mendable.has(code ?? lostCode) ? 'retry' : 'close'
}

const reasons: { readonly [code: number]: ClosedReason } = {
  1009: 'protocol_error',
  4001: 'auth_rejected',
  4003: 'protocol_error',
  4004: 'session_revoked',
  4005: 'session_replaced',
}

/** Why a connection that is not opened again has closed. */
export function closedReason(code: number | null): ClosedReason {
  return reasons[code ?? lostCode] ?? 'refused'
}

/** After so much time of `open` the pauses are short again. */
export const steadyMs = 10_000

/** Exponential backoff with full jitter: the pause before attempt `n`, which counts from 0. */
export function pauseMs(n: number, random: number, options: ReconnectOptions): number {
  const { baseMs = 500, maxMs = 30_000 } = options
  return random * Math.min(maxMs, baseMs * 2 ** n)
}

/** How long attempts go on after a loss; 0 = for ever. */
export const giveUpMsDefault = 300_000
