import type { Clock, Timer } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/cluster/bus.ts'
import type { EdgeLink } from './links.ts'
import type { Report } from './messages.ts'
import type { accountOf } from './wire-values.ts'

/** A participant has left a room, and the owner may not have heard of it. */
type UnheardLeave = {
  boot: string
  participant: number
  account: NonNullable<ReturnType<typeof accountOf>>
  /** Undefined where it is not known what the owner had let it into. */
  roomId: number | undefined
}

type Deps = {
  clock: Clock
  bus: Pick<Bus, 'isUp'>
  /** How long an owner keeps the seat; 0 keeps none. */
  graceMs: number
  linkTo(boot: string): EdgeLink
  isThere(boot: string): boolean
  nextVisit(): number
  /** Nothing more of a leave goes by the link. */
  over(link: EdgeLink): void
}

type Unheard = UnheardLeave & {
  visit: number
  untilMs: number
  /** Undefined while there is none. */
  link: EdgeLink | undefined
  timer: Timer | undefined
}

/** Pause before the seat is claimed by another link, in milliseconds. */
const againMs = 250

/**
 * Leaves that were lost with a link. By the next one the seat that the owner has kept is claimed
 * and given up, as long as the owner keeps it.
 */
export function createUnheardLeaves(deps: Deps) {
  const { clock } = deps
  const unheard = new Map<number, Unheard>()
  const byParticipant = new Map<string, Unheard>()
  let isStopped = false

  function find(boot: string, participant: number): Unheard | undefined {
    return byParticipant.get(keyOf({ boot, participant }))
  }

  function claimLater(leave: Unheard): void {
    leave.link = undefined
    if (clock.monotonicMs() >= leave.untilMs || !deps.isThere(leave.boot)) forget(leave)
    else leave.timer = clock.after(againMs, () => claim(leave))
  }

  function claim(leave: Unheard): void {
    if (!deps.bus.isUp) return void claimLater(leave)
    const { boot, visit, participant, account } = leave
    leave.link = deps.linkTo(boot)
    leave.link.send({ type: 'claim', visit, participant, account })
  }

  function forget(leave: Unheard): void {
    const { visit, link, timer } = leave
    timer?.cancel()
    unheard.delete(visit)
    byParticipant.delete(keyOf(leave))
    if (link !== undefined) deps.over(link)
  }

  return {
    get size() {
      return unheard.size
    },
    uses: (link: EdgeLink) => unheard.values().some((each) => each.link === link),
    has: (boot: string, participant: number) => find(boot, participant) !== undefined,
    add(leave: UnheardLeave): void {
      if (isStopped || deps.graceMs === 0) return
      const before = find(leave.boot, leave.participant)
      if (before !== undefined) forget(before)
      const untilMs = clock.monotonicMs() + deps.graceMs
      const visit = deps.nextVisit()
      const added: Unheard = { ...leave, visit, untilMs, link: undefined, timer: undefined }
      unheard.set(visit, added)
      byParticipant.set(keyOf(added), added)
      claimLater(added)
    },
    /** The participant asks the owner for a room, which ends what the owner has kept. */
    overtaken(boot: string, participant: number): void {
      const leave = find(boot, participant)
      if (leave === undefined) return
      leave.link?.send({ type: 'depart', visit: leave.visit, seat: 'none' })
      forget(leave)
    },
    /** False for what is not about a leave. */
    reported(link: EdgeLink, report: Extract<Report, { visit: number }>): boolean {
      const leave = unheard.get(report.visit)
      if (leave?.link !== link) return false
      const { visit, roomId } = leave
      if (report.type === 'over') forget(leave)
      else if (report.type === 'claimed' && report.participant === null) forget(leave)
      else if (report.type === 'claimed') {
        const isMeant = roomId === undefined || report.place.room_id === roomId
        link.send(isMeant ? { type: 'depart', visit, seat: 'none' } : { type: 'release', visit })
      }
      return true
    },
    linkOver(link: EdgeLink): void {
      for (const leave of [...unheard.values()]) if (leave.link === link) claimLater(leave)
    },
    stop(): void {
      isStopped = true
      for (const leave of [...unheard.values()]) forget(leave)
    },
  }
}

function keyOf({ boot, participant }: Pick<UnheardLeave, 'boot' | 'participant'>): string {
  return `${boot} ${participant}`
}
