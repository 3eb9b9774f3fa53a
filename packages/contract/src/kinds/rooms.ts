import { type BodyCodec, BodyReader, BodyWriter } from './bytes.ts'

/** Longest name, map and mode of a room, in bytes of UTF-8. */
export const roomTextBytesMax = 128

/** The body of ROOM_CREATE. An empty name means `default`. */
export type RoomCreate = { name: string }

/** @example roomCreateBody.encode({ name: 'lobby' }) */
export const roomCreateBody: BodyCodec<RoomCreate> = {
  encode: ({ name }) => new BodyWriter().str(name).finish(),
  decode: (body) => ({ name: new BodyReader(body).str() }),
}

/** Longest options of ROOM_ENTER, in bytes of UTF-8. */
export const roomOptionsBytesMax = 1024

/**
 * The body of ROOM_ENTER. `join` enters by id, `join_or_create` by name (empty means `default`),
 * `create` makes a room whose name must be free (empty means none). `options` is the text of a
 * JSON object for the game's script, or empty.
 */
export type RoomEnter =
  | { mode: 'join'; room_id: number; options: string }
  | { mode: 'join_or_create' | 'create'; name: string; options: string }

/** The modes of ROOM_ENTER, in the order of the mode byte 0, 1, 2. */
export const roomEnterModes = ['join', 'join_or_create', 'create'] as const

/** @example roomEnterBody.encode({ mode: 'create', name: 'lobby', options: '{"team":1}' }) */
export const roomEnterBody: BodyCodec<RoomEnter> = {
  encode(enter) {
    const writer = new BodyWriter().u8(1).u8(roomEnterModes.indexOf(enter.mode))
    if (enter.mode === 'join') writer.safe(enter.room_id)
    else writer.str(enter.name)
    return writer.str(enter.options).finish()
  },
  decode(body) {
    const reader = new BodyReader(body).literal(1)
    const mode = reader.oneOf(roomEnterModes, reader.u8())
    const target = mode === 'join' ? { mode, room_id: reader.id() } : { mode, name: reader.str() }
    const enter = { ...target, options: reader.str() }
    reader.end()
    return enter
  },
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

/** The body of ROOM_REJECT: the kind of the refused request (21, 22 or 48) and a short text. */
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
