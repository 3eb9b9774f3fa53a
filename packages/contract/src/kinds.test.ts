import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { WireError } from './envelope.ts'
import { kindRow, kinds } from './kinds.ts'
import type { BodyCodec } from './kinds-bytes.ts'
import * as diagnostics from './kinds-diagnostics.ts'
import * as play from './kinds-play.ts'
import * as rooms from './kinds-rooms.ts'
import * as session from './kinds-session.ts'

describe('the table', () => {
  test('every kind from 0 to 65535 has exactly one row, in order', () => {
    let next = 0
    for (const { first, last } of Object.values(kinds)) {
      expect(first).toBe(next)
      next = last + 1
    }
    expect(next).toBe(65536)
  })

  test('every row answers for all of its kinds', () => {
    for (const row of Object.values(kinds)) {
      expect(kindRow(row.first)).toBe(row)
      expect(kindRow(row.last)).toBe(row)
    }
    for (const kind of [-1, 65536, 1.5, 100.5]) expect(() => kindRow(kind)).toThrow(RangeError)
  })

  test('[R-KND-2] the kinds that only the server sends are the listed ones', () => {
    const fromServer = Object.values(kinds).filter((row) => row.direction === 'server')
    expect(fromServer.map((row) => row.first)).toEqual([
      2, 4, 6, 23, 26, 27, 28, 32, 33, 34, 37, 38, 45, 46, 47,
    ])
  })

  test('[R-KND-3] only positions and application kinds may travel unreliably from a client', () => {
    const either = Object.values(kinds).filter((row) => row.lane === 'either')
    expect(either.map((row) => [row.first, row.last])).toEqual([
      [1, 1],
      [100, 65535],
    ])
  })
})

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const safe = fc.maxSafeNat()
const u64 = fc.bigInt({ min: 0n, max: 0xffffffffffffffffn })
const someText = fc.string({ unit: 'binary', maxLength: 40, size: 'max' })
const someBytes = fc.uint8Array({ maxLength: 64, size: 'max' })
const captureId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('hex'))

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
    fc.record({
      flags: u32,
      participant: safe,
      room_id: fc.option(fc.integer({ min: 1, max: 2 ** 52 })),
      max_envelope_bytes: u32,
    }),
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
  carrying('relayed', play.relayedBody, fc.record({ sender: safe, body: someBytes })),
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
    'room presence',
    rooms.roomPresenceBody,
    fc.record({
      event: fc.constantFrom(...rooms.presenceEvents),
      more: fc.boolean(),
      room_id: safe,
      entries: fc.array(
        fc.record({
          participant: safe,
          user_id: fc.option(fc.string({ minLength: 1 })),
          departure: fc.constantFrom(null, ...rooms.departures),
        }),
        { maxLength: 5 },
      ),
    }),
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
