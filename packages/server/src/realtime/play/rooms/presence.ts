import {
  type Departure,
  kinds,
  type PresenceEntry,
  type PresenceEvent,
  roomPresenceBody,
} from '@guildhall/contract'
import { type OutgoingFrame, outgoingFrame } from '../../frames/outgoing-frame.ts'
import { type Member, type PresenceVersion, presenceVersion } from './member.ts'
import type { Room } from './room.ts'

/** What members that asked for it are sent about the others: joins, leaves, drops and returns. */

/** Notifies the other members of `about`. In version 1 a drop and a return send nothing. */
export function sendNotice(
  room: Room,
  about: Member,
  change: { event: PresenceEvent; reason: PresenceEntry['reason'] },
): void {
  const frames: { [version in PresenceVersion]?: OutgoingFrame } = {}
  const isNew = change.event === 'dropped' || change.event === 'returned'
  if (isNew) room.forgetPresence()
  for (const member of room.members) {
    if (member === about || !member.isConnected) continue
    const version = presenceVersion(member.flags)
    if (version === undefined || (version === 1 && isNew)) continue
    frames[version] ??= noticeFrame(room, about, { ...change, version })
    deliver(member, frames[version])
  }
}

/** Notifies the leaver itself. */
export function sendOwnLeft(room: Room, leaver: Member, reason: Departure): void {
  const version = presenceVersion(leaver.flags)
  if (version === undefined) return
  deliver(leaver, noticeFrame(room, leaver, { event: 'left', reason, version }))
}

/** Behind the snapshot that the member is being sent, if there is one. */
function deliver({ receiver, snapshot }: Member, frame: OutgoingFrame): void {
  if (snapshot !== undefined && snapshot.receiver === receiver) snapshot.held.push(frame)
  else receiver.deliver(frame, false)
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
