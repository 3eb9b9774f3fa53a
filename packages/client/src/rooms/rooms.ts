import {
  kinds,
  matchClosedBody,
  type RoomEnter,
  type RoomJoined,
  roomEnterBody,
  roomJoinedBody,
  roomOptionsBytesMax,
  roomPresenceBody,
  roomReferenceBody,
  roomRejectBody,
  roomTextBytesMax,
  stringifyExact,
} from '@guildhall/contract/wire'
import { GuildhallError, invalidArgument } from '../error.ts'
import type { CallOptions } from '../realtime/call-options.ts'
import type { RoomCalls, RoomOptions } from '../realtime/connection-types.ts'
import type { Part, Wire } from '../realtime/part.ts'
import type { Calls } from '../realtime/sending/calls.ts'
import { closedError } from '../realtime/sending/calls.ts'
import { utf8Length } from '../realtime/sending/payload.ts'
import { LiveRoom, type RoomDeps } from './live-room.ts'
import { type Answer, type RoomRequest, RoomRequests } from './room-requests.ts'
import type { RoomEnd } from './room-types.ts'

export type Rooms = Part & {
  readonly calls: RoomCalls
  readonly current: LiveRoom | null
  /** Runs a request among the others, for the matchmaker. */
  submit(request: RoomRequest, call: CallOptions): Promise<LiveRoom>
  /** The present request has failed without a word about rooms. */
  refuse(error: GuildhallError): void
}

const optionsDepthMax = 16
const undoPauseMs = 50

/** The room of the moment, and the requests that change it. */
export function createRooms(
  wire: Wire,
  { calls, ...roomDeps }: { calls: Calls } & Omit<RoomDeps, 'self' | 'leave' | 'write'>,
): Rooms {
  const requests = new RoomRequests(wire)
  let current: LiveRoom | null = null
  /** The room of an answer that came too late, until the player has left it. */
  let undoing: number | null = null
  /** Which room the player has left: where that is not known yet, a new link returns to it. */
  let leftId: number | null = null

  function enter(joined: RoomJoined): LiveRoom {
    if (current?.id === joined.room_id) {
      current.relabel(joined)
      return current
    }
    leaveCurrent({ reason: 'moved', requeue: false })
    const { participant, userId, username, write } = wire
    const self = { participant, user_id: userId, username, connected: true }
    current = new LiveRoom(joined, { ...roomDeps, self, leave, write })
    return current
  }

  function leaveCurrent(end: RoomEnd): void {
    const left = current
    current = null
    left?.end(end)
  }

  /** The player is out of a room, as far as the server is concerned. */
  function ended(roomId: number, end: RoomEnd): void {
    if (undoing === roomId) {
      undoing = null
      requests.answer({})
    }
    if (current?.id !== roomId) return
    leaveCurrent(end)
    if (end.reason === 'left') leftId = roomId
    if (!requests.isEntering) requests.answer({})
  }

  function joined(body: Uint8Array): void {
    const label = roomJoinedBody.decode(body)
    leftId = null
    if (!requests.isEntering) return void enter(label)
    if (!requests.isAbandoned || current?.id === label.room_id) {
      requests.answer({ room: enter(label) })
      return
    }
    // Nothing waits for this room any more: the player goes out again.
    undoing = label.room_id
    leftId = undoing
    undo()
  }

  /** Until it has gone out no other request begins, so a full transport is tried again. */
  function undo(): void {
    if (undoing === null || !wire.isOpen) return
    try {
      writeLeave(undoing)
    } catch {
      wire.host.startTimer(undoPauseMs, undo)
    }
  }

  function writeLeave(room_id: number): void {
    wire.write(kinds.ROOM_LEAVE.first, roomReferenceBody.encode({ room_id }))
  }

  function rejected(body: Uint8Array): void {
    const { request_kind, reason } = roomRejectBody.decode(body)
    if (request_kind !== kinds.ROOM_ENTER.first || !requests.isEntering) return
    requests.answer({ error: new GuildhallError('room_refused', reason) })
  }

  function presence(body: Uint8Array): void {
    const notice = roomPresenceBody.decode(body)
    if (notice.room_id !== current?.id) return
    const own = notice.entries.find(({ participant }) => participant === wire.participant)
    if (notice.event !== 'left' || own === undefined) {
      current.take(notice)
      return
    }
    const left = requests.isEntering ? 'moved' : 'left'
    ended(current.id, { reason: own.reason === 'left' ? left : 'removed', requeue: false })
  }

  function ask(request: RoomRequest, call: CallOptions): Promise<LiveRoom | undefined> {
    return new Promise((resolve, reject) => {
      requests.submit(request, call, (answer: Answer) => {
        if ('error' in answer) reject(answer.error)
        else resolve(answer.room)
      })
    })
  }

  async function submit(request: RoomRequest, call: CallOptions): Promise<LiveRoom> {
    if (wire.isClosed) throw closedError()
    const room = await ask(request, call)
    if (!room) throw new GuildhallError('room_refused', 'the room has ended')
    return room
  }

  async function enterBy(target: Target, options: RoomOptions = {}, call: CallOptions = {}) {
    const body = enterBody(target, options)
    return submit(
      {
        type: 'enter',
        begin() {
          wire.write(kinds.ROOM_ENTER.first, body)
          return true
        },
      },
      call,
    )
  }

  async function leave(): Promise<void> {
    if (wire.isClosed || (current === null && requests.isIdle)) return
    await ask({ type: 'leave', begin: beginLeave }, {})
  }

  function beginLeave(): boolean {
    if (current === null) return false
    writeLeave(current.id)
    return true
  }

  return {
    calls: {
      create: (name, options, call) => enterBy({ mode: 'create', name: name ?? '' }, options, call),
      join: (room_id, options, call) => enterBy({ mode: 'join', room_id }, options, call),
      joinOrCreate: (name, options, call) =>
        enterBy({ mode: 'join_or_create', name }, options, call),
      // The reply is what the contract says of this method.
      list: (query = {}) => calls.rpc('rooms.list', query) as ReturnType<RoomCalls['list']>,
      leave,
      get current() {
        return current
      },
    },
    get current() {
      return current
    },
    submit,
    refuse: (error) => requests.answer({ error }),
    opened({ joined }, resumed) {
      undoing = null
      if (joined === null || !resumed) leaveCurrent({ reason: 'connection_lost', requeue: false })
      if (joined !== null) enter(joined)
      // In front of what waits, which may be another room, or this one again.
      if (resumed && current?.id === leftId) writeLeave(leftId)
      else leftId = null
      requests.pump()
    },
    lost(error) {
      current?.lost()
      requests.lost(error)
    },
    closed(error) {
      leaveCurrent({ reason: 'connection_lost', requeue: false })
      requests.closed(error)
    },
    handlers: {
      [kinds.ROOM_JOINED.first]: joined,
      [kinds.ROOM_REJECT.first]: rejected,
      [kinds.ROOM_PRESENCE.first]: presence,
      [kinds.ROOM_STATE.first]: (body) => current?.takeState(body),
      [kinds.ROOM_LEAVE.first]: (body) =>
        ended(roomReferenceBody.decode(body).room_id, { reason: 'left', requeue: false }),
      [kinds.MATCH_CLOSED.first](body) {
        const { room_id, requeue } = matchClosedBody.decode(body)
        ended(room_id, { reason: requeue ? 'server' : 'removed', requeue })
      },
    },
  }
}

