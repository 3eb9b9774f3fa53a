import { kinds, roomRejectBody } from '@guildhall/contract'
import type { Clock } from '../../../../kernel/clock.ts'
import type { Log } from '../../../../kernel/log/log.ts'
import type { RoomHooks } from '../../../../kernel/play/room-hooks.ts'
import { outgoingFrame } from '../../../frames/outgoing-frame.ts'
import type { GatewayMetrics } from '../../../metrics.ts'
import type { Receiver } from '../../../play.port.ts'
import type { Participant } from '../../participants/participant.ts'
import { type Rate, takeCalls } from '../../rpc/rate-bucket.ts'
import type { RoomsConfig } from '../config.ts'
import type { Room } from '../room.ts'
import type { Rooms } from '../rooms.ts'
import { admissionFrom, defaultLabel, labelFrom } from './label-answers.ts'
import type { EnterRequest } from './room-request.ts'

export type RoomEntryDeps = {
  config: RoomsConfig
  clock: Pick<Clock, 'monotonicMs'>
  log: Log
  metrics: GatewayMetrics
  hooks: RoomHooks
  rooms: Rooms
  /** False while the node has lost its node id. */
  mayMakeRooms(): boolean
}

/** Serves requests to enter a room. Each is answered by ROOM_JOINED or ROOM_REJECT. */
export type RoomEntry = {
  /** Resolves when the request is answered, or when its client is gone. */
  enter(participant: Participant, request: EnterRequest): Promise<void>
  reject(participant: Participant, kind: number, reason: string): void
}

/** A participant on the connection that asked; it may be gone before the answer is there. */
type Asker = { participant: Participant; receiver: Receiver }

/** A name whose room is being made. Requests for it wait, in order. */
type Reservation = { released: Promise<void> }

/**
 * An entry, with the leave that follows it, costs as much as the room has members, who are notified
 * of both. So one connection that comes and goes moves a room of 1,000 at most 20 times a second.
 */
const entryRate: Rate = { burst: 40_000, perSec: 20_000 }

export function createRoomEntry(deps: RoomEntryDeps): RoomEntry {
  const { config, clock, log, metrics, hooks, rooms } = deps
  const reserved = new Map<string, Reservation>()
  let making = 0

  function reject({ receiver }: Participant, kind: number, reason: string): void {
    metrics.room_rejects_total += 1
    const body = roomRejectBody.encode({ request_kind: kind, reason })
    receiver.deliver(outgoingFrame(kinds.ROOM_REJECT.first, body), false)
  }

  async function enter(participant: Participant, request: EnterRequest): Promise<void> {
    const asker = { participant, receiver: participant.receiver }
    const refusal = await tryToEnter(asker, request)
    if (refusal !== undefined && isThere(asker)) reject(participant, request.kind, refusal)
  }

  /** The reason of a refusal; undefined when the request was served or its client is gone. */
  async function tryToEnter(asker: Asker, request: EnterRequest): Promise<string | undefined> {
    const { target, options } = request
    for (;;) {
      if (!hooks.admit()) return 'game script unavailable'
      if (target.by === 'id') return join(asker, rooms.byId(target.room_id), options)
      const { name, mayJoin } = target
      const taken = name === null ? undefined : rooms.byName(name)
      if (taken !== undefined) return mayJoin ? join(asker, taken, options) : 'room name taken'
      const reservation = name === null ? undefined : reserved.get(name)
      if (reservation === undefined) return create(asker, name, options)
      await reservation.released
      if (!isThere(asker)) return undefined
    }
  }

  /** An error in here is one of the server; the client gets what it gets of a script's error. */
  async function orRefuse(
    refusal: string,
    work: Promise<string | undefined>,
  ): Promise<string | undefined> {
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
    if (!payFor(asker.participant, before.room)) return 'too many requests'
    const { context } = asker.participant
    const answer = await hooks.roomJoin(context, { room: before.room.row(), options })
    if (!isThere(asker)) return undefined
    const admission = admissionFrom(answer)
    if (admission.verdict === 'failed') return 'join check failed'
    if (admission.verdict === 'refused') return admission.text ?? 'join refused'
    // The room may have changed while the script was asked.
    const after = objection(asker, room)
    if (typeof after === 'string') return after
    return admit(asker, after.room)
  }

  /** Takes the cost of an entry; false when the connection has entered too much lately. */
  function payFor(participant: Participant, { members }: Room): boolean {
    const cost = { calls: 1 + members.length, nowMs: clock.monotonicMs() }
    const bucket = takeCalls(participant.entries, entryRate, cost)
    if (bucket !== undefined) participant.entries = bucket
    return bucket !== undefined
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
  ): Promise<string | undefined> {
    if (!deps.mayMakeRooms()) return 'room temporarily unavailable'
    if (rooms.size + making >= config.max_rooms) return 'too many rooms'
    const release = reserve(name)
    try {
      const answer = await hooks.roomCreate(asker.participant.context, { name, options })
      if (!isThere(asker)) return undefined
      const label = labelFrom(answer, defaultLabel(name ?? ''))
      if (label.verdict === 'failed') return 'room creation failed'
      if (label.verdict === 'refused') return label.text ?? 'room creation refused'
      if (!deps.mayMakeRooms()) return 'room temporarily unavailable'
      admit(asker, rooms.make(name, label.value))
      return undefined
    } finally {
      release()
    }
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

  return { enter, reject }
}

/** False when the connection is gone: its participant has ended, or waits for its return. */
function isThere({ participant, receiver }: Asker): boolean {
  return participant.receiver === receiver
}
