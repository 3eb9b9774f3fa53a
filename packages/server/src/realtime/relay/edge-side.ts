import type { Replaced } from '../../kernel/cluster/directory.ts'
import { late, within } from '../../kernel/time/within.ts'
import { slotOf } from '../counting-ids.ts'
import type { OutgoingFrame } from '../frames/outgoing-frame.ts'
import { type Entered, type RoomPlace, unavailable } from '../play/elsewhere.port.ts'
import type { Participant } from '../play/participants/participant.ts'
import type { EnterRequest } from '../play/rooms/requests/room-request.ts'
import type { Claimed } from '../play.port.ts'
import type { Player } from '../ports.ts'
import type { EdgeLink, Links } from './links.ts'
import type { Report } from './messages.ts'
import type { RelayDeps } from './relay-deps.ts'
import { Visit } from './visit.ts'
import type { VisitDeps } from './visit-deps.ts'

type EdgeSideDeps = RelayDeps & {
  links: Links
  /** Has the node of an older connection end it; the node of its seat. */
  handOver(older: Replaced): Promise<string | undefined>
  /** A participant has its connection on this node now. */
  forward(participant: number, boot: string): void
}

/** The participants of this node that are in rooms of others. */
export function createEdgeSide(deps: EdgeSideDeps) {
  const { links, membership, directory, clock, play } = deps
  const visits = new Map<number, Visit>()
  /** Visits that have claimed a seat and wait for their connection to arrive, by participant. */
  const claimed = new Map<number, Visit>()
  /** Where accounts that have just dropped here have their seats, until the directory says so. */
  const recent = new Map<string, { boot: string; untilMs: number }>()
  /** Called when nothing is left of a visit. */
  const overs = new Map<number, () => void>()
  let visitsMade = 0
  let callsMade = 0

  const visitDeps: VisitDeps = {
    ...deps,
    get visits() {
      return play().visits
    },
    dropped(userId, boot) {
      const nowMs = clock.monotonicMs()
      // Those who never came back, in the order in which they dropped.
      for (const [each, { untilMs }] of recent) {
        if (untilMs > nowMs) break
        recent.delete(each)
      }
      recent.delete(userId)
      recent.set(userId, { boot, untilMs: nowMs + deps.graceMs })
    },
    linkTo: links.to,
    isThere: (boot) => membership.isThere(boot),
    nextCall() {
      callsMade += 1
      return callsMade
    },
    over(visit) {
      visits.delete(visit.number)
      overs.get(visit.number)?.()
      overs.delete(visit.number)
      for (const [participant, each] of claimed)
        if (each.number === visit.number) claimed.delete(participant)
      const isUsed = visits.values().some(({ link }) => link === visit.link)
      if (!isUsed) links.idle(visit.link)
    },
  }

  function open(boot: string, participant?: Participant): Visit {
    visitsMade += 1
    const visit = new Visit(
      { number: visitsMade, boot, ...(participant && { participant }) },
      visitDeps,
    )
    visits.set(visit.number, visit)
    return visit
  }

  async function bootOf(
    request: EnterRequest,
    at: RoomPlace | undefined,
  ): Promise<string | undefined> {
    if (at !== undefined) return at.boot
    if (request.target.by !== 'id') return undefined
    const node = await membership.bootOfSlot(slotOf(request.target.room_id))
    return node !== undefined && !node.isGone ? node.boot_id : undefined
  }

  return {
    get size() {
      return visits.size + claimed.size
    },
    async enter(participant: Participant, request: EnterRequest, at?: RoomPlace): Promise<Entered> {
      const { receiver } = participant
      const boot = await bootOf(request, at)
      if (participant.receiver !== receiver) return { is: 'done' }
      if (boot === undefined) return { is: 'refused', reason: 'room not found' }
      if (!deps.bus.isUp || !membership.isThere(boot)) return { is: 'refused', reason: unavailable }
      const { away } = participant
      const visit = away instanceof Visit && away.boot === boot ? away : open(boot, participant)
      return visit.enter(request, { mayCreate: at?.mayCreate ?? false })
    },
    async claim(account: Player): Promise<Claimed | undefined> {
      const known = recent.get(account.user_id)
      recent.delete(account.user_id)
      if (known !== undefined && known.untilMs > clock.monotonicMs()) {
        const claimed = await claimAt(known.boot, account, null)
        if (claimed !== undefined) return claimed
      }
      const places = await placesOf(account)
      return (await takeOver(account, places)) ?? claimSeat(account, places)
    },
    arrive(participant: Participant): Promise<void> | undefined {
      const { participant: id } = participant.context
      const visit = claimed.get(id)
      if (visit !== undefined && claimed.delete(id)) return visit.arrive(participant)
      // It is back in a room of this node, and had its connection on another one before.
      const isGuest = slotOf(id) !== membership.slot
      if (isGuest && !participant.relayed) deps.forward(id, membership.bootId)
      return undefined
    },
    /** A seat of the participant, once its connection has ended for a newer one elsewhere. */
    seatOf({ away, room, context }: Participant): { kept(): Promise<string | undefined> } {
      return {
        async kept() {
          if (context.user_id !== null) recent.delete(context.user_id)
          if (room !== undefined) return membership.bootId
          if (!(away instanceof Visit)) return undefined
          if (visits.has(away.number)) {
            await new Promise<void>((resolve) => overs.set(away.number, resolve))
          }
          return away.boot
        },
      }
    },
    release(participant: number): void {
      const visit = claimed.get(participant)
      claimed.delete(participant)
      visit?.release()
    },
    reported(link: EdgeLink, report: Report): void {
      if (report.type === 'deliver') {
        const frame: OutgoingFrame = { ...report.frame, message: undefined }
        for (const number of report.visits) visits.get(number)?.delivered(frame, report.unreliable)
      } else if (report.type === 'positions') {
        const frames = report.frames.map((frame) => ({ ...frame, message: undefined }))
        for (const number of report.visits) visits.get(number)?.deliveredPositions(frames)
      } else {
        const visit = visits.get(report.visit)
        if (visit?.link === link) visit.reported(report)
        // The answer to a claim that was given up before the owner had begun with it.
        else if (report.type === 'claimed') link.send({ type: 'release', visit: report.visit })
      }
    },
    linkOver(link: EdgeLink): void {
      for (const visit of [...visits.values()]) if (visit.link === link) visit.linkLost()
    },
  }

  type Places = Awaited<ReturnType<typeof directory.placesOf>>

  async function placesOf({ user_id }: Player): Promise<Places> {
    const nothing = { sessions: [], seats: [] }
    try {
      const places = await within(clock, deps.commandTimeoutMs, directory.placesOf([user_id]))
      return places === late ? nothing : places
    } catch {
      return nothing
    }
  }

  /** The participant of an older connection of the session, which is still open elsewhere. */
  async function takeOver(account: Player, { sessions }: Places): Promise<Claimed | undefined> {
    const older = sessions.find(({ session_id }) => session_id === account.session_id)
    if (older === undefined || older.boot_id === membership.bootId) return undefined
    if (!membership.isThere(older.boot_id)) return undefined
    const boot = await deps.handOver(older)
    return boot === undefined ? undefined : claimAt(boot, account, older.participant)
  }

  /** A seat on another node that waits for the account. */
  async function claimSeat(account: Player, { seats }: Places): Promise<Claimed | undefined> {
    const there = seats.filter(({ boot_id }) => membership.isThere(boot_id))
    const own = there.findLast(({ session_id }) => session_id === account.session_id)
    const seat = own ?? there.at(-1)
    return seat && claimAt(seat.boot_id, account, null)
  }

  async function claimAt(
    boot: string,
    account: Player,
    participant: number | null,
  ): Promise<Claimed | undefined> {
    if (boot === membership.bootId) {
      return participant === null ? undefined : play().visits.claim(participant, account)
    }
    if (!membership.isThere(boot)) return undefined
    const visit = open(boot)
    const answer = await visit.claim(account, participant)
    if (answer !== undefined) claimed.set(answer.participant, visit)
    return answer
  }
}
