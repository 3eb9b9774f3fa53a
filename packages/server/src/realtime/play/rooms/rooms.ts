import {
  type Departure,
  kinds,
  matchClosedBody,
  roomJoinedBody,
  type TerminationReason,
} from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { MatchRecorder } from '../../../kernel/play/match-recorder.ts'
import type { SavedState, TickRoom } from '../../../kernel/play/room-commands.ts'
import type {
  BoundMatch,
  MatchEvent,
  RoomHooks,
  TicketProperties,
} from '../../../kernel/play/room-hooks.ts'
import type { Label } from '../../../kernel/play/rooms.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import { nowhere } from '../../play.port.ts'
import { type Participant, placeOf } from '../participants/participant.ts'
import type { Registry } from '../participants/registry.ts'
import type { Member } from './member.ts'
import { sendNotice, sendOwnLeft } from './presence.ts'
import { Room } from './room.ts'
import type { Snapshots } from './snapshots.ts'
import type { StateFollowing } from './states/following.ts'

/** The rooms of this node: who is in them, what they raise, and how they end. */
export type Rooms = {
  /** The id of a room that is about to be made. */
  nextId(): number
  /** The ids of a room that may be made. */
  reserve(id?: number): RoomIds
  /** Makes a room that nobody is in yet; it begins with its first member or with `open`. */
  make(name: string | null, label: Label, reserved?: RoomIds): Room
  /** Begins a room that is held open by handoff tokens. */
  open(room: Room): void
  /**
   * Moves a connected participant into a room, in one step; a member is sent ROOM_JOINED again.
   * False when the participant or the room has gone.
   */
  admit(participant: number, roomId: number, properties?: TicketProperties): boolean
  /** Sends ROOM_JOINED, again to a member. */
  sendJoined(member: Member, room: Room): void
  /** Takes a participant out of its room, if it is in one; the room it left. */
  leave(participant: Participant, departure: Departure): Room | undefined
  /** Removes a connected member, which gets MATCH_CLOSED. */
  remove(member: Participant, room: Room): void
  /** A handoff token of the room is used or over. */
  releasePlace(room: Room): void
  /**
   * The server ends a room. `endDropped` ends a member that is not connected; the others are asked
   * to queue again, but by an operator.
   */
  close(room: Room, endDropped: (participant: number) => void, options?: { requeue: boolean }): void
  relabel(room: Room, label: Partial<Label>): void
  /** The script keeps the state of the room by this definition from now on. */
  giveState(room: Room, definition: string): void
  /** The script is making the state of a room, and may hand it over before the room is there. */
  expectState(roomId: number): void
  /** What the script has handed over; nothing for a room without state. */
  keepState(roomId: number, saved: SavedState): void
  /** The state that was expected is not wanted any more. */
  refuseState(roomId: number): void
  byId(id: number): Room | undefined
  byName(name: string): Room | undefined
  /** By id ascending. */
  all(): Iterable<Room>
  tickRooms(): readonly TickRoom[]
  /** Listed rooms by id ascending. */
  listed(): readonly Room[]
  readonly size: number
}

/** What names a room before it is there. */
export type RoomIds = { room_id: number; match_id: string }

export type RoomsDeps = {
  clock: Clock
  metrics: GatewayMetrics
  hooks: RoomHooks
  records: MatchRecorder
  snapshots: Snapshots
  states: Pick<StateFollowing, 'entered' | 'left'>
  registry: Pick<Registry, 'byId' | 'roomless' | 'touch'>
  nextRoomId(): number
  /** A name is free again, for the other nodes too. */
  releaseName(name: string, roomId: number): void
  newMatchId(): string
}

