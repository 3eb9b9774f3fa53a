import type { Room } from '@guildhall/client'
import type { Arena } from '../game/protocol.ts'

export type View = NonNullable<Room<Arena>['state']>
type Fighter = View['players'][number]

/** States are shown so late that there is one on either side of the moment. */
const delayMs = 100
const keptMs = 1_000

export type Motion = {
  take(view: View): void
  /** The arena as it is to be drawn now; null before the first state. */
  view(): View | null
}

/** Makes smooth motion of 20 states a second. */
export function createMotion(): Motion {
  let taken: { atMs: number; view: View }[] = []
  return {
    take(view) {
      const atMs = performance.now()
      taken = [...taken.filter((one) => one.atMs > atMs - keptMs), { atMs, view }]
    },
    view() {
      const nowMs = performance.now() - delayMs
      const next = taken.find(({ atMs }) => atMs >= nowMs) ?? taken.at(-1)
      if (next === undefined) return null
      const before = taken[taken.indexOf(next) - 1]
      if (before === undefined) return next.view
      const share = Math.min(1, (nowMs - before.atMs) / (next.atMs - before.atMs || 1))
      const players = next.view.players.map((player) =>
        between(
          before.view.players.find(({ id }) => id === player.id),
          player,
          share,
        ),
      )
      return { ...next.view, players }
    },
  }
}

/** Who jumped, as at the start of a round, is not drawn on the way. */
function between(from: Fighter | undefined, to: Fighter, share: number): Fighter {
  if (from === undefined || Math.hypot(to.x - from.x, to.y - from.y) > 160) return to
  return { ...to, x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}
