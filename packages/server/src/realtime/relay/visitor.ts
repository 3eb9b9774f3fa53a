import { kinds } from '@guildhall/contract'
import type { RpcOutcome } from '../../kernel/play/calls.ts'
import type { OutgoingFrame } from '../frames/outgoing-frame.ts'
import type { Entered } from '../play/elsewhere.port.ts'
import type { RelayedRequest } from '../play/rooms/requests/room-entry.ts'
import type { Visits } from '../play/visits.ts'
import type {
  MessageOutcome,
  Place,
  PlayPort,
  Receiver,
  SeatFate,
  UnhandledReason,
} from '../play.port.ts'
import type { OwnerLink } from './links.ts'
import type { Ask } from './messages.ts'

export type VisitorDeps = {
  port: PlayPort
  visits: Visits
  /** Gives the visitor its turns while the script takes no more. */
  awaitTurn(visitor: Visitor): void
  /** Its edge is to say what it had not sent, as long as the link lasts. */
  awaitUnsent(visitor: Visitor): void
  /** Its link is lost: its edge may still have its connection, and come back for it. */
  awaitReturn(visitor: Visitor): void
  /** It has come back from another node than before, or by another link. */
  returned(visitor: Visitor): void
  over(visitor: Visitor): void
}

type ForScript = Extract<Ask, { type: 'position' | 'message' | 'rpc' }>

/**
 * A participant of another node at the owner of rooms, which takes it for any other connection.
 *
 * | state    | what it means                                             | what comes next      |
 * |----------|-----------------------------------------------------------|----------------------|
 * | claimed  | its edge has claimed a seat, and has not arrived          | here, over           |
 * | here     | the owner has a participant for it                        | gone, over           |
 * | gone     | its participant has ended or dropped; answers are open    | over                 |
 * | over     | its edge hears nothing more of it                         |                      |
 */
export class Visitor implements Receiver {
  readonly number: number
  readonly participant: number
  readonly link: OwnerLink
  readonly #deps: VisitorDeps
  #state: 'claimed' | 'here' | 'gone' | 'over' = 'claimed'
  #roomId: number | null = null
  #entering: number | undefined
  readonly #cancelled = new Set<number>()
  /** Calls and messages that the script has, or is still to get. */
  #open = 0
  #line: ForScript[] = []

  constructor(
    { number, participant, link }: { number: number; participant: number; link: OwnerLink },
    deps: VisitorDeps,
  ) {
    this.number = number
    this.participant = participant
    this.link = link
    this.#deps = deps
  }

