import {
  type Departure,
  kinds,
  type PresenceEntry,
  type PresenceEvent,
  presenceEntriesMax,
  roomPresenceBody,
} from '@guildhall/contract'
import { type OutgoingFrame, outgoingFrame } from '../../frames/outgoing-frame.ts'
import { type Member, type PresenceVersion, presenceVersion } from './member.ts'
import type { Room } from './room.ts'

/** What members that asked for it are sent about the others: joins, leaves, drops and returns. */

/** Sends the members as they are now; nothing to a client that did not ask. */
export function sendSnapshot(room: Room, { receiver, flags }: Member): void {
  const version = presenceVersion(flags)
  if (version === undefined) return
  const members = room.membersById()
  const size = presenceEntriesMax[version]
  for (let start = 0; start < members.length; start += size) {
    const part = members.slice(start, start + size)
    const body = roomPresenceBody.encode({
      version,
      event: 'snapshot',
      more: start + size < members.length,
      room_id: room.id,
      entries: part.map((member) => entryOf(member, version === 2 ? dropState(member) : null)),
    })
    receiver.deliver(outgoingFrame(kinds.ROOM_PRESENCE.first, body), false)
  }
}

/** Notifies the other members of `about`. In version 1 a drop and a return send nothing. */
export function sendNotice(
  room: Room,
  about: Member,
  change: { event: PresenceEvent; reason: PresenceEntry['reason'] },
): void {
  const frames: { [version in PresenceVersion]?: OutgoingFrame } = {}
  const isNew = change.event === 'dropped' || change.event === 'returned'
  for (const member of room.members) {
    if (member === about || !member.isConnected) continue
    const version = presenceVersion(member.flags)
    if (version === undefined || (version === 1 && isNew)) continue
    frames[version] ??= noticeFrame(room, about, { ...change, version })
    member.receiver.deliver(frames[version], false)
  }
}

/** Notifies the leaver itself. */
export function sendOwnLeft(room: Room, leaver: Member, reason: Departure): void {
  const version = presenceVersion(leaver.flags)
  if (version === undefined) return
  leaver.receiver.deliver(noticeFrame(room, leaver, { event: 'left', reason, version }), false)
}

function noticeFrame(
  room: Room,
  about: Member,
  change: { event: PresenceEvent; reason: PresenceEntry['reason']; version: PresenceVersion },
): OutgoingFrame {
  const { event, reason, version } = change
  const entries = [entryOf(about, reason)]
  const body = roomPresenceBody.encode({ version, event, more: false, room_id: room.id, entries })
  return outgoingFrame(kinds.ROOM_PRESENCE.first, body)
}

function entryOf({ context }: Member, reason: PresenceEntry['reason']): PresenceEntry {
  const { participant, user_id, username } = context
  return { participant, user_id, username, reason }
}

function dropState({ isConnected }: Member): 'dropped' | null {
  return isConnected ? null : 'dropped'
}