type Target =
  | { mode: 'join'; room_id: number }
  | { mode: 'create' | 'join_or_create'; name: string }

/** @throws GuildhallError `invalid_argument` for what the server would refuse as malformed */
function enterBody(target: Target, options: RoomOptions): Uint8Array {
  if (target.mode === 'join') {
    if (!Number.isSafeInteger(target.room_id) || target.room_id < 1) {
      throw invalidArgument('the id of a room is a positive integer')
    }
  } else if (!isRoomName(target.name)) {
    throw invalidArgument('the name of a room has at most 128 bytes and no control characters')
  }
  const enter: RoomEnter = { ...target, options: optionsText(options) }
  return roomEnterBody.encode(enter)
}

function isRoomName(name: unknown): boolean {
  if (typeof name !== 'string' || utf8Length(name) > roomTextBytesMax) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what names must not have.
  return !/[\0-\x1f\x7f]/.test(name)
}

function optionsText(options: RoomOptions): string {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options)
  const text = isObject ? textOf(options) : undefined
  if (text === undefined || utf8Length(text) > roomOptionsBytesMax || isTooDeep(JSON.parse(text))) {
    throw invalidArgument('options are an object of at most 1,024 bytes of JSON and 16 levels')
  }
  return text === '{}' ? '' : text
}

function textOf(options: RoomOptions): string | undefined {
  try {
    return stringifyExact(options)
  } catch {
    return undefined
  }
}

function isTooDeep(value: unknown, level = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (level >= optionsDepthMax) return true
  return Object.values(value).some((member) => isTooDeep(member, level + 1))
}
