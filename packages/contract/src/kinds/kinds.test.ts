import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BodyCodec } from './bytes.ts'
import * as diagnostics from './diagnostics.ts'
import { WireError } from './envelope.ts'
import * as play from './play.ts'
import * as presence from './presence.ts'
import * as rooms from './rooms.ts'
import * as session from './session.ts'

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const safe = fc.maxSafeNat()
const u64 = fc.bigInt({ min: 0n, max: 0xffffffffffffffffn })
const someText = fc.string({ unit: 'binary', maxLength: 40, size: 'max' })
const someBytes = fc.uint8Array({ maxLength: 64, size: 'max' })
const captureId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('hex'))

/** The convention of relays, in the form of a codec. */
const relayed: BodyCodec<{ sender: number; body: Uint8Array }> = {
  encode: ({ sender, body }) => play.tagWithSender(sender, body),
  decode: play.splitSender,
}

function presenceArbitrary<const Version extends 1 | 2>(version: Version) {
  const events = version === 1 ? presence.presenceEvents.slice(0, 3) : presence.presenceEvents
  const reasons = version === 1 ? presence.departures : [...presence.departures, 'dropped' as const]
  const name = fc.option(fc.string({ minLength: 1 }))
  return fc.record({
    version: fc.constant(version),
    event: fc.constantFrom(...events),
    more: fc.boolean(),
    room_id: safe,
    entries: fc.array(
      fc.record({
        participant: safe,
        user_id: name,
        username: version === 1 ? fc.constant(null) : name,
        reason: fc.constantFrom(null, ...reasons),
      }),
      { maxLength: 5 },
    ),
  })
}

/** Each codec with the values that it must carry unchanged. */
const codecs = [
  carrying('auth', session.authBody, fc.record({ access_token: someText })),
  carrying(
    'auth result',
    session.authResultBody,
    fc.oneof(
      fc.record({ status: fc.constant('account' as const), user_id: someText }),
      fc.record({ status: fc.constant('guest' as const) }),
      fc.record({
        status: fc.constant('rejected' as const),
        reason: fc.constantFrom(...session.authRejections),
      }),
    ),
  ),
  carrying('session options', session.sessionOptionsBody, fc.record({ flags: u32 })),
  carrying(
    'session info',
    session.sessionInfoBody,
    fc.record(
      {
        flags: u32,
        participant: safe,
        room_id: fc.option(fc.integer({ min: 1, max: 2 ** 52 })),
        max_envelope_bytes: u32,
        last_close: fc.option(fc.integer({ min: 1, max: 65535 })),
      },
      { requiredKeys: ['flags', 'participant', 'room_id', 'max_envelope_bytes'] },
    ),
  ),
  carrying(
    'notice',
    session.noticeBody,
    fc.record({ code: fc.nat(255), kind: fc.nat(65535), text: someText }),
  ),
  carrying(
    'rpc request',
    play.rpcRequestBody,
    fc.record({
      request_id: u64,
      method: fc.string({ maxLength: 128, size: 'max' }),
      payload: someBytes,
    }),
  ),
  carrying(
    'rpc response',
    play.rpcResponseBody,
    fc.record({ request_id: u64, ok: fc.boolean(), payload: someBytes }),
  ),
  carrying(
    'position',
    play.positionBody,
    fc.record({ x: fc.float({ noNaN: true }), y: fc.float({ noNaN: true }) }),
  ),
  carrying(
    'peer position',
    play.peerPositionBody,
    fc.record({ participant: safe, position: someBytes }),
  ),
  carrying('relayed', relayed, fc.record({ sender: safe, body: someBytes })),
  carrying('room create', rooms.roomCreateBody, fc.record({ name: someText })),
  carrying('room reference', rooms.roomReferenceBody, fc.record({ room_id: safe })),
  carrying(
    'room joined',
    rooms.roomJoinedBody,
    fc.record({ room_id: safe, map: someText, mode: someText }),
  ),
  carrying(
    'room reject',
    rooms.roomRejectBody,
    fc.record({ request_kind: fc.nat(65535), reason: someText }),
  ),
  carrying(
    'match closed',
    rooms.matchClosedBody,
    fc.record({ room_id: safe, reason: fc.nat(255), requeue: fc.boolean() }),
  ),
  carrying(
    'room enter',
    rooms.roomEnterBody,
    fc.oneof(
      fc.record({ mode: fc.constant('join' as const), room_id: safe, options: someText }),
      fc.record({
        mode: fc.constantFrom('join_or_create' as const, 'create' as const),
        name: someText,
        options: someText,
      }),
    ),
  ),
  carrying<presence.RoomPresence>(
    'room presence',
    presence.roomPresenceBody,
    fc.oneof(presenceArbitrary(1), presenceArbitrary(2)),
  ),
  carrying(
    'server time',
    diagnostics.diagServerTimeBody,
    fc.record({ offer_id: u64, server_utc_ms: safe }),
  ),
  carrying(
    'capabilities',
    diagnostics.diagCapabilitiesBody,
    fc.record({ offer_id: u64, features: fc.nat(65535) }),
  ),
  carrying(
    'clock sync',
    diagnostics.diagClockSyncBody,
    fc.oneof(
      fc.record({ type: fc.constant('request' as const), seq: u32, client_mono_us: u64 }),
      fc.record({
        type: fc.constant('response' as const),
        seq: u32,
        client_mono_us: u64,
        server_recv_utc_us: safe,
        server_sent_utc_us: safe,
      }),
    ),
  ),
  carrying(
    'start',
    diagnostics.diagStartBody,
    fc.record({
      capture_id: captureId,
      generation: u32,
      deadline_utc_ms: safe,
      max_bytes: u32,
      filters: fc.array(
        fc.record({
          kind: fc.nat(65535),
          direction: fc.constantFrom('inbound' as const, 'outbound' as const),
          entity: fc.option(u64),
        }),
        { minLength: 1, maxLength: 16, size: 'max' },
      ),
    }),
  ),
  carrying(
    'flush',
    diagnostics.diagFlushBody,
    fc.record({
      capture_id: captureId,
      generation: u32,
      attempt: safe,
      deadline_utc_ms: safe,
      max_compressed_bytes: u32,
      path: someText,
      token: someText,
    }),
  ),
  carrying(
    'status',
    diagnostics.diagStatusBody,
    fc.record({
      capture_id: captureId,
      generation: u32,
      state: fc.constantFrom(...diagnostics.diagStates),
      attempt: safe,
      packets: u32,
      dropped: u32,
      bytes: u32,
    }),
  ),
]

