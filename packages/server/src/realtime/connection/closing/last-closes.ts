import type { Clock } from '../../../kernel/clock.ts'

/**
 * Closes that their peers may not have heard of, by session: a peer that does not read gets no
 * close frame. The next connection of the session is sent the code, once and within a minute.
 */
export type LastCloses = {
  add(sessionId: string, code: number): void
  /** The peer has confirmed it. */
  remove(sessionId: string): void
  /** The code of the session's close, which is forgotten; null for none. */
  take(sessionId: string): number | null
  readonly size: number
}

const keptMs = 60_000

/** Of more than `max` sessions the oldest are forgotten. */
export function createLastCloses(clock: Pick<Clock, 'monotonicMs'>, max: number): LastCloses {
  /** The oldest first. */
  const closes = new Map<string, { code: number; atMs: number }>()

  function forgetOld(nowMs: number): void {
    for (const [sessionId, { atMs }] of closes) {
      if (closes.size <= max && nowMs - atMs < keptMs) return
      closes.delete(sessionId)
    }
  }

  return {
    add(sessionId, code) {
      const atMs = clock.monotonicMs()
      closes.delete(sessionId)
      closes.set(sessionId, { code, atMs })
      forgetOld(atMs)
    },
    remove: (sessionId) => void closes.delete(sessionId),
    take(sessionId) {
      forgetOld(clock.monotonicMs())
      const code = closes.get(sessionId)?.code ?? null
      closes.delete(sessionId)
      return code
    },
    get size() {
      return closes.size
    },
  }
}
