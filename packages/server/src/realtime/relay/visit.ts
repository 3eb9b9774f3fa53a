import { type Departure, kinds, type RpcRequest, roomReferenceBody } from '@guildhall/contract'
import { kindOf, type OutgoingFrame, outgoingFrame } from '../frames/outgoing-frame.ts'
import { type Entered, type RoomPlace, unavailable } from '../play/elsewhere.port.ts'
import type { Away } from '../play/participants/away.ts'
import type { Participant } from '../play/participants/participant.ts'
import type { EnterRequest } from '../play/rooms/requests/room-request.ts'
import type { Claimed, Place, PlayerMessage, Receiver, SeatFate } from '../play.port.ts'
import type { Player } from '../ports.ts'
import { answerWithin } from './answer-within.ts'
import type { EdgeLink } from './links.ts'
import type { Report } from './messages.ts'
import { OpenCalls, refuseRpc } from './open-calls.ts'
import type { VisitDeps } from './visit-deps.ts'
import {
  accountOf,
  closedBody,
  enterAsk,
  ownLeftBody,
  placeOf,
  wireAccount,
} from './wire-values.ts'

/**
 * The stay of one participant of this node with the owner of rooms on another one.
 *
 * | state   | what it means                                           | what comes next       |
 * |---------|---------------------------------------------------------|-----------------------|
 * | asking  | it has asked for a room or a seat, and is in none       | member, parted, over  |
 * | member  | it is in a room of the owner                            | waiting, parted, over |
 * | waiting | the link is lost: it comes back by another, or is out   | member, over          |
 * | parted  | it is in no room of the owner; answers may still come   | member, over          |
 * | dropped | its connection is over: what still comes goes back      | over                  |
 * | over    | nothing is left of it                                   |                       |
 */
type State = 'asking' | 'member' | 'waiting' | 'parted' | 'dropped' | 'over'

/** Pause between two attempts to come back to a room, in milliseconds. */
const returnAgainMs = 250

export class Visit implements Away {
  readonly number: number
  readonly boot: string
  readonly #deps: VisitDeps
  /** Undefined as long as a connection has claimed a seat and has not arrived. */
  #participant: Participant | undefined
  #link: EdgeLink
  #state: State = 'asking'
  #place: Place | undefined
  #entering: { call: number; receiver: Receiver; answer(entered: Entered): void } | undefined
  #claiming: ((claimed: Claimed | undefined) => void) | undefined
  readonly #arriving = Promise.withResolvers<void>()
  #leaving: (() => void) | undefined
  /** What comes for the client is not of the room that it is in. */
  #isMuted = false
  readonly #calls: OpenCalls
  #unsent: OutgoingFrame[] = []
  /** Whose connection is over. */
  #droppedId = 0
  /** The same, if it has left with it. */
  #leaver: Participant | undefined
  #returnUntilMs = 0

  constructor(
    { number, boot, participant }: { number: number; boot: string; participant?: Participant },
    deps: VisitDeps,
  ) {
    this.number = number
    this.boot = boot
    this.#participant = participant
    this.#deps = deps
    this.#calls = new OpenCalls(deps.metrics)
    this.#link = deps.linkTo(boot)
  }

