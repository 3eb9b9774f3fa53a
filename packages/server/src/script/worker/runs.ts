import type { CallGroup, CallRecord } from '../wire/call-records.ts'
import { hookCode } from '../wire/hooks.ts'
import { type Ending, noReply, status } from './endings.ts'
import type { Output } from './output.ts'
import { noRooms } from './own-call.ts'

/** The runs of a call that has one for each room, and is answered when all have settled. */
export function runsOf(call: CallRecord, rooms: readonly (number | null)[]): CallRecord[] {
  if (rooms.length === 0) return [call]
  const group = { left: rooms.length, cpuUs: 0, failed: undefined }
  const runs: CallRecord[] = []
  for (let n = 0; n < rooms.length; n += 1) {
    runs[n] = { ...call, room_id: rooms[n] ?? null, body: noRooms, group }
  }
  return runs
}

type Run = CallRecord & { group: CallGroup }

export function hasGroup(call: CallRecord): call is Run {
  return call.group !== undefined
}

/** Reports how a run has ended. An interrupt may make this happen twice for the same one. */
export function endRun(run: Run, cpuUs: number, ending: Ending, output: Output): void {
  const { id, hook, group } = run
  if (!run.isOver) {
    run.isOver = true
    group.left -= 1
    group.cpuUs += cpuUs
  }
  if (ending.status !== status.ok) {
    // A hand-over needs all rooms; a tick goes on without those that fail.
    if (hook === hookCode.state_save) group.failed = ending
    else output.failed(id, ending.status, { ...ending, cpuUs })
  }
  if (group.left > 0) return
  const end = group.failed ?? noReply
  output.done(id, end.status, { ...end, cpuUs: group.cpuUs })
}
