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

/** The participants of this node that are in rooms of others. */
export function createEdgeSide(deps: RelayDeps & { links: Links }) {
  const { links, membership, directory, clock, play } = deps
  const visits = new Map<number, Visit>()
  /** Visits that have claimed a seat and wait for their connection to arrive, by participant. */
  const claimed = new Map<number, Visit>()
  /** Where accounts that have just dropped here have their seats, until the directory says so. */
  const recent = new Map<string, { boot: string; untilMs: number }>()
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
      const boot = await seatOf(account)
      if (boot === undefined || boot === membership.bootId) return undefined
      if (!membership.isThere(boot)) return undefined
      const visit = open(boot)
      const answer = await visit.claim(account, null)
      if (answer !== undefined) claimed.set(answer.participant, visit)
      return answer
    },
    arrive(participant: Participant): Promise<void> | undefined {
      const { participant: id } = participant.context
      const visit = claimed.get(id)
      if (visit === undefined || !claimed.delete(id)) return undefined
      return visit.arrive(participant)
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

  /** The node where a seat waits for the account. */
  async function seatOf({ user_id, session_id }: Player): Promise<string | undefined> {
    const known = recent.get(user_id)
    recent.delete(user_id)
    if (known !== undefined && known.untilMs > clock.monotonicMs()) return known.boot
    try {
      const asked = directory.placesOf([user_id])
      const places = await within(clock, deps.commandTimeoutMs, asked)
      if (places === late) return undefined
      const { seats } = places
      const there = seats.filter(({ boot_id }) => membership.isThere(boot_id))
      const seat = there.findLast((each) => each.session_id === session_id) ?? there.at(-1)
      return seat?.boot_id
    } catch {
      return undefined
    }
  }
}
