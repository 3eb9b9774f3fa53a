import { type BodyCodec, BodyReader, BodyWriter, malformed } from './bytes.ts'

/**
 * The bodies of the diagnostics kinds, 34 to 39. Each starts with version 1, and lengths and
 * counts must match the body exactly. A capture id is shown as 32 lower-case hex digits.
 */

/** The body of DIAG_SERVER_TIME. The offer id is random and never 0. */
export type DiagServerTime = { offer_id: bigint; server_utc_ms: number }

/** @example diagServerTimeBody.encode({ offer_id: 9n, server_utc_ms: 1700000000000 }) */
export const diagServerTimeBody = /* @__PURE__ */ exact<DiagServerTime>(
  (writer, { offer_id, server_utc_ms }) => writer.u64(offer_id).safe(server_utc_ms),
  (reader) => ({ offer_id: reader.u64(), server_utc_ms: reader.safe() }),
)

/** The bits of the features of DIAG_CAPABILITIES. */
export const diagFeatures = { recording: 1 } as const

/** The body of DIAG_CAPABILITIES; offer id 0 asks for a DIAG_SERVER_TIME. */
export type DiagCapabilities = { offer_id: bigint; features: number }

/** @example diagCapabilitiesBody.encode({ offer_id: 9n, features: diagFeatures.recording }) */
export const diagCapabilitiesBody = /* @__PURE__ */ exact<DiagCapabilities>(
  (writer, { offer_id, features }) => writer.u64(offer_id).u16(features),
  (reader) => ({ offer_id: reader.u64(), features: reader.u16() }),
)

/** The body of DIAG_CLOCK_SYNC: the client asks, the server answers with the same seq and time. */
export type DiagClockSync =
  | { type: 'request'; seq: number; client_mono_us: bigint }
  | {
      type: 'response'
      seq: number
      client_mono_us: bigint
      server_recv_utc_us: number
      server_sent_utc_us: number
    }

/** @example diagClockSyncBody.encode({ type: 'request', seq: 1, client_mono_us: 5_000_000n }) */
export const diagClockSyncBody = /* @__PURE__ */ exact<DiagClockSync>(
  (writer, sync) => {
    const isRequest = sync.type === 'request'
    writer
      .u8(isRequest ? 0 : 1)
      .u32(sync.seq)
      .u64(sync.client_mono_us)
    if (!isRequest) writer.safe(sync.server_recv_utc_us).safe(sync.server_sent_utc_us)
  },
  (reader) => {
    const type = reader.oneOf(['request', 'response'] as const, reader.u8())
    const asked = { seq: reader.u32(), client_mono_us: reader.u64() }
    if (type === 'request') return { type, ...asked }
    const server_recv_utc_us = reader.safe()
    return { type, ...asked, server_recv_utc_us, server_sent_utc_us: reader.safe() }
  },
)

/** Which envelopes a capture records; `inbound` is towards the client. */
export type DiagFilter = {
  kind: number
  direction: 'inbound' | 'outbound'
  /** Null records every entity. */
  entity: bigint | null
}

/** Most filters of one DIAG_START; there is at least one. */
export const diagFiltersMax = 16

/** The body of DIAG_START. */
export type DiagStart = {
  capture_id: string
  generation: number
  deadline_utc_ms: number
  max_bytes: number
  filters: DiagFilter[]
}

/** @throws RangeError when there are not 1..16 filters */
export const diagStartBody = /* @__PURE__ */ exact<DiagStart>(
  (writer, { capture_id, generation, deadline_utc_ms, max_bytes, filters }) => {
    if (filters.length < 1 || filters.length > diagFiltersMax) throw new RangeError('1..16 filters')
    writer.bytes(captureBytes(capture_id)).safe(generation).safe(deadline_utc_ms).u32(max_bytes)
    writer.u8(filters.length)
    for (const { kind, direction, entity } of filters) {
      writer.u16(kind).u8(directions.indexOf(direction))
      writer.u8(entity === null ? 0 : 1).u64(entity ?? 0n)
    }
  },
  (reader) => {
    const head = {
      capture_id: captureText(reader.bytes(16)),
      generation: reader.safe(),
      deadline_utc_ms: reader.safe(),
      max_bytes: reader.u32(),
    }
    const count = reader.u8()
    if (count < 1 || count > diagFiltersMax) throw malformed('not 1..16 filters')
    return { ...head, filters: Array.from({ length: count }, () => filterFrom(reader)) }
  },
)

