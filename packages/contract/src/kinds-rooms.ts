import { type BodyCodec, BodyReader, BodyWriter } from './kinds-bytes.ts'

/** Longest name, map and mode of a room, in bytes of UTF-8. */
export const roomTextBytesMax = 128

/** The body of ROOM_CREATE. An empty name means `default`. */
export type RoomCreate = { name: string }

/** @example roomCreateBody.encode({ name: 'lobby' }) */
export const roomCreateBody: BodyCodec<RoomCreate> = {
  encode: ({ name }) => new BodyWriter().str(name).finish(),
  decode: (body) => ({ name: new BodyReader(body).str() }),
}

/** The body of ROOM_JOIN, ROOM_LEAVE and ROOM_MAP_READY. */
export type RoomReference = { room_id: number }

/** An id above 2^53 - 1 decodes to a rounded number that names no room. */
export const roomReferenceBody: BodyCodec<RoomReference> = {
  encode: ({ room_id }) => new BodyWriter().safe(room_id).finish(),
  decode: (body) => ({ room_id: new BodyReader(body).id() }),
}

/** The body of ROOM_JOINED. */
export type RoomJoined = { room_id: number; map: string; mode: string }

/** @example roomJoinedBody.encode({ room_id: 7, map: 'arena1', mode: 'ffa' }) */
export const roomJoinedBody: BodyCodec<RoomJoined> = {
  encode: ({ room_id, map, mode }) => new BodyWriter().safe(room_id).str(map).str(mode).finish(),
  decode(body) {
    const reader = new BodyReader(body)
    return { room_id: reader.safe(), map: reader.str(), mode: reader.str() }
  },
}

/** The body of ROOM_REJECT: the kind of the refused request (21 or 22) and a short text. */
export type RoomReject = { request_kind: number; reason: string }

/** @example roomRejectBody.encode({ request_kind: 22, reason: 'room is full' }) */
export const roomRejectBody: BodyCodec<RoomReject> = {
  encode: ({ request_kind, reason }) => new BodyWriter().u16(request_kind).str(reason).finish(),
  decode(body) {
    const reader = new BodyReader(body)
    return { request_kind: reader.u16(), reason: reader.str() }
  },
}

/** The body of MATCH_CLOSED. Reason 0 is the server; `requeue` asks the client to queue again. */
export type MatchClosed = { room_id: number; reason: number; requeue: boolean }

/** @example matchClosedBody.encode({ room_id: 7, reason: 0, requeue: true }) */
export const matchClosedBody: BodyCodec<MatchClosed> = {
  encode: ({ room_id, reason, requeue }) =>
    new BodyWriter()
      .safe(room_id)
      .u8(reason)
      .u8(requeue ? 1 : 0)
      .finish(),
  decode(body) {
    const reader = new BodyReader(body)
    return { room_id: reader.safe(), reason: reader.u8(), requeue: reader.u8() !== 0 }
  },
}

/** Why a member left a room, in the order of the reason byte 1, 2, 3. */
export const departures = ['left', 'disconnected', 'removed'] as const
export type Departure = (typeof departures)[number]

/** A member in ROOM_PRESENCE. Guests have no user id. */
export type PresenceEntry = {
  participant: number
  user_id: string | null
  /** Null unless the event is `left`. */
  departure: Departure | null
}

/** The body of ROOM_PRESENCE. `more` announces further parts of one snapshot. */
export type RoomPresence = {
  event: (typeof presenceEvents)[number]
  more: boolean
  room_id: number
  /** At most 512 entries. */
  entries: PresenceEntry[]
}

/** The events of ROOM_PRESENCE, in the order of the event byte 1, 2, 3. */
export const presenceEvents = ['snapshot', 'joined', 'left'] as const

/** Most entries of one ROOM_PRESENCE. */
export const presenceEntriesMax = 512

/** @example roomPresenceBody.decode(envelope.body).entries.map((entry) => entry.participant) */
export const roomPresenceBody: BodyCodec<RoomPresence> = {
  encode({ event, more, room_id, entries }) {
    if (entries.length > presenceEntriesMax) throw new RangeError('at most 512 entries')
    const writer = new BodyWriter()
      .u8(1)
      .u8(presenceEvents.indexOf(event) + 1)
      .u8(more ? 1 : 0)
      .safe(room_id)
      .u16(entries.length)
    for (const { participant, user_id, departure } of entries) {
      const reason = departure === null ? 0 : departures.indexOf(departure) + 1
      writer
        .safe(participant)
        .u8(reason)
        .str(user_id ?? '')
    }
    return writer.finish()
  },
  decode(body) {
    const reader = new BodyReader(body).literal(1)
    const event = reader.oneOf(presenceEvents, reader.u8() - 1)
    const more = (reader.u8() & 1) === 1
    const room_id = reader.safe()
    const count = reader.u16()
    const entries: PresenceEntry[] = []
    for (let index = 0; index < count; index += 1) entries.push(presenceEntry(reader))
    return { event, more, room_id, entries }
  },
}

function presenceEntry(reader: BodyReader): PresenceEntry {
  const participant = reader.safe()
  const departure = reader.oneOf([null, ...departures], reader.u8())
  return { participant, departure, user_id: reader.str() || null }
}