describe.each(codecs)(
  'the body of $name',
  ({ carriesEveryValue, survivesAnyBytes, cutsAreSeen }) => {
    test('[R-GEN-3] carries every value unchanged', carriesEveryValue)
    test('[R-GEN-3] arbitrary bytes give a value or the typed error', survivesAnyBytes)
    test('[R-GEN-3] a cut body never reads beyond its end', cutsAreSeen)
  },
)

describe('bounds', () => {
  test('[R-GEN-3] invalid UTF-8 makes a body malformed and a byte order mark is kept', () => {
    const cutEuro = new Uint8Array([0, 2, 0xe2, 0x82])
    expect(() => rooms.roomCreateBody.decode(cutEuro)).toThrow(WireError)
    const marked = session.authBody.encode({ access_token: '\ufefftok' })
    expect(session.authBody.decode(marked)).toEqual({ access_token: '\ufefftok' })
  })

  test('[R-GEN-3] a number above 2^53 - 1 is malformed where it must be exact', () => {
    const info = session.sessionInfoBody.encode({
      flags: 0,
      participant: Number.MAX_SAFE_INTEGER,
      room_id: null,
      max_envelope_bytes: 65536,
    })
    expect(session.sessionInfoBody.decode(info).participant).toBe(Number.MAX_SAFE_INTEGER)
    new DataView(info.buffer).setBigUint64(5, 2n ** 53n)
    expect(() => session.sessionInfoBody.decode(info)).toThrow(WireError)
  })

  test('[R-HS-4] an AUTH_RESULT of no known status or reason, or with more behind, is malformed', () => {
    const decode = (...body: number[]) => session.authResultBody.decode(new Uint8Array(body))
    expect(decode(1)).toEqual({ status: 'guest' })
    expect(decode(2, 2)).toEqual({ status: 'rejected', reason: 'protocol_violation' })
    for (const body of [[3], [3, 0], [255, 0], [2, 3], [2], [1, 0], [2, 1, 0], []]) {
      expect(() => decode(...body)).toThrow(WireError)
    }
  })

  test('[R-RPC-2] a request without id, with a broken method and with a long one differ', () => {
    const code = (body: Uint8Array) => {
      try {
        return play.rpcRequestBody.decode(body)
      } catch (error) {
        return error instanceof WireError ? error.code : error
      }
    }
    expect(code(new Uint8Array(7))).toBe('rpc_header')
    expect(code(new Uint8Array(8))).toBe('malformed_body')
    expect(code(new Uint8Array([0, 0, 0, 0, 0, 0, 0, 1, 0, 9, 65]))).toBe('malformed_body')
    expect(code(new Uint8Array([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0xff]))).toBe('malformed_body')
    const header = [0, 0, 0, 0, 0, 0, 0, 1, 0, 129]
    expect(code(new Uint8Array([...header, ...new Array<number>(129).fill(65)]))).toBe(
      'malformed_body',
    )
    expect(() =>
      play.rpcRequestBody.encode({
        request_id: 1n,
        method: 'x'.repeat(129),
        payload: new Uint8Array(),
      }),
    ).toThrow(RangeError)
  })

  test('[R-KND-6] bytes behind the known fields of kinds 44 to 47 are ignored', () => {
    const longer = new Uint8Array([...session.sessionOptionsBody.encode({ flags: 5 }), 1, 2, 3])
    expect(session.sessionOptionsBody.decode(longer)).toEqual({ flags: 5 })
  })

  test('[R-ENT-1] another version, another mode and bytes behind ROOM_ENTER are malformed', () => {
    const body = rooms.roomEnterBody.encode({ mode: 'join', room_id: 7, options: '' })
    const changed = (at: number, byte: number) => body.with(at, byte)
    for (const bad of [changed(0, 2), changed(1, 3), new Uint8Array([...body, 0])]) {
      expect(() => rooms.roomEnterBody.decode(bad)).toThrow(WireError)
    }
  })

  test('[R-PRS-3] [R-PRS-4] presence has as many entries as its version allows', () => {
    for (const [version, entriesMax] of [[1, 512] as const, [2, 256] as const]) {
      const entry = { participant: 1, user_id: null, username: null, reason: null }
      const encode = (count: number) =>
        presence.roomPresenceBody.encode({
          version,
          event: 'snapshot',
          more: false,
          room_id: 7,
          entries: new Array<presence.PresenceEntry>(count).fill(entry),
        })
      expect(presence.roomPresenceBody.decode(encode(entriesMax)).entries).toHaveLength(entriesMax)
      expect(() => encode(entriesMax + 1)).toThrow(RangeError)
    }
  })

  test('[R-PRS-4] version 1 has no drop, neither as an event nor as a reason', () => {
    const dropped = {
      version: 2 as const,
      event: 'dropped' as const,
      more: false,
      room_id: 7,
      entries: [{ participant: 42, user_id: 'u-1', username: 'ana', reason: 'dropped' as const }],
    }
    const body = presence.roomPresenceBody.encode(dropped)
    expect(() => presence.roomPresenceBody.decode(body.with(0, 1))).toThrow(WireError)
    expect(() => presence.roomPresenceBody.encode({ ...dropped, version: 1 })).toThrow(RangeError)
    const snapshot = { ...dropped, version: 1 as const, event: 'snapshot' as const }
    expect(() => presence.roomPresenceBody.encode(snapshot)).toThrow(RangeError)
  })

  test('[R-DIA-5] bytes behind a diagnostics body are malformed', () => {
    const body = diagnostics.diagServerTimeBody.encode({ offer_id: 1n, server_utc_ms: 2 })
    expect(() => diagnostics.diagServerTimeBody.decode(new Uint8Array([...body, 0]))).toThrow(
      WireError,
    )
  })

  test('a room id beyond every id that exists decodes to one that does not exist', () => {
    const body = new Uint8Array(8).fill(0xff)
    expect(rooms.roomReferenceBody.decode(body).room_id).toBeGreaterThan(2 ** 52)
  })

  test('a field that does not fit is refused by the encoder', () => {
    expect(() => session.sessionOptionsBody.encode({ flags: 2 ** 32 })).toThrow(RangeError)
    expect(() => rooms.roomReferenceBody.encode({ room_id: -1 })).toThrow(RangeError)
    expect(() => rooms.roomCreateBody.encode({ name: 'x'.repeat(65536) })).toThrow(RangeError)
    expect(() =>
      diagnostics.diagServerTimeBody.encode({ offer_id: 2n ** 64n, server_utc_ms: 0 }),
    ).toThrow(RangeError)
  })
})