/** The body of DIAG_FLUSH: where the client uploads what it recorded, and with which token. */
export type DiagFlush = {
  capture_id: string
  generation: number
  attempt: number
  deadline_utc_ms: number
  max_compressed_bytes: number
  path: string
  token: string
}

/** Content type and encoding are always 1; any other value is malformed. */
export const diagFlushBody = /* @__PURE__ */ exact<DiagFlush>(
  (writer, flush) => {
    const path = new BodyWriter().text(flush.path).finish()
    const token = new BodyWriter().text(flush.token).finish()
    writer
      .bytes(captureBytes(flush.capture_id))
      .safe(flush.generation)
      .safe(flush.attempt)
      .safe(flush.deadline_utc_ms)
      .u32(flush.max_compressed_bytes)
      .u8(1)
      .u8(1)
      .u16(path.length)
      .u16(token.length)
      .bytes(path)
      .bytes(token)
  },
  (reader) => {
    const head = {
      capture_id: captureText(reader.bytes(16)),
      generation: reader.safe(),
      attempt: reader.safe(),
      deadline_utc_ms: reader.safe(),
      max_compressed_bytes: reader.u32(),
    }
    reader.literal(1).literal(1)
    const pathBytes = reader.u16()
    const tokenBytes = reader.u16()
    const path = new BodyReader(reader.bytes(pathBytes)).text()
    return { ...head, path, token: new BodyReader(reader.bytes(tokenBytes)).text() }
  },
)

/** What a client says about a capture, in the order of the code byte 1..4. */
export const diagStates = ['recording', 'upload_started', 'uploaded', 'failed'] as const

/** The body of DIAG_STATUS. `attempt` is 0 while recording. */
export type DiagStatus = {
  capture_id: string
  generation: number
  state: (typeof diagStates)[number]
  attempt: number
  packets: number
  dropped: number
  bytes: number
}

/** @example diagStatusBody.decode(envelope.body).state */
export const diagStatusBody = /* @__PURE__ */ exact<DiagStatus>(
  (writer, { capture_id, generation, state, attempt, packets, dropped, bytes }) =>
    writer
      .bytes(captureBytes(capture_id))
      .safe(generation)
      .u8(diagStates.indexOf(state) + 1)
      .safe(attempt)
      .u32(packets)
      .u32(dropped)
      .u32(bytes),
  (reader) => ({
    capture_id: captureText(reader.bytes(16)),
    generation: reader.safe(),
    state: reader.oneOf(diagStates, reader.u8() - 1),
    attempt: reader.safe(),
    packets: reader.u32(),
    dropped: reader.u32(),
    bytes: reader.u32(),
  }),
)

const directions = ['inbound', 'outbound'] as const

function filterFrom(reader: BodyReader): DiagFilter {
  const kind = reader.u16()
  const direction = reader.oneOf(directions, reader.u8())
  const hasEntity = reader.oneOf([false, true], reader.u8())
  const entity = reader.u64()
  return { kind, direction, entity: hasEntity ? entity : null }
}

/** A body of the family: the version in front, nothing behind. */
function exact<Value>(
  write: (writer: BodyWriter, value: Value) => unknown,
  read: (reader: BodyReader) => Value,
): BodyCodec<Value> {
  return {
    encode(value) {
      const writer = new BodyWriter().u8(1)
      write(writer, value)
      return writer.finish()
    },
    decode(body) {
      const reader = new BodyReader(body).literal(1)
      const value = read(reader)
      reader.end()
      return value
    },
  }
}

function captureBytes(captureId: string): Uint8Array {
  if (!/^[0-9a-f]{32}$/.test(captureId)) throw new RangeError('a capture id is 32 hex digits')
  return Uint8Array.from({ length: 16 }, (_, index) =>
    Number.parseInt(captureId.slice(2 * index, 2 * index + 2), 16),
  )
}

function captureText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
