import { kinds, roomRejectBody } from '@guildhall/contract'
import type { Clock } from '../../../../kernel/clock.ts'
import type { Log } from '../../../../kernel/log/log.ts'
import type { RoomHooks } from '../../../../kernel/play/room-hooks.ts'
import type { Label } from '../../../../kernel/play/rooms.ts'
import { outgoingFrame } from '../../../frames/outgoing-frame.ts'
import type { GatewayMetrics } from '../../../metrics.ts'
import type { Receiver } from '../../../play.port.ts'
import { accountKey } from '../../accounts.port.ts'
import { type Elsewhere, type Entered, type RoomPlace, unavailable } from '../../elsewhere.port.ts'
import type { Participant } from '../../participants/participant.ts'
import type { RoomsConfig } from '../config.ts'
import type { PresenceCosts } from '../presence-costs.ts'
import type { Room } from '../room.ts'
import type { Rooms } from '../rooms.ts'
import { admissionFrom, defaultLabel, labelFrom, noteProblem } from './label-answers.ts'
import type { EnterRequest } from './room-request.ts'
import { makeState } from './state-making.ts'

export type RoomEntryDeps = {
  config: RoomsConfig
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  log: Log
  metrics: GatewayMetrics
  hooks: RoomHooks
  rooms: Rooms
  costs: PresenceCosts
  elsewhere: Elsewhere
  /** False while the node has lost its node id. */
  mayMakeRooms(): boolean
  /** Lets the holder of a token of a match in; false when it is not good any more. */
  enterByToken(participant: number, token: string): boolean
}

/** Serves requests to enter a room. Each is answered by ROOM_JOINED or ROOM_REJECT. */
export type RoomEntry = {
  /** Resolves when the request is answered, or when its client is gone. */
  enter(participant: Participant, request: EnterRequest): Promise<void>
  /** The same for a participant of another node, which answers its client itself. */
  enterRelayed(participant: Participant, request: RelayedRequest): Promise<Entered>
  reject(participant: Participant, kind: number, reason: string): void
}

/** What another node asks for. */
export type RelayedRequest = EnterRequest & {
  /** The room may be made here; else a name that is free again is for the other node to see. */
  mayCreate: boolean
}

/** A participant on the connection that asked; it may be gone before the answer is there. */
type Asker = { participant: Participant; receiver: Receiver }

/** The name was another room's, which is over. */
const freeAgain = Symbol('free again')
/** Pause until such a name is asked for again, in milliseconds. */
const againAfterMs = 50

/** A room that is being made; its id, where it was reserved. */
type NewRoom = { name: string | null; id: number | undefined }

/** A name whose room is being made. Requests for it wait, in order. */
type Reservation = { released: Promise<void> }

