import { kinds, roomRejectBody } from '@guildhall/contract'
import type { Log } from '../../../../kernel/log/log.ts'
import type { RoomHooks } from '../../../../kernel/play/room-hooks.ts'
import type { LiveSession } from '../../../connection/live/live-session.ts'
import type { GatewayMetrics } from '../../../metrics.ts'
import type { RoomsConfig } from '../config.ts'
import type { Room } from '../room.ts'
import type { Rooms } from '../rooms.ts'
import { admissionFrom, defaultLabel, labelFrom } from './label-answers.ts'
import type { EnterRequest } from './room-request.ts'

export type RoomEntryDeps = {
  config: RoomsConfig
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
  enter(live: LiveSession, request: EnterRequest): Promise<void>
  reject(live: LiveSession, kind: number, reason: string): void
}

/** A name whose room is being made. Requests for it wait, in order. */
type Reservation = { released: Promise<void> }

export function createRoomEntry(deps: RoomEntryDeps): RoomEntry {
  const { config, log, metrics, hooks, rooms } = deps
  const reserved = new Map<string, Reservation>()
  let making = 0

  function reject(live: LiveSession, kind: number, reason: string): void {
    metrics.room_rejects_total += 1
    live.send(kinds.ROOM_REJECT.first, roomRejectBody.encode({ request_kind: kind, reason }))
  }

  async function enter(live: LiveSession, request: EnterRequest): Promise<void> {
    const refusal = await tryToEnter(live, request)
    if (refusal !== undefined && isThere(live)) reject(live, request.kind, refusal)
  }

  /** The reason of a refusal; undefined when the request was served or its client is gone. */
  async function tryToEnter(live: LiveSession, request: EnterRequest): Promise<string | undefined> {
    const { target, options } = request
    for (;;) {
      if (!hooks.admit()) return 'game script unavailable'
      if (target.by === 'id') return join(live, rooms.byId(target.room_id), options)
      const { name, mayJoin } = target
      const taken = name === null ? undefined : rooms.byName(name)
      if (taken !== undefined) return mayJoin ? join(live, taken, options) : 'room name taken'
      const reservation = name === null ? undefined : reserved.get(name)
      if (reservation === undefined) return create(live, name, options)
      await reservation.released
      if (!isThere(live)) return undefined
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
    live: LiveSession,
    room: Room | undefined,
    options: string,
  ): Promise<string | undefined> {
    const before = objection(live, room)
    if (typeof before === 'string') return before
    if (before.isMember) return rejoin(live, before.room)
    const { context } = live.participant
    const answer = await hooks.roomJoin(context, { room: before.room.row(), options })
    if (!isThere(live)) return undefined
    const admission = admissionFrom(answer)
    if (admission.verdict === 'failed') return 'join check failed'
    if (admission.verdict === 'refused') return admission.text ?? 'join refused'
    // The room may have changed while the script was asked.
    const after = objection(live, room)
    if (typeof after === 'string') return after
    if (after.isMember) return rejoin(live, after.room)
    // What the old room is sent now may fill the queues, and cost the new one its last member.
    return rooms.admit(live, after.room) ? undefined : 'room not found'
  }

  const join = (...request: Parameters<typeof askToJoin>) =>
    orRefuse('join check failed', askToJoin(...request))
  const create = (...request: Parameters<typeof askToCreate>) =>
    orRefuse('room creation failed', askToCreate(...request))

  function rejoin(live: LiveSession, room: Room): undefined {
    rooms.sendJoined(live, room)
  }

  /** What speaks against joining, or the room to join. */
  function objection(
    live: LiveSession,
    room: Room | undefined,
  ): string | { room: Room; isMember: boolean } {
    if (room === undefined || room.phase === 'ended') return 'room not found'
    if (room.binding !== null && room.binding.generation !== hooks.binding()?.generation) {
      return 'room revision changed'
    }
    if (live.participant.room === room) return { room, isMember: true }
    if (!room.label.open) return 'room is closed'
    if (room.isFull(config.max_members)) return 'room is full'
    return { room, isMember: false }
  }

  async function askToCreate(
    live: LiveSession,
    name: string | null,
    options: string,
  ): Promise<string | undefined> {
    if (!deps.mayMakeRooms()) return 'room temporarily unavailable'
    if (rooms.size + making >= config.max_rooms) return 'too many rooms'
    const release = reserve(name)
    try {
      const answer = await hooks.roomCreate(live.participant.context, { name, options })
      if (!isThere(live)) return undefined
      const label = labelFrom(answer, defaultLabel(name ?? ''))
      if (label.verdict === 'failed') return 'room creation failed'
      if (label.verdict === 'refused') return label.text ?? 'room creation refused'
      if (!deps.mayMakeRooms()) return 'room temporarily unavailable'
      rooms.admit(live, rooms.make(name, label.value))
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
function isThere(live: LiveSession): boolean {
  return live.participant.live === live
}
