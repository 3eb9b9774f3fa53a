import { type BodyCodec, BodyReader, BodyWriter } from './bytes.ts'

/** Why a member left a room. */
export const departures = ['left', 'disconnected', 'removed'] as const
export type Departure = (typeof departures)[number]

/** A member in ROOM_PRESENCE. Guests have neither user id nor username. */
export type PresenceEntry = {
  participant: number
  user_id: string | null
  /** As it was when the member connected. Always null in version 1, which has no names. */
  username: string | null
  /** Why it left, or `dropped` for a member whose seat is kept; null for a connected member. */
  reason: Departure | 'dropped' | null
}

/** The body of ROOM_PRESENCE. `more` announces further parts of one snapshot. */
export type RoomPresence = {
  /** 2 has usernames and the events `dropped` and `returned`. */
  version: 1 | 2
  event: PresenceEvent
  more: boolean
  room_id: number
  /** At most 512 entries, in version 2 at most 256. */
  entries: PresenceEntry[]
}

/** The events of ROOM_PRESENCE, in the order of the event byte 1 to 5; version 1 has three. */
export const presenceEvents = ['snapshot', 'joined', 'left', 'dropped', 'returned'] as const
export type PresenceEvent = (typeof presenceEvents)[number]

/** Most entries of one ROOM_PRESENCE, by version. */
export const presenceEntriesMax = { 1: 512, 2: 256 } as const

/** @throws RangeError for too many entries, and for an event or reason that version 1 lacks */
export const roomPresenceBody: BodyCodec<RoomPresence> = {
  encode({ version, event, more, room_id, entries }) {
    if (entries.length > presenceEntriesMax[version]) throw new RangeError('too many entries')
    const writer = new BodyWriter()
      .u8(version)
      .u8(byteOf(eventsOf[version], event))
      .u8(more ? 1 : 0)
      .safe(room_id)
      .u16(entries.length)
    for (const { participant, user_id, username, reason } of entries) {
      writer.safe(participant)
      writer.u8(reason === null ? 0 : byteOf(reasonsOf[version], reason))
      writer.str(user_id ?? '')
      if (version === 2) writer.str(username ?? '')
    }
    return writer.finish()
  },
  decode(body) {
    const reader = new BodyReader(body)
    const version = reader.oneOf([1, 2] as const, reader.u8() - 1)
    const event = reader.oneOf(eventsOf[version], reader.u8() - 1)
    const more = (reader.u8() & 1) === 1
    const room_id = reader.safe()
    const count = reader.u16()
    const entries: PresenceEntry[] = []
    for (let index = 0; index < count; index += 1) entries.push(readEntry(reader, version))
    return { version, event, more, room_id, entries }
  },
}

const reasons = [...departures, 'dropped'] as const
const reasonsOf = { 1: departures, 2: reasons } as const
const eventsOf = { 1: presenceEvents.slice(0, 3), 2: presenceEvents } as const

/** The values of a closed set count from 1. */
function byteOf<Value>(values: readonly Value[], value: Value | NoInfer<Value>): number {
  const index = values.indexOf(value)
  if (index < 0) throw new RangeError('presence of version 1 has no such event or reason')
  return index + 1
}

function readEntry(reader: BodyReader, version: 1 | 2): PresenceEntry {
  const participant = reader.safe()
  const reason = reader.oneOf([null, ...reasonsOf[version]], reader.u8())
  const user_id = reader.str() || null
  return { participant, user_id, reason, username: version === 2 ? reader.str() || null : null }
}