export function createRoomEntry(deps: RoomEntryDeps): RoomEntry {
  const { config, clock, log, metrics, hooks, rooms, elsewhere } = deps
  const reserved = new Map<string, Reservation>()
  let making = 0

  function reject({ receiver }: Participant, kind: number, reason: string): void {
    metrics.room_rejects_total += 1
    const body = roomRejectBody.encode({ request_kind: kind, reason })
    receiver.deliver(outgoingFrame(kinds.ROOM_REJECT.first, body), false)
  }

  async function enter(participant: Participant, request: EnterRequest): Promise<void> {
    const asker = { participant, receiver: participant.receiver }
    const giveUpAtMs = clock.monotonicMs() + elsewhere.commandTimeoutMs
    for (;;) {
      const refusal = await tryToEnter(asker, request)
      if (refusal === undefined || !isThere(asker)) return
      // The name has a room on another node that is over, and will be free.
      const mayWait = refusal === freeAgain && clock.monotonicMs() < giveUpAtMs
      if (!mayWait) {
        reject(participant, request.kind, refusal === freeAgain ? unavailable : refusal)
        return
      }
      await clock.sleep(againAfterMs)
    }
  }

  async function enterRelayed(participant: Participant, request: RelayedRequest): Promise<Entered> {
    const asker = { participant, receiver: participant.receiver }
    const refusal = await tryToEnter(asker, request, request)
    if (refusal === freeAgain) return { is: 'again' }
    return refusal === undefined ? { is: 'done' } : { is: 'refused', reason: refusal }
  }

  /**
   * The reason of a refusal; undefined when the request was served or its client is gone. `relayed`
   * is there for a client of another node.
   */
  async function tryToEnter(
    asker: Asker,
    request: EnterRequest,
    relayed?: { mayCreate: boolean },
  ): Promise<string | typeof freeAgain | undefined> {
    const { target, options } = request
    for (;;) {
      if (!isThere(asker)) return undefined
      if (asker.participant.away?.isWaiting) return unavailable
      const isElsewhere = target.by === 'id' && elsewhere.isElsewhere(target.room_id)
      if (isElsewhere && relayed === undefined) return visit(asker, request)
      if (!hooks.admit()) return 'game script unavailable'
      if (target.by === 'id' && target.token !== null) return redeem(asker, target.token)
      if (target.by === 'id') return join(asker, rooms.byId(target.room_id), options)
      const { name, mayJoin } = target
      if (name !== null && !elsewhere.servesNames()) return unavailable
      const taken = name === null ? undefined : rooms.byName(name)
      if (taken !== undefined) return mayJoin ? join(asker, taken, options) : 'room name taken'
      const reservation = name === null ? undefined : reserved.get(name)
      if (reservation === undefined) {
        if (relayed?.mayCreate === false) return freeAgain
        const made = await create(asker, name, options)
        if (typeof made !== 'object') return made
        if (relayed !== undefined) return freeAgain
        if (!isThere(asker)) return undefined
        const outcome = await visit(asker, request, made)
        // The next try may find another node, or this one with its lease renewed.
        return outcome === unavailable && made.mayCreate ? freeAgain : outcome
      }
      await reservation.released
    }
  }

  function redeem({ participant }: Asker, token: string): string | undefined {
    const isIn = deps.enterByToken(participant.context.participant, token)
    return isIn ? undefined : 'match handoff not found or expired'
  }

  /** Lets the node of the room decide. */
  async function visit(
    { participant }: Asker,
    request: EnterRequest,
    at?: RoomPlace,
  ): Promise<string | typeof freeAgain | undefined> {
    const entered = await elsewhere.enter(participant, request, at)
    if (entered.is === 'again') return freeAgain
    return entered.is === 'refused' ? entered.reason : undefined
  }

  /** An error in here is one of the server; the client gets what it gets of a script's error. */
  async function orRefuse<Outcome>(
    refusal: string,
    work: Promise<Outcome>,
  ): Promise<Outcome | string> {
    try {
      return await work
    } catch (error) {
      log.error('a room request failed', { refusal, error })
      return refusal
    }
  }

  async function askToJoin(
    asker: Asker,
    room: Room | undefined,
    options: string,
  ): Promise<string | undefined> {
    const before = objection(asker, room)
    if (typeof before === 'string') return before
    if (before.isMember) return admit(asker, before.room)
    const { context } = asker.participant
    const members = before.room.members.length
    if (!deps.costs.pay(accountKey(context), members)) return 'too many requests'
    const answer = await hooks.roomJoin(context, {
      ...{ room: before.room.row(), options },
      hasState: before.room.state !== undefined,
    })
    if (!isThere(asker)) return undefined
    const admission = admissionFrom(answer)
    noteProblem(hooks, 'on_room_join', admission)
    if (admission.verdict === 'failed') return 'join check failed'
    if (admission.verdict === 'refused') return admission.text ?? 'join refused'
    // The room may have changed while the script was asked.
    const after = objection(asker, room)
    if (typeof after === 'string') return after
    return admit(asker, after.room)
  }

  const join = (...request: Parameters<typeof askToJoin>) =>
    orRefuse('join check failed', askToJoin(...request))
  const create = (...request: Parameters<typeof askToCreate>) =>
    orRefuse('room creation failed', askToCreate(...request))

  function admit({ participant }: Asker, room: Room): string | undefined {
    // What the old room is sent now may fill the queues, and cost the new one its last member.
    const isIn = rooms.admit(participant.context.participant, room.id)
    return isIn ? undefined : 'room not found'
  }

  /** What speaks against joining, or the room to join. */
  function objection(
    asker: Asker,
    room: Room | undefined,
  ): string | { room: Room; isMember: boolean } {
    if (room === undefined || room.phase === 'ended') return 'room not found'
    if (room.binding !== null && room.binding.generation !== hooks.binding()?.generation) {
      return 'room revision changed'
    }
    if (asker.participant.room === room) return { room, isMember: true }
    if (!room.label.open) return 'room is closed'
    if (room.isFull(config.max_members)) return 'room is full'
    return { room, isMember: false }
  }

  async function askToCreate(
    asker: Asker,
    name: string | null,
    options: string,
  ): Promise<string | RoomPlace | undefined> {
    if (!deps.mayMakeRooms()) return unavailable
    if (rooms.size + making >= config.max_rooms) return 'too many rooms'
    const release = reserve(name)
    // A name belongs to a room over all nodes, so the room has its id before it is made.
    const id = elsewhere.sharesNames ? rooms.nextId() : undefined
    try {
      const place = id === undefined ? undefined : await reserveOverAll(name, id)
      if (place !== undefined) return place
      const refusal = await make(asker, { name, id }, options)
      if (name !== null && id !== undefined && rooms.byId(id) === undefined) {
        elsewhere.releaseName(name, id)
      }
      return refusal
    } finally {
      release()
    }
  }

  /** Undefined when the room may be made here. */
  async function reserveOverAll(
    name: string | null,
    id: number,
  ): Promise<string | RoomPlace | undefined> {
    const answer = name === null ? undefined : elsewhere.reserveName(name, id)
    const reserved = answer instanceof Promise ? await answer : answer
    if (reserved?.is === 'unavailable') return unavailable
    if (reserved?.is === 'held') return { boot: reserved.boot, mayCreate: false }
    const boot = elsewhere.placeOfNewRoom()
    if (boot === undefined) return undefined
    if (name !== null) elsewhere.releaseName(name, id)
    return { boot, mayCreate: true }
  }

  async function make(asker: Asker, made: NewRoom, options: string): Promise<string | undefined> {
    const { name } = made
    const answer = await hooks.roomCreate(asker.participant.context, { name, options })
    if (!isThere(asker)) return undefined
    const base = defaultLabel(name ?? '')
    const isChosen = answer.status === 'absent'
    const label = labelFrom(answer, isChosen ? withChosenMode(base, options) : base)
    noteProblem(hooks, 'on_room_create', label)
    if (label.verdict === 'failed') return 'room creation failed'
    if (label.verdict === 'refused') return label.text ?? 'room creation refused'
    if (!mayMake(name)) return unavailable
    if (hooks.definesRoom(label.value.mode)) {
      return await makeWithState(asker, { ...made, label: label.value }, options)
    }
    admit(asker, rooms.make(name, label.value, rooms.reserve(made.id)))
    return undefined
  }

  function mayMake(name: string | null): boolean {
    return deps.mayMakeRooms() && (name === null || elsewhere.servesNames())
  }

  /** Without `on_room_create` the option `mode` may name a definition. */
  function withChosenMode(base: Label, options: string): Label {
    const { mode } = JSON.parse(options) as { mode?: unknown }
    return typeof mode === 'string' && hooks.definesRoom(mode) ? { ...base, mode } : base
  }

  async function makeWithState(
    asker: Asker,
    { name, id, label: base }: NewRoom & { label: Label },
    options: string,
  ): Promise<string | undefined> {
    const ids = rooms.reserve(id)
    const definition = base.mode
    const room = { definition, ...ids, name, label: base }
    const making = { context: asker.participant.context, room, options }
    const isMade = await makeState(deps, making, (label) => {
      if (!isThere(asker) || !mayMake(name)) return false
      const open = rooms.make(name, label, ids)
      rooms.giveState(open, definition)
      admit(asker, open)
      return true
    })
    if (isMade || !isThere(asker)) return undefined
    return mayMake(name) ? 'room creation failed' : unavailable
  }

  /** Holds the name, and a place among the rooms, until the room is there or refused. */
  function reserve(name: string | null): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    making += 1
    if (name !== null) reserved.set(name, { released: promise })
    return () => {
      making -= 1
      if (name !== null) reserved.delete(name)
      resolve()
    }
  }

  return { enter, enterRelayed, reject }
}

/** False when the connection is gone: its participant has ended, or waits for its return. */
function isThere({ participant, receiver }: Asker): boolean {
  return participant.receiver === receiver
}
