import { type Envelope, kinds, roomReferenceBody } from '@guildhall/contract'
import type { Log } from '../../../../kernel/log/log.ts'
import type { LiveSession } from '../../../connection/live/live-session.ts'
import type { Rooms } from '../rooms.ts'
import type { RoomEntry } from './room-entry.ts'
import { readEnterRequest } from './room-request.ts'

/** What a connection asked of rooms and was not answered yet; one runs, the others wait. */
export type RequestQueue = { waiting: RoomTask[]; running: boolean }

type RoomTask = {
  /** A leave is never refused. */
  isLeave: boolean
  /** Returns at once, or resolves when the next one may run. */
  run(): Promise<void> | undefined
}

/** Runs the room requests of each connection strictly one after another. */
export type RoomRequests = {
  /** ROOM_CREATE, ROOM_JOIN and ROOM_ENTER. */
  enter(live: LiveSession, envelope: Envelope): void
  leave(live: LiveSession): void
  /** Runs what enters a room in another way; false when too many requests wait. */
  run(live: LiveSession, work: () => Promise<void> | undefined): boolean
}

const waitingMax = 4

export function createRoomRequests({
  rooms,
  entry,
  log,
}: {
  rooms: Rooms
  entry: RoomEntry
  log: Log
}): RoomRequests {
  /** Adds a task; false when too many wait. */
  function add(live: LiveSession, task: RoomTask): boolean {
    live.client.requests ??= { waiting: [], running: false }
    const queue = live.client.requests
    if (!task.isLeave && queue.running && refusable(queue) >= waitingMax) return false
    // Behind a leave there is no room to leave.
    if (task.isLeave && queue.waiting.at(-1)?.isLeave) return true
    queue.waiting.push(task)
    advance(live, queue)
    return true
  }

  function advance(live: LiveSession, queue: RequestQueue): void {
    if (queue.running) return
    while (live.participant.live === live) {
      const running = start(queue.waiting.shift())
      if (running !== undefined) {
        queue.running = true
        void running.then(() => {
          queue.running = false
          advance(live, queue)
        })
        return
      }
      if (queue.waiting.length === 0) break
    }
    live.client.requests = undefined
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

  function leave(live: LiveSession): void {
    const room = rooms.leave(live.participant, 'left')
    if (room === undefined) return
    live.send(kinds.ROOM_LEAVE.first, roomReferenceBody.encode({ room_id: room.id }))
  }

  function enter(live: LiveSession, envelope: Envelope): Promise<void> | undefined {
    const request = readEnterRequest(envelope)
    if (!('malformed' in request)) return entry.enter(live, request)
    entry.reject(live, envelope.kind, request.malformed)
    return undefined
  }

  return {
    enter(live, envelope) {
      const added = add(live, { isLeave: false, run: () => enter(live, envelope) })
      if (!added) entry.reject(live, envelope.kind, 'too many requests')
    },
    leave(live) {
      const run = () => {
        leave(live)
        return undefined
      }
      add(live, { isLeave: true, run })
    },
    run: (live, work) => add(live, { isLeave: false, run: work }),
  }
}

function refusable({ waiting }: RequestQueue): number {
  return waiting.filter(({ isLeave }) => !isLeave).length
}
