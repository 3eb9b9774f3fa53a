import { type BodyCodec, BodyReader, BodyWriter } from './bytes.ts'

/** Longest access token in an AUTH body, in bytes. */
export const authTokenBytesMax = 4096

/** The body of AUTH: the access token as UTF-8, or nothing for a guest. */
export type Auth = { access_token: string }

/** @example authBody.encode({ access_token: '' }) // a guest */
export const authBody: BodyCodec<Auth> = {
  encode: ({ access_token }) => new BodyWriter().text(access_token).finish(),
  decode: (body) => ({ access_token: new BodyReader(body).text() }),
}

/** Why a handshake was rejected, in the order of the reason byte 0, 1, 2. */
export const authRejections = [
  'authentication_failed',
  'authentication_required',
  'protocol_violation',
] as const
export type AuthRejection = (typeof authRejections)[number]

/** The body of AUTH_RESULT. After `rejected` the server closes the connection. */
export type AuthResult =
  | { status: 'account'; user_id: string }
  | { status: 'guest' }
  | { status: 'rejected'; reason: AuthRejection }

/** @example authResultBody.decode(new Uint8Array([2, 1])) // rejected, authentication_required */
export const authResultBody: BodyCodec<AuthResult> = {
  encode(result) {
    if (result.status === 'account') return new BodyWriter().u8(0).text(result.user_id).finish()
    if (result.status === 'guest') return new BodyWriter().u8(1).finish()
    return new BodyWriter().u8(2).u8(authRejections.indexOf(result.reason)).finish()
  },
  decode(body) {
    const reader = new BodyReader(body)
    const status = reader.oneOf(['account', 'guest', 'rejected'] as const, reader.u8())
    if (status === 'account') return { status, user_id: reader.text() }
    if (status === 'guest') {
      reader.end()
      return { status }
    }
    const reason = reader.oneOf(authRejections, reader.u8())
    reader.end()
    return { status, reason }
  },
}

/**
 * The bits of the flags of SESSION_OPTIONS and SESSION_INFO. `presence_names` asks for presence in
 * version 2 and has no effect without `presence`. With `failures` a refused call says why in JSON;
 * `room_state` asks for the states of rooms (kind 50).
 */
export const sessionFlags = {
  presence: 1,
  server_time: 2,
  notices: 4,
  presence_names: 8,
  failures: 32,
  room_state: 64,
} as const

/** The body of SESSION_OPTIONS; unknown bits are ignored by the server. */
export type SessionOptions = { flags: number }

/** @example sessionOptionsBody.encode({ flags: sessionFlags.presence | sessionFlags.notices }) */
export const sessionOptionsBody: BodyCodec<SessionOptions> = {
  encode: ({ flags }) => new BodyWriter().u8(1).u32(flags).finish(),
  decode: (body) => ({ flags: new BodyReader(body).literal(1).u32() }),
}

/** The body of SESSION_INFO: the flags in force, and who and where the client is. */
export type SessionInfo = {
  flags: number
  /** The client's own participant id, 1..2^52 - 1. */
  participant: number
  /** Null outside any room. */
  room_id: number | null
  /** The largest length field of a frame that the node takes. */
  max_envelope_bytes: number
  /**
   * The close code of the session's connection before this one, if the transport could not deliver
   * it; null for none. Absent where the node does not say.
   */
  last_close?: number | null
}

/** @example sessionInfoBody.decode(envelope.body).participant */
export const sessionInfoBody: BodyCodec<SessionInfo> = {
  encode({ flags, participant, room_id, max_envelope_bytes, last_close }) {
    const writer = new BodyWriter()
      .u8(1)
      .u32(flags)
      .safe(participant)
      .safe(room_id ?? 0)
      .u32(max_envelope_bytes)
    if (last_close !== undefined) writer.u16(last_close ?? 0)
    return writer.finish()
  },
  decode(body) {
    const reader = new BodyReader(body).literal(1)
    const info: SessionInfo = {
      flags: reader.u32(),
      participant: reader.safe(),
      room_id: reader.safe() || null,
      max_envelope_bytes: reader.u32(),
    }
    if (reader.left >= 2) info.last_close = reader.u16() || null
    return info
  },
}

/** The codes of NOTICE. Notices are a development aid; a client must not depend on them. */
export const noticeCodes = {
  no_handler: 1,
  reserved_kind: 2,
  malformed_body: 3,
  wrong_direction: 4,
  script_unavailable: 5,
  handler_failed: 6,
} as const

/** The body of NOTICE: what happened to an envelope of `kind` that the client had sent. */
export type Notice = { code: number; kind: number; text: string }

/** @example noticeBody.encode({ code: noticeCodes.no_handler, kind: 150, text: 'no handler' }) */
export const noticeBody: BodyCodec<Notice> = {
  encode: ({ code, kind, text }) => new BodyWriter().u8(1).u8(code).u16(kind).str(text).finish(),
  decode(body) {
    const reader = new BodyReader(body).literal(1)
    return { code: reader.u8(), kind: reader.u16(), text: reader.str() }
  },
}