  get link(): EdgeLink {
    return this.#link
  }

  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }

  /** Asks for a room. One request of a participant runs at a time. */
  enter(request: EnterRequest, { mayCreate }: Pick<RoomPlace, 'mayCreate'>): Promise<Entered> {
    const participant = this.#participant
    if (participant === undefined) return Promise.resolve({ is: 'done' })
    const { clock, commandTimeoutMs, nextCall } = this.#deps
    const call = nextCall()
    this.#link.send(enterAsk(participant, request, { visit: this.number, call, mayCreate }))
    const { promise, answer } = answerWithin<Entered>(clock, commandTimeoutMs, () => {
      this.#enterTimedOut()
    })
    this.#entering = { call, receiver: participant.receiver, answer }
    return promise
  }

  /** Asks for a seat: a certain one, or the one of the account that dropped last. */
  claim(account: Player, participant: number | null): Promise<Claimed | undefined> {
    const { clock, commandTimeoutMs } = this.#deps
    const whose = { participant, account: wireAccount(account) }
    this.#link.send({ type: 'claim', visit: this.number, ...whose })
    const { promise, answer } = answerWithin<Claimed | undefined>(clock, commandTimeoutMs, () => {
      answer(undefined)
      this.release()
    })
    this.#claiming = answer
    return promise
  }

  /** The connection that has claimed the seat plays from here on. */
  arrive(participant: Participant): Promise<void> {
    this.#participant = participant
    const place = this.#place
    this.#link.send({ type: 'arrive', visit: this.number, flags: participant.flags })
    this.#state = 'member'
    if (place !== undefined) this.#deps.visits.goAway(participant, this, place)
    return this.#arriving.promise
  }

  release(): void {
    this.#link.send({ type: 'release', visit: this.number })
    this.#end()
  }

  setFlags(flags: number): void {
    if (this.#state === 'member') this.#link.send({ type: 'flags', visit: this.number, flags })
  }

  position(body: Uint8Array): void {
    if (this.#state === 'member') {
      this.#link.send({ type: 'position', visit: this.number, body })
      return
    }
    this.#deps.metrics.link_dropped_total += 1
    this.#participant?.receiver.unhandled(kinds.POSITION.first, 'script_unavailable')
  }

  message({ kind, body, unreliable }: PlayerMessage): void {
    if (this.#state === 'member') {
      this.#calls.message({ kind, receiver: this.#participant?.receiver })
      this.#link.send({ type: 'message', visit: this.number, kind, body, unreliable })
      return
    }
    this.#deps.metrics.link_dropped_total += 1
    this.#participant?.receiver.settled(kind, 'unavailable')
  }

  rpc({ request_id, method, payload }: RpcRequest): void {
    if (this.#state !== 'member') {
      refuseRpc(this.#participant?.receiver, request_id)
      return
    }
    const call = this.#deps.nextCall()
    this.#calls.rpc(call, { requestId: request_id, receiver: this.#participant?.receiver })
    this.#link.send({ type: 'rpc', visit: this.number, call, method, payload })
  }

  leaveRoom(): Promise<void> | undefined {
    if (this.#state === 'waiting') {
      this.#leaveAtOnce()
      return undefined
    }
    this.#link.send({ type: 'leaveRoom', visit: this.number })
    return new Promise((resolve) => {
      this.#leaving = resolve
    })
  }

  left(): void {
    if (this.#state === 'over' || this.#state === 'parted') return
    this.#sendOwnLeft('left')
    if (this.#state === 'waiting') this.#endUnheard()
    else this.#part()
  }

  #part(): void {
    this.#isMuted = true
    this.#state = 'parted'
    this.#link.send({ type: 'moved', visit: this.number })
  }

  depart(seat: SeatFate, unsent: readonly OutgoingFrame[]): void {
    const wasWaiting = this.isWaiting
    const dropped = this.#participant
    if (seat !== 'none' && dropped !== undefined) this.#deps.dropped(dropped, this.boot)
    this.#droppedId = dropped?.context.participant ?? 0
    if (seat === 'none') this.#leaver = dropped
    this.#participant = undefined
    this.#answer({ is: 'done' })
    this.#leaving?.()
    this.#calls.forget()
    if (wasWaiting && seat === 'none') this.#link.send({ type: 'depart', visit: this.number, seat })
    if (this.#state === 'over' || wasWaiting) this.#endUnheard()
    else {
      this.#link.send({ type: 'depart', visit: this.number, seat })
      this.#unsent = [...unsent]
      this.#state = 'dropped'
    }
  }

  reported(report: Exclude<Report, { type: 'deliver' | 'positions' }>): void {
    const { receiver } = this.#participant ?? {}
    if (report.type === 'answer') this.#answered(report)
    else if (report.type === 'placed') this.#placed(placeOf(report.place))
    else if (report.type === 'replied') this.#calls.replied(report)
    else if (report.type === 'leftRoom') this.#leftRoom(report.room_id)
    else if (report.type === 'claimed') this.#claimed(report)
    else if (report.type === 'arrived') this.#arriving.resolve()
    else if (report.type === 'over') this.#ownerIsDone()
    else this.#calls.messageDone(report, receiver)
  }

  delivered(frame: OutgoingFrame, unreliable: boolean): void {
    if (this.#state === 'dropped') {
      if (!unreliable && kindOf(frame) >= kinds.MATCHMAKER_MATCHED.first) this.#unsent.push(frame)
    } else if (!this.#isMuted) {
      this.#participant?.receiver.deliver(frame, unreliable)
    }
  }

  deliveredPositions(frames: readonly OutgoingFrame[]): void {
    if (this.#isMuted || this.#participant === undefined) return
    const { receiver, context } = this.#participant
    receiver.deliverPositions(frames, context.participant)
  }

  /** The link is lost: with a grace it comes back, else it is out of the room. */
  linkLost(): void {
    if (this.#state === 'over') return
    const state = this.#state
    const isLeaving = this.#leaving !== undefined
    this.#calls.fail()
    this.#arriving.resolve()
    this.#answer({ is: 'refused', reason: unavailable })
    this.#claiming?.(undefined)
    this.#leftRoom(null)
    const participant = this.#participant
    if (participant === undefined || state === 'asking' || state === 'parted') this.#endUnheard()
    else if (isLeaving) this.#leaveAtOnce()
    else if (state === 'waiting') this.#returnLater()
    else this.#waitForReturn(participant)
  }

  /** Its client leaves the room while there is no way to the owner. */
  #leaveAtOnce(): void {
    this.#giveUp('left')
    this.#leftRoom(this.#place?.room_id ?? 0)
  }

  #waitForReturn({ context }: Participant): void {
    const { graceMs, clock } = this.#deps
    this.#state = 'waiting'
    this.#returnUntilMs = clock.monotonicMs() + graceMs
    if (graceMs === 0 || context.user_id === null) this.#giveUp('closed')
    else this.#returnLater()
  }

  #answered({ call, refusal, again }: Extract<Report, { type: 'answer' }>): void {
    if (this.#entering?.call !== call) return
    if (refusal !== null) this.#answer({ is: 'refused', reason: refusal })
    else this.#answer({ is: again ? 'again' : 'done' })
  }

  #answer(entered: Entered): void {
    const entering = this.#entering
    this.#entering = undefined
    entering?.answer(entered)
  }

  /** The client was refused; what the owner may have done is undone. */
  #enterTimedOut(): void {
    const entering = this.#entering
    if (entering === undefined) return
    if (this.#state === 'asking') this.#part()
    else this.#link.send({ type: 'cancel', visit: this.number, call: entering.call })
    this.#answer({ is: 'refused', reason: unavailable })
  }

  #placed(place: Place): void {
    const participant = this.#participant
    if (this.#state === 'dropped' && place.room_id !== this.#place?.room_id) {
      // The owner has let it in before it knew: what is of the room before is dropped.
      this.#unsent = this.#unsent.filter((frame) => kindOf(frame) < kinds.APPLICATION.first)
    }
    if (participant === undefined || this.#isMuted) return
    const { receiver } = this.#entering ?? participant
    // It has dropped out of a room of this node, and may be back by another connection.
    if (participant.receiver !== receiver) return void this.depart('none', [])
    this.#place = place
    if (place.room_id !== null) {
      this.#state = 'member'
      this.#deps.visits.goAway(participant, this, place)
    } else if (this.#state === 'member') {
      this.#state = 'parted'
      if (participant.away === this) this.#deps.visits.comeBack(participant)
    }
  }

  #leftRoom(roomId: number | null): void {
    if (roomId !== null && !this.#isMuted) {
      this.#deliver(kinds.ROOM_LEAVE.first, roomReferenceBody.encode({ room_id: roomId }))
    }
    this.#leaving?.()
    this.#leaving = undefined
  }

  #claimed({ participant, place }: Extract<Report, { type: 'claimed' }>): void {
    if (this.#state === 'waiting') {
      this.#returned(participant !== null, placeOf(place))
      return
    }
    const claiming = this.#claiming
    this.#claiming = undefined
    if (claiming === undefined) return
    if (participant === null) {
      this.#end()
      claiming(undefined)
      return
    }
    this.#place = placeOf(place)
    claiming({ participant, place: this.#place })
  }

  #ownerIsDone(): void {
    if (this.#state === 'dropped') {
      const frames = this.#unsent.map(({ bytes, mergeKey }) => ({ bytes, mergeKey }))
      this.#link.send({ type: 'unsent', participant: this.#droppedId, frames })
    } else if (this.#state === 'member' && this.#participant?.away === this) {
      this.#deps.visits.comeBack(this.#participant)
    }
    if (this.#entering === undefined) this.#end()
  }

  #returnLater(): void {
    const { clock, isThere } = this.#deps
    if (clock.monotonicMs() >= this.#returnUntilMs || !isThere(this.boot)) this.#giveUp('closed')
    else clock.after(returnAgainMs, () => this.#return())
  }

  #return(): void {
    const participant = this.#participant
    const account = participant && accountOf(participant)
    if (this.#state !== 'waiting' || !participant || !account) return
    this.#link = this.#deps.linkTo(this.boot)
    const { participant: id } = participant.context
    this.#link.send({ type: 'claim', visit: this.number, participant: id, account })
  }

  #returned(isGranted: boolean, place: Place): void {
    const participant = this.#participant
    if (!isGranted || participant === undefined) return void this.#giveUp('closed')
    this.#state = 'member'
    this.#place = place
    this.#deps.visits.goAway(participant, this, place)
    this.#link.send({ type: 'arrive', visit: this.number, flags: participant.flags })
  }

  /** It is out of the room without the owner: as its client asks, or for good. */
  #giveUp(why: 'left' | 'closed'): void {
    const participant = this.#participant
    const roomId = this.#place?.room_id
    if (why === 'closed' && typeof roomId === 'number') {
      this.#deliver(kinds.MATCH_CLOSED.first, closedBody(roomId))
    }
    this.#sendOwnLeft(why === 'left' ? 'left' : 'removed')
    if (!this.#link.isOver) this.#link.send({ type: 'depart', visit: this.number, seat: 'none' })
    if (participant?.away === this) this.#deps.visits.comeBack(participant)
    if (why === 'left') this.#endUnheard()
    else this.#end()
  }

  #sendOwnLeft(departure: Departure): void {
    const room_id = this.#place?.room_id
    if (this.#participant === undefined || typeof room_id !== 'number') return
    const body = ownLeftBody(this.#participant, room_id, departure)
    if (body !== undefined) this.#deliver(kinds.ROOM_PRESENCE.first, body)
  }

  #deliver(kind: number, body: Uint8Array): void {
    this.#participant?.receiver.deliver(outgoingFrame(kind, body), false)
  }

  /** It has left for good, and the link on which it said so is lost, or may be. */
  #endUnheard(): void {
    const leaver = this.#state === 'over' ? undefined : (this.#participant ?? this.#leaver)
    this.#end()
    if (leaver !== undefined) this.#deps.leftUnheard(leaver, this.boot, this.#place)
  }

  #end(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#calls.fail()
    this.#arriving.resolve()
    this.#answer({ is: 'refused', reason: unavailable })
    this.#leaving?.()
    this.#deps.over(this)
  }
}
