import type { Clock } from '../../kernel/clock.ts'
import type { Membership } from '../../kernel/cluster/membership.ts'

type DrainLimits = { clock: Clock; drainMs: number; signal: AbortSignal }

/** How often the rooms are counted, in milliseconds. */
const lookEveryMs = 250

/** Places nothing new here, and waits for the last room to end. */
export async function awaitLastRoom(
  membership: Pick<Membership, 'drain'>,
  rooms: () => number,
  { clock, drainMs, signal }: DrainLimits,
): Promise<void> {
  const giveUpAtMs = clock.monotonicMs() + drainMs
  // A directory that does not answer keeps nobody from leaving.
  await membership.drain().catch(() => {})
  while (rooms() > 0 && clock.monotonicMs() < giveUpAtMs && !signal.aborted) {
    await clock.sleep(lookEveryMs)
  }
}
