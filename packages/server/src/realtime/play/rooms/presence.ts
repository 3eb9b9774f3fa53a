import {
  type Departure,
  kinds,
  type PresenceEntry,
  type PresenceEvent,
  presenceEntriesMax,
  roomPresenceBody,
  sessionFlags,
} from '@guildhall/contract'
import type { LiveSession } from '../../connection/live/live-session.ts'
import { type OutgoingFrame, outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Participant } from '../participants/participant.ts'
import type { Room } from './room.ts'

type Version = 1 | 2

/** What members that asked for it are sent about the others: joins, leaves, drops and returns. */

/** Sends the members as they are now; nothing to a client that did not ask. */
export function sendSnapshot(room: Room, live: LiveSession): void {
  const version = versionFor(live)
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
    live.send(kinds.ROOM_PRESENCE.first, body)
  }
}

/** Notifies the other members of `about`. In version 1 a drop and a return send nothing. */
export function sendNotice(
  room: Room,
  about: Participant,
  change: { event: PresenceEvent; reason: PresenceEntry['reason'] },
): void {
  const frames: { [version in Version]?: OutgoingFrame } = {}
  const isNew = change.event === 'dropped' || change.event === 'returned'
  for (const member of room.members) {
    const { live } = member
    if (member === about || live === undefined) continue
    const version = versionFor(live)
    if (version === undefined || (version === 1 && isNew)) continue
    frames[version] ??= noticeFrame(room, about, { ...change, version })
    live.deliver(frames[version], false)
  }
}

/** Notifies the leaver itself. */
export function sendOwnLeft(room: Room, live: LiveSession, reason: Departure): void {
  const version = versionFor(live)
  if (version === undefined) return
  const frame = noticeFrame(room, live.participant, { event: 'left', reason, version })
  live.deliver(frame, false)
}

/** Which version the client asked for; undefined when it asked for none. */
export function versionFor({ client }: LiveSession): Version | undefined {
  const flags = client.flags ?? 0
  if ((flags & sessionFlags.presence) === 0) return undefined
  return (flags & sessionFlags.presence_names) === 0 ? 1 : 2
}

function noticeFrame(
  room: Room,
  about: Participant,
  change: { event: PresenceEvent; reason: PresenceEntry['reason']; version: Version },
): OutgoingFrame {
  const { event, reason, version } = change
  const entries = [entryOf(about, reason)]
  const body = roomPresenceBody.encode({ version, event, more: false, room_id: room.id, entries })
  return outgoingFrame(kinds.ROOM_PRESENCE.first, body)
}

function entryOf({ context }: Participant, reason: PresenceEntry['reason']): PresenceEntry {
  const { participant, user_id, username } = context
  return { participant, user_id, username, reason }
}

function dropState({ live }: Participant): 'dropped' | null {
  return live === undefined ? 'dropped' : null
}