export function createRooms(deps: RoomsDeps): Rooms {
  const { clock, metrics, hooks, records, snapshots, states, registry } = deps
  const { roomless } = registry
  const rooms = new Map<number, Room>()
  const names = new Map<string, Room>()
  let ticking: TickRoom[] | undefined
  /** What the script has handed over of rooms that are being made. */
  const firstStates = new Map<number, SavedState | undefined>()
  let listed: Room[] | undefined

  /** What was derived from all rooms and their labels is made again when somebody asks. */
  function forgetDerived(): void {
    ticking = undefined
    listed = undefined
    metrics.rooms_active = rooms.size
  }

  function countState(before: SavedState | undefined, after: SavedState | undefined): void {
    metrics.state_bytes += (after?.bytes ?? 0) - (before?.bytes ?? 0)
  }

  const reserve = (id = deps.nextRoomId()) => ({ room_id: id, match_id: deps.newMatchId() })

  function raise(room: Room, event: MatchEventPart): void {
    hooks.match({ ...room.matchContext(), ...event }, ignore)
  }

  function open(room: Room): void {
    room.phase = 'opened'
    const { id, matchId, name, label, binding } = room
    const opened_at_unix_ms = clock.nowUnixMs()
    room.openedAtUnixMs = opened_at_unix_ms
    records.opened({ match_id: matchId, room_id: id, name, label, opened_at_unix_ms, binding })
    raise(room, { event: 'created' })
  }

  function end(room: Room, termination_reason: TerminationReason): void {
    if (room.phase === 'ended') return
    const isKnown = room.phase !== 'new'
    room.phase = 'ended'
    rooms.delete(room.id)
    countState(room.state?.saved, undefined)
    if (room.name !== null) {
      names.delete(room.name)
      deps.releaseName(room.name, room.id)
    }
    forgetDerived()
    if (!isKnown) return
    const context = room.matchContext()
    const settled = new Promise<void>((resolve) => {
      hooks.match({ ...context, event: 'ended', termination_reason }, resolve)
    })
    const closed_at_unix_ms = clock.nowUnixMs()
    records.ended(room.matchId, { termination_reason, closed_at_unix_ms, settled })
  }

  /** A room lives while it has members or places that are held. */
  function endIfEmpty(room: Room): void {
    if (room.members.length > 0 || room.heldPlaces > 0 || room.closing) return
    end(room, room.phase === 'started' ? 'final_departure' : 'formation_abandoned')
  }

  /** Everything of a leave but what the leaver itself is sent last. */
  function takeOut(participant: Participant, departure: Departure): Room | undefined {
    const { room, isConnected } = participant
    if (room === undefined) return undefined
    room.members = room.members.filter((member) => member !== participant)
    participant.room = undefined
    participant.context = { ...participant.context, room_id: null, match_id: null }
    participant.receiver.placed(nowhere)
    registry.touch(participant)
    if (isConnected && !participant.relayed) roomless.add(participant)
    const { participant: id, user_id, username } = participant.context
    raise(room, { event: 'leave', participant: id, user_id, username })
    states.left(participant, room)
    if (!room.closing) sendNotice(room, participant, { event: 'left', reason: departure })
    snapshots.end(participant)
    if (isConnected) sendOwnLeft(room, participant, departure)
    endIfEmpty(room)
    return room
  }

  function putIn(participant: Participant, room: Room, properties: TicketProperties | null): void {
    if (room.phase === 'new') open(room)
    room.members = [...room.members, participant]
    participant.room = room
    participant.context = {
      ...participant.context,
      room_id: room.id,
      match_id: room.matchId,
    }
    participant.receiver.placed(placeOf(participant))
    registry.touch(participant)
    roomless.delete(participant)
    if (room.phase === 'opened') {
      room.phase = 'started'
      raise(room, { event: 'started' })
    }
    const { participant: id, user_id, username } = participant.context
    raise(room, { event: 'join', participant: id, user_id, username, properties })
    records.admitted(room.matchId, room.members.length)
  }

  function sendJoined({ receiver }: Member, { id, label }: Room): void {
    const { map, mode } = label
    const body = roomJoinedBody.encode({ room_id: id, map, mode })
    receiver.deliver(outgoingFrame(kinds.ROOM_JOINED.first, body), false)
  }

  function sendClosed({ receiver }: Member, room: Room, requeue: boolean): void {
    const body = matchClosedBody.encode({ room_id: room.id, reason: 0, requeue })
    receiver.deliver(outgoingFrame(kinds.MATCH_CLOSED.first, body), false)
  }

  return {
    nextId: deps.nextRoomId,
    reserve,
    make(name, label, { room_id: id, match_id } = reserve()) {
      const made = { id, matchId: match_id, binding: hooks.binding() }
      const room = new Room({ ...made, name, label })
      rooms.set(room.id, room)
      if (name !== null) names.set(name, room)
      forgetDerived()
      return room
    },
    open,
    admit(id, roomId, properties) {
      const participant = registry.byId(id)
      const room = rooms.get(roomId)
      if (room === undefined) return false
      if (!participant?.isConnected) {
        endIfEmpty(room)
        return false
      }
      if (participant.room === room) {
        sendJoined(participant, room)
        return true
      }
      const { receiver } = participant
      takeOut(participant, 'left')
      participant.away?.left()
      participant.away = undefined
      // What it was sent about the old room may have ended a connection that does not read.
      if (participant.receiver !== receiver || room.phase === 'ended') {
        endIfEmpty(room)
        return false
      }
      putIn(participant, room, properties ?? null)
      sendJoined(participant, room)
      if (participant.room !== room) return false
      snapshots.send(room, participant)
      if (participant.room !== room) return false
      states.entered(participant)
      sendNotice(room, participant, { event: 'joined', reason: null })
      return true
    },
    sendJoined,
    leave: takeOut,
    remove(member, room) {
      sendClosed(member, room, false)
      if (member.room === room) takeOut(member, 'removed')
    },
    releasePlace(room) {
      room.heldPlaces -= 1
      endIfEmpty(room)
    },
    close(room, endDropped, { requeue } = { requeue: true }) {
      room.closing = true
      const hadMembers = room.members.length > 0
      for (const member of room.members) {
        const { participant: id } = member.context
        if (!member.isConnected) {
          endDropped(id)
          continue
        }
        sendClosed(member, room, requeue)
        const participant = registry.byId(id)
        if (participant?.room === room) takeOut(participant, 'removed')
      }
      const wasStarted = room.phase === 'started'
      if (hadMembers) end(room, 'server_closed')
      else end(room, wasStarted ? 'final_departure' : 'formation_abandoned')
    },
    relabel(room, label) {
      const { state } = room
      // The mode of a room with state names what keeps it.
      const fixed = state === undefined ? undefined : { mode: state.definition }
      room.label = { ...room.label, ...label, ...fixed }
      if (label.tick !== undefined || label.listed !== undefined) forgetDerived()
      if (room.phase !== 'new') records.labelled(room.matchId, room.label)
    },
    expectState(roomId) {
      firstStates.set(roomId, undefined)
    },
    keepState(roomId, saved) {
      const state = rooms.get(roomId)?.state
      if (state !== undefined) {
        countState(state.saved, saved)
        state.saved = saved
      } else if (firstStates.has(roomId)) {
        firstStates.set(roomId, saved)
      }
    },
    giveState(room, definition) {
      const saved = firstStates.get(room.id)
      room.state = { definition, saved }
      countState(undefined, saved)
      firstStates.delete(room.id)
      forgetDerived()
    },
    refuseState: (roomId) => void firstStates.delete(roomId),
    byId: (id) => rooms.get(id),
    byName: (name) => names.get(name),
    all: () => rooms.values(),
    tickRooms() {
      ticking ??= [...rooms.values()].filter(({ label }) => label.tick).map(tickRoom)
      return ticking
    },
    listed() {
      listed ??= [...rooms.values()].filter(({ label }) => label.listed)
      return listed
    },
    get size() {
      return rooms.size
    },
  }
}

/** A match event without what every event says about its room. */
type MatchEventPart = MatchEvent extends infer Event
  ? Event extends MatchEvent
    ? Omit<Event, keyof BoundMatch>
    : never
  : never

function tickRoom({ id, matchId, binding, state }: Room): TickRoom {
  return {
    room_id: id,
    match_id: matchId,
    generation: binding?.generation ?? null,
    definition: state?.definition ?? null,
  }
}

function ignore(): void {}
