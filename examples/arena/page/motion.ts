import type { FighterView, Snapshot } from '../game/protocol.ts'

/** Snapshots are shown so late that there is one on either side of the moment. */
const delayMs = 100
const keptMs = 1_000

export type Motion = {
  take(snapshot: Snapshot): void
  /** The arena as it is to be drawn now; null before the first snapshot. */
  view(): Snapshot | null
}

/** Makes smooth motion of 20 snapshots a second. */
export function createMotion(): Motion {
  let taken: { atMs: number; snapshot: Snapshot }[] = []
  return {
    take(snapshot) {
      const atMs = performance.now()
      taken = [...taken.filter((one) => one.atMs > atMs - keptMs), { atMs, snapshot }]
    },
    view() {
      const nowMs = performance.now() - delayMs
      const next = taken.find(({ atMs }) => atMs >= nowMs) ?? taken.at(-1)
      if (next === undefined) return null
      const before = taken[taken.indexOf(next) - 1]
      if (before === undefined) return next.snapshot
      const share = Math.min(1, (nowMs - before.atMs) / (next.atMs - before.atMs || 1))
      const players = next.snapshot.players.map((player) =>
        between(
          before.snapshot.players.find(({ id }) => id === player.id),
          player,
          share,
        ),
      )
      return { ...next.snapshot, players }
    },
  }
}

/** Who jumped, as at the start of a round, is not drawn on the way. */
function between(from: FighterView | undefined, to: FighterView, share: number): FighterView {
  if (from === undefined || Math.hypot(to.x - from.x, to.y - from.y) > 160) return to
  return { ...to, x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}
