import {
  kinds,
  type PresenceEntry,
  presenceEntriesMax,
  roomPresenceBody,
} from '@guildhall/contract'
import { atEndOfTurn, type Clock } from '../../../kernel/clock.ts'
import { createDeadlineQueue } from '../../../kernel/time/deadline-queue.ts'
import { type OutgoingFrame, outgoingFrame } from '../../frames/outgoing-frame.ts'
import {
  type Member,
  type PresenceVersion,
  presenceVersion,
  type RunningSnapshot,
} from './member.ts'
import type { Room } from './room.ts'

/** The snapshots of presence: who is in a room, for members that asked for it. */
export type Snapshots = {
  /** Sends the members as they are now; nothing to a client that did not ask. */
  send(room: Room, member: Member): void
  /**
   * Sends one because the client has changed what it asks for: at once, or when a second has passed
   * since the one before.
   */
  sendRarely(member: RoomMember): void
  /** The member goes: what it is being sent ends here. */
  end(member: Member): void
  stop(): void
}

type RoomMember = Member & { readonly room: Room | undefined }

/** Time for snapshots in one turn of the event loop; what is left over goes on in the next. */
const turnMs = 5
const askedEveryMs = 1000

export function createSnapshots(clock: Clock): Snapshots {
  /** In the order in which they began. */
  const running = new Set<Member>()
  let spentMs = 0
  let isTurnCounted = false
  /** Who was sent one by `sendRarely` within the last second, and who wants another one. */
  const recent = new Set<RoomMember>()
  const wanting = new Set<Member>()
  const rests = createDeadlineQueue<RoomMember>({ clock, delayMs: askedEveryMs }, (member) => {
    recent.delete(member)
    if (wanting.delete(member)) sendRarely(member)
  })

  function run(): void {
    for (const member of running) {
      while (spentMs < turnMs && step(member)) {}
      if (spentMs >= turnMs) break
    }
    if (isTurnCounted || (running.size === 0 && spentMs === 0)) return
    isTurnCounted = true
    atEndOfTurn(() => {
      isTurnCounted = false
      spentMs = 0
      if (running.size > 0) run()
    })
  }

  /** Sends the next part; false when the snapshot is complete, or nobody is there for it. */
  function step(member: Member): boolean {
    const { snapshot } = member
    if (snapshot === undefined || snapshot.receiver !== member.receiver) {
      forget(member)
      return false
    }
    const beganMs = clock.monotonicMs()
    const frame = snapshot.frames[snapshot.sent] ?? nextFrame(snapshot)
    snapshot.sent += 1
    const isLast = snapshot.sent === countParts(snapshot)
    if (isLast) forget(member)
    member.receiver.deliver(frame, false)
    if (isLast) release(member, snapshot)
    spentMs += clock.monotonicMs() - beganMs
    return !isLast
  }

  function forget(member: Member): void {
    running.delete(member)
    member.snapshot = undefined
  }

  function send(room: Room, member: Member): void {
    wanting.delete(member)
    const { receiver, flags } = member
    const version = presenceVersion(flags)
    if (version === undefined) return
    end(member)
    const members = room.membersById()
    const frames = room.presenceFrames(version)
    member.snapshot = { roomId: room.id, receiver, version, members, frames, sent: 0, held: [] }
    running.add(member)
    run()
  }

  function sendRarely(member: RoomMember): void {
    if (recent.has(member)) {
      wanting.add(member)
    } else if (member.room !== undefined && presenceVersion(member.flags) !== undefined) {
      recent.add(member)
      rests.add(member)
      send(member.room, member)
    }
  }

  function end(member: Member): void {
    const { snapshot } = member
    if (snapshot === undefined) return
    forget(member)
    if (snapshot.receiver !== member.receiver) return
    member.receiver.deliver(frameOf(snapshot, [], false), false)
    release(member, snapshot)
  }

  return {
    send,
    sendRarely,
    end,
    stop() {
      for (const member of recent) rests.remove(member)
    },
  }
}

/** What happened to others meanwhile, in its order. */
function release(member: Member, { receiver, held }: RunningSnapshot): void {
  for (const frame of held) if (member.receiver === receiver) receiver.deliver(frame, false)
}

function countParts({ members, version }: RunningSnapshot): number {
  return Math.max(1, Math.ceil(members.length / presenceEntriesMax[version]))
}

/** Encodes the part that comes next; others who are sent the same members take it from there. */
function nextFrame(snapshot: RunningSnapshot): OutgoingFrame {
  const { members, version, sent, frames } = snapshot
  const size = presenceEntriesMax[version]
  const end = (sent + 1) * size
  const frame = frameOf(snapshot, members.slice(sent * size, end), end < members.length)
  frames.push(frame)
  return frame
}

function frameOf(
  { roomId, version }: RunningSnapshot,
  members: readonly Member[],
  more: boolean,
): OutgoingFrame {
  const entries = members.map((member) => entryOf(member, version))
  const part = { version, event: 'snapshot' as const, more, room_id: roomId, entries }
  return outgoingFrame(kinds.ROOM_PRESENCE.first, roomPresenceBody.encode(part))
}

function entryOf({ context, isConnected }: Member, version: PresenceVersion): PresenceEntry {
  const { participant, user_id, username } = context
  const reason = version === 2 && !isConnected ? 'dropped' : null
  return { participant, user_id, username, reason }
}