function carrying<Value>(name: string, codec: BodyCodec<Value>, values: fc.Arbitrary<Value>) {
  return {
    name,
    carriesEveryValue() {
      fc.assert(
        fc.property(values, (value) => {
          expect(codec.decode(codec.encode(value))).toEqual(value)
        }),
      )
    },
    survivesAnyBytes() {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 120, size: 'max' }), (body) => {
          expectValueOrTypedError(codec, body)
        }),
      )
    },
    cutsAreSeen() {
      fc.assert(
        fc.property(values, fc.nat(), (value, at) => {
          const whole = codec.encode(value)
          const end = at % (whole.length + 1)
          // What lies behind the view must not be looked at, so it is different every time.
          const alone = expectValueOrTypedError(codec, whole.slice(0, end))
          const inFront = Uint8Array.from([...whole.slice(0, end), 0xff, 0, 0xff, 0, 0xff, 0])
          expect(expectValueOrTypedError(codec, inFront.subarray(0, end))).toEqual(alone)
        }),
      )
    },
  }
}

function expectValueOrTypedError(codec: BodyCodec<unknown>, body: Uint8Array): unknown {
  try {
    return codec.decode(body)
  } catch (error) {
    expect(error).toBeInstanceOf(WireError)
    return undefined
  }
}
