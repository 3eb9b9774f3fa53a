import type { Replaced, SeatRow, SessionRow } from '../../kernel/cluster/directory.ts'
import { late, within } from '../../kernel/time/within.ts'
import { slotOf } from '../counting-ids.ts'
import type { OutgoingFrame } from '../frames/outgoing-frame.ts'
import { type Entered, type RoomPlace, type SeatHere, unavailable } from '../play/elsewhere.port.ts'
import type { Participant } from '../play/participants/participant.ts'
import type { EnterRequest } from '../play/rooms/requests/room-request.ts'
import type { Claimed } from '../play.port.ts'
import type { Player } from '../ports.ts'
import type { EdgeLink, Links } from './links.ts'
import type { Report } from './messages.ts'
import { createRecent } from './recent.ts'
import type { RelayDeps } from './relay-deps.ts'
import { createUnheardLeaves } from './unheard-leaves.ts'
import { Visit } from './visit.ts'
import type { VisitDeps } from './visit-deps.ts'
import { accountOf } from './wire-values.ts'

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
  /** The seats that accounts who have just dropped here have elsewhere. */
  const lastDropped = createRecent<Replaced>(clock, deps.graceMs)
  /** The same by session. */
  const dropped = createRecent<Replaced>(clock, deps.graceMs)
  /** Where participants are that other nodes were given, by session. */
  const given = createRecent<Replaced>(clock, deps.graceMs)
  /** Called when nothing is left of a visit. */
  const overs = new Map<number, () => void>()
  let visitsMade = 0
  let callsMade = 0
  const unheard = createUnheardLeaves({
    ...{ clock, bus: deps.bus, graceMs: deps.graceMs, linkTo: links.to, nextVisit },
    isThere: (boot) => membership.isThere(boot),
    over: idleUnlessUsed,
  })

  const visitDeps: VisitDeps = {
    ...deps,
    get visits() {
      return play().visits
    },
    dropped({ context: { user_id, participant }, session_id }, boot) {
      if (user_id === null || session_id === null) return
      const seat = { boot_id: boot, session_id, participant }
      dropped.set(session_id, seat)
      lastDropped.set(user_id, seat)
    },
    linkTo: links.to,
    isThere: (boot) => membership.isThere(boot),
    nextCall() {
      callsMade += 1
      return callsMade
    },
    leftUnheard(participant, boot, place) {
      const { away, context } = participant
      const account = accountOf(participant)
      if (account === null || place?.room_id === null) return
      // It has come to the owner again, by the same link.
      if (away instanceof Visit && away.boot === boot && visits.has(away.number)) return
      unheard.add({ boot, participant: context.participant, account, roomId: place?.room_id })
    },
    over(visit) {
      visits.delete(visit.number)
      overs.get(visit.number)?.()
      overs.delete(visit.number)
      for (const [participant, each] of claimed)
        if (each.number === visit.number) claimed.delete(participant)
      idleUnlessUsed(visit.link)
    },
  }

  function nextVisit(): number {
    visitsMade += 1
    return visitsMade
  }

  function idleUnlessUsed(link: EdgeLink): void {
    const isUsed = visits.values().some((visit) => visit.link === link) || unheard.uses(link)
    if (!isUsed) links.idle(link)
  }

  function open(boot: string, participant?: Participant): Visit {
    const visit = new Visit(
      { number: nextVisit(), boot, ...(participant && { participant }) },
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
      return visits.size + claimed.size + unheard.size
    },
    async enter(participant: Participant, request: EnterRequest, at?: RoomPlace): Promise<Entered> {
      const { receiver } = participant
      const boot = await bootOf(request, at)
      if (participant.receiver !== receiver) return { is: 'done' }
      if (boot === undefined) return { is: 'refused', reason: 'room not found' }
      if (!deps.bus.isUp || !membership.isThere(boot)) return { is: 'refused', reason: unavailable }
      unheard.overtaken(boot, participant.context.participant)
      const { away } = participant
      const visit = away instanceof Visit && away.boot === boot ? away : open(boot, participant)
      return visit.enter(request, { mayCreate: at?.mayCreate ?? false })
    },
    /** First what the session has left, then the seat here of another one, then one elsewhere. */
    async claim(account: Player, here: SeatHere): Promise<Claimed | undefined> {
      const seat = dropped.take(account.session_id)
      const known = (await claimDropped(account, seat)) ?? (await takeBack(account))
      if (known !== undefined) return known
      const places = await placesOf(account)
      const own = (await claimOwn(account, places)) ?? (await here())
      if (own !== undefined) return own
      const last = lastDropped.take(account.user_id)
      return (await claimDropped(account, last)) ?? claimSeat(account, places)
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
    seatOf({ away, room, session_id }: Participant): { kept(): Promise<string | undefined> } {
      return {
        async kept() {
          if (session_id !== null) dropped.take(session_id)
          if (room !== undefined) return membership.bootId
          if (!(away instanceof Visit)) return undefined
          if (visits.has(away.number)) {
            await new Promise<void>((resolve) => overs.set(away.number, resolve))
          }
          return away.boot
        },
      }
    },
    /** The node that has the seat of a participant that has just dropped here. */
    takeDropped({ session_id, participant }: Pick<Replaced, 'session_id' | 'participant'>) {
      const seat = dropped.take(session_id)
      return seat?.participant === participant ? seat.boot_id : undefined
    },
    takeGiven: given.take,
    /** Another node has the participant of a session from here on. */
    given(older: Replaced): void {
      given.set(older.session_id, older)
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
        else if (!unheard.reported(link, report) && report.type === 'claimed') {
          link.send({ type: 'release', visit: report.visit })
        }
      }
    },
    linkOver(link: EdgeLink): void {
      for (const visit of [...visits.values()]) if (visit.link === link) visit.linkLost()
      unheard.linkOver(link)
    },
    stop: unheard.stop,
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

  async function claimDropped(account: Player, seat?: Replaced): Promise<Claimed | undefined> {
    return seat && claimAt(seat.boot_id, account, seat.participant)
  }

  /** The participant that another node was given by this one: the directory may not know it yet. */
  async function takeBack(account: Player): Promise<Claimed | undefined> {
    const there = given.take(account.session_id)
    if (there === undefined || !membership.isThere(there.boot_id)) return undefined
    const boot = await deps.handOver(there)
    return boot === undefined ? undefined : claimAt(boot, account, there.participant)
  }

  /**
   * The seat of the session, or the participant of its older connection, which is still open
   * elsewhere. Who was `asked` and had none may have written since where it is.
   */
  async function claimOwn(
    account: Player,
    { sessions, seats }: Places,
    asked?: Replaced,
  ): Promise<Claimed | undefined> {
    const older = sessions.find(isOf(account))
    const seat = seats.findLast(isOf(account))
    const isLeft = seat === undefined || hasLeft(seat, older)
    const seated = isLeft ? undefined : await claimAt(seat.boot_id, account, seat.participant)
    if (seated !== undefined) return seated
    if (older === undefined || older.boot_id === membership.bootId) return undefined
    if (!membership.isThere(older.boot_id) || older.boot_id === asked?.boot_id) return undefined
    const boot = await deps.handOver(older)
    if (boot !== undefined) return claimAt(boot, account, older.participant)
    return asked === undefined ? claimOwn(account, await placesOf(account), older) : undefined
  }

  /** Whether the participant of a seat is in another room, and its owner has not heard of it. */
  function hasLeft({ participant, room_id }: SeatRow, older?: SessionRow): boolean {
    const place = older?.participant === participant ? older.room_id : null
    return place !== null && place !== room_id
  }

  /** The last seat on another node that waits for the account. */
  async function claimSeat(account: Player, { seats }: Places): Promise<Claimed | undefined> {
    const seat = seats.findLast(({ boot_id }) => membership.isThere(boot_id))
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
    if (participant !== null && unheard.has(boot, participant)) return undefined
    const visit = open(boot)
    const answer = await visit.claim(account, participant)
    if (answer === undefined) return undefined
    // It is in a room here by another edge, or has left the one that it was to come back to.
    const { participant: id } = answer
    if (play().visits.participant(id)?.isConnected || unheard.has(boot, id)) {
      visit.release()
      return undefined
    }
    claimed.set(answer.participant, visit)
    return answer
  }
}

function isOf(account: Player): (row: { session_id: string }) => boolean {
  return ({ session_id }) => session_id === account.session_id
}
