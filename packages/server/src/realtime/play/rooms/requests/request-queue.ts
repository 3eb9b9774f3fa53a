import { type Envelope, kinds, roomReferenceBody } from '@guildhall/contract'
import type { Log } from '../../../../kernel/log/log.ts'
import { outgoingFrame } from '../../../frames/outgoing-frame.ts'
import type { Participant } from '../../participants/participant.ts'
import type { Registry } from '../../participants/registry.ts'
import type { Rooms } from '../rooms.ts'
import type { RequestLine, RoomTask } from './request-line.ts'
import type { RoomEntry } from './room-entry.ts'
import { readEnterRequest } from './room-request.ts'

/** Runs the room requests of each connection strictly one after another. */
export type RoomRequests = {
  /** ROOM_CREATE, ROOM_JOIN, ROOM_ENTER and ROOM_LEAVE. */
  ask(participant: number, envelope: Envelope): void
  /** Runs what enters a room in another way; false when too many requests wait. */
  run(participant: number, work: () => Promise<void> | undefined): boolean
  /** Lets the holder of a token of a match into its room, wherever that is. */
  redeem(participant: number, roomId: number, token: string): Promise<void>
}

type RoomRequestsDeps = {
  registry: Pick<Registry, 'byId'>
  rooms: Rooms
  entry: RoomEntry
  log: Log
}

const waitingMax = 4

export function createRoomRequests({
  registry,
  rooms,
  entry,
  log,
}: RoomRequestsDeps): RoomRequests {
  /** Adds a task; false when too many wait. */
  function add(participant: Participant, task: RoomTask): boolean {
    participant.requests ??= { waiting: [], running: false }
    const line = participant.requests
    if (!task.isLeave && line.running && refusable(line) >= waitingMax) return false
    // Behind a leave there is no room to leave.
    if (task.isLeave && line.waiting.at(-1)?.isLeave) return true
    line.waiting.push(task)
    advance(participant, line)
    return true
  }

  function advance(participant: Participant, line: RequestLine): void {
    if (line.running) return
    // Another line, or none, is that of another connection.
    while (participant.requests === line) {
      const running = start(line.waiting.shift())
      if (running !== undefined) {
        line.running = true
        void running.then(() => {
          line.running = false
          advance(participant, line)
        })
        return
      }
      if (line.waiting.length > 0) continue
      if (participant.requests === line) participant.requests = undefined
    }
  }

  /** Whatever a request throws, the next one runs: one client's request must not end the node. */
  function start(task: RoomTask | undefined): Promise<void> | undefined {
    const failed = (error: unknown) => log.error('a room request failed', { error })
    try {
      return task?.run()?.catch(failed)
    } catch (error) {
      failed(error)
      return undefined
    }
  }

  function leave(participant: Participant): Promise<void> | undefined {
    const { receiver, away } = participant
    if (away !== undefined) return away.leaveRoom()
    const room = rooms.leave(participant, 'left')
    if (room === undefined) return undefined
    const body = roomReferenceBody.encode({ room_id: room.id })
    receiver.deliver(outgoingFrame(kinds.ROOM_LEAVE.first, body), false)
    return undefined
  }

  function enter(participant: Participant, envelope: Envelope): Promise<void> | undefined {
    const request = readEnterRequest(envelope)
    if (!('malformed' in request)) return entry.enter(participant, request)
    entry.reject(participant, envelope.kind, request.malformed)
    return undefined
  }

  return {
    ask(id, envelope) {
      const participant = registry.byId(id)
      if (!participant?.isConnected) return
      const isLeave = envelope.kind === kinds.ROOM_LEAVE.first
      const run = () => (isLeave ? leave(participant) : enter(participant, envelope))
      if (!add(participant, { isLeave, run })) {
        entry.reject(participant, envelope.kind, 'too many requests')
      }
    },
    async redeem(id, room_id, token) {
      const participant = registry.byId(id)
      if (!participant?.isConnected) return
      const target = { by: 'id' as const, room_id, token }
      await entry.enter(participant, { kind: kinds.ROOM_JOIN.first, target, options: '{}' })
    },
    run(id, work) {
      const participant = registry.byId(id)
      return participant?.isConnected === true && add(participant, { isLeave: false, run: work })
    },
  }
}

function refusable({ waiting }: RequestLine): number {
  return waiting.filter(({ isLeave }) => !isLeave).length
}