  asked(ask: Ask): void {
    const { port } = this.#deps
    switch (ask.type) {
      case 'enter':
        return void this.#enter(ask)
      case 'cancel':
        this.#cancel(ask.call)
        return
      case 'leaveRoom':
        this.#leaveRoom()
        return
      case 'moved':
        this.#gone()
        return
      case 'flags':
        if (this.#state === 'here') port.setFlags(this.participant, ask.flags)
        return
      case 'position':
      case 'message':
      case 'rpc':
        this.#forScript(ask)
        return
      case 'depart':
        this.depart(ask.seat)
        return
      case 'arrive':
        this.#arrive(ask.flags)
        return
      case 'release':
        if (this.#state === 'claimed') port.leave(this.participant, 'kept', [])
        this.#end()
        return
      case 'unsent':
      case 'claim':
      case 'close':
    }
  }

  /** Its connection is over, or the way to it is. */
  depart(seat: SeatFate, isLinkLost = false): void {
    const { port, visits, awaitReturn, awaitUnsent } = this.#deps
    if (this.#state === 'claimed') {
      port.leave(this.participant, 'kept', [])
      if (seat === 'none') visits.end(this.participant, 'left')
    }
    if (this.#state === 'here') {
      const fate = seat === 'kept_elsewhere' ? 'kept' : seat
      this.#state = 'gone'
      port.leave(this.participant, fate, [])
      if (isLinkLost) awaitReturn(this)
      else if (fate !== 'none') awaitUnsent(this)
    }
    this.#line = []
    this.#end()
  }

  // What the owner reports.

  deliver(frame: OutgoingFrame, unreliable: boolean): void {
    const last = this.link.last()
    if (last?.type === 'deliver' && last.unreliable === unreliable && last.frame === frame) {
      last.visits.push(this.number)
    } else {
      this.link.send({ type: 'deliver', visits: [this.number], unreliable, frame })
    }
  }

  deliverPositions(positions: readonly OutgoingFrame[]): void {
    const last = this.link.last()
    if (last?.type === 'positions' && last.frames === (positions as readonly object[]))
      last.visits.push(this.number)
    else {
      const frames = positions as OutgoingFrame[]
      this.link.send({ type: 'positions', visits: [this.number], frames })
    }
  }

  placed({ room_id, match_id, binding }: Place): void {
    this.#roomId = room_id
    this.link.send({ type: 'placed', visit: this.number, place: { room_id, match_id, binding } })
    if (room_id === null) queueMicrotask(() => this.#endIfDone())
  }

  settled(kind: number, outcome: MessageOutcome): void {
    this.#open -= 1
    this.link.send({ type: 'settled', visit: this.number, kind, outcome })
    this.#endIfDone()
  }

  unhandled(kind: number, reason: UnhandledReason): void {
    this.#unhandled(kind, reason, false)
  }

  replied(requestId: bigint, outcome: RpcOutcome): void {
    this.#open -= 1
    const payload = outcome.ok ? outcome.reply : Buffer.from(outcome.error)
    const call = Number(requestId)
    this.link.send({ type: 'replied', visit: this.number, call, ok: outcome.ok, payload })
    this.#endIfDone()
  }

  /** Gives the script what waits longest. */
  serveScript(): boolean {
    const next = this.#line.shift()
    if (next === undefined || this.#state !== 'here') return false
    this.#open -= 1
    this.#toScript(next)
    return this.#line.length > 0
  }

  async #enter(ask: Extract<Ask, { type: 'enter' }>): Promise<void> {
    const { port, visits } = this.#deps
    const { participant, account, flags, kind, options, call, target, mayCreate } = ask
    this.#entering = call
    if (this.#state === 'claimed') {
      this.#state = 'here'
      const { receiver, isConnected } = visits.participant(participant) ?? {}
      // It has come back by another edge than the one that has asked before.
      if (receiver instanceof Visitor) receiver.#gone()
      // Its edge has taken it out of the room before, and the way to say so was lost.
      if (isConnected === false) visits.end(participant, 'left')
      const arrival = { participant, account: account ?? undefined, flags, relayed: true }
      await port.arrive(arrival, this)
    }
    const entered = await this.#enterHere({
      ...{ kind, options, mayCreate },
      target:
        target.type === 'id'
          ? { by: 'id', room_id: target.room_id, token: target.token }
          : { by: 'name', name: target.name, mayJoin: target.mayJoin },
    })
    this.#entering = undefined
    if (this.#cancelled.delete(call) && entered.is === 'done') this.#undo()
    const refusal = entered.is === 'refused' ? entered.reason : null
    const again = entered.is === 'again'
    this.link.send({ type: 'answer', visit: this.number, call, refusal, again })
    this.#endIfDone()
  }

  async #enterHere(request: RelayedRequest): Promise<Entered> {
    if (this.#state !== 'here') return { is: 'done' }
    return this.#deps.visits.enter(this.participant, request)
  }

  #cancel(call: number): void {
    if (this.#entering === call) this.#cancelled.add(call)
    else this.#undo()
  }

  /** The client was answered that it is not in the room: it is removed, with MATCH_CLOSED. */
  #undo(): void {
    if (this.#state === 'here') this.#deps.visits.remove(this.participant)
  }

  #leaveRoom(): void {
    const left = this.#state === 'here' ? this.#deps.visits.leave(this.participant) : undefined
    const room_id = left ?? null
    this.link.send({ type: 'leftRoom', visit: this.number, room_id })
    this.#endIfDone()
  }

  #arrive(flags: number): void {
    if (this.#state !== 'claimed') return
    this.#state = 'here'
    const { port, visits } = this.#deps
    const account = visits.participant(this.participant)?.context
    if (account === undefined) {
      this.#end()
      return
    }
    this.#roomId = account.room_id
    const arrival = { participant: this.participant, account: undefined, flags, relayed: true }
    const arrived = port.arrive(arrival, this)
    this.#deps.returned(this)
    const answer = () => this.link.send({ type: 'arrived', visit: this.number })
    if (arrived === undefined) answer()
    else arrived.then(answer, answer)
  }

  #forScript(ask: ForScript): void {
    if (this.#state !== 'here') return
    const { script } = this.#deps.port
    const isForScript =
      ask.type !== 'position' || script.handlesKind(kinds.POSITION.first, this.#roomId)
    if (!isForScript || (this.#line.length === 0 && !script.congested())) {
      this.#toScript(ask)
      return
    }
    this.#open += 1
    this.#line.push(ask)
    this.#deps.awaitTurn(this)
  }

  #toScript(ask: ForScript): void {
    const { port } = this.#deps
    if (ask.type === 'rpc') {
      this.#open += 1
      const { method, payload } = ask
      port.rpc(this.participant, { request_id: BigInt(ask.call), method, payload })
    } else if (ask.type === 'message') {
      this.#message(ask)
    } else if (port.script.handlesKind(kinds.POSITION.first, this.#roomId)) {
      this.#open += 1
      const kind = kinds.POSITION.first
      port.message(this.participant, { kind, body: ask.body, unreliable: true })
    } else {
      port.position(this.participant, ask.body)
    }
  }

  #message({ kind, body, unreliable }: Extract<Ask, { type: 'message' }>): void {
    const { port } = this.#deps
    const { script } = port
    if (!script.handlesKind(kind, this.#roomId)) {
      this.#unhandled(kind, script.serving() ? 'no_handler' : 'script_unavailable', true)
      return
    }
    this.#open += 1
    port.message(this.participant, { kind, body, unreliable })
  }

  #unhandled(kind: number, reason: UnhandledReason, wasMessage: boolean): void {
    this.link.send({ type: 'unhandled', visit: this.number, kind, reason, wasMessage })
    this.#endIfDone()
  }

  /** Its participant has left, or is another visitor's. */
  #gone(): void {
    if (this.#state === 'here') {
      const { visits } = this.#deps
      visits.leave(this.participant)
      this.#state = 'gone'
      this.#open -= this.#line.length
      this.#line = []
      visits.end(this.participant, 'left')
    }
    this.#endIfDone()
  }

  /** Out of any room and with nothing open, it is here no more. */
  #endIfDone(): void {
    if (this.#state === 'over' || this.#state === 'claimed') return
    if (this.#entering !== undefined || this.#open > 0) return
    if (this.#state === 'here') {
      if (this.#roomId !== null) return
      this.#state = 'gone'
      this.#deps.visits.end(this.participant, 'left')
    }
    this.#end()
  }

  #end(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.link.send({ type: 'over', visit: this.number })
    this.#deps.over(this)
  }
}
