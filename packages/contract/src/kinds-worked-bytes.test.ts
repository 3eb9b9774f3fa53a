import { expect, test } from 'vitest'
import { decodeDatagram, encodeDatagram, encodeFrame, FrameDecoder } from './envelope.ts'
import { kinds } from './kinds.ts'
import type { BodyCodec } from './kinds-bytes.ts'
import {
  diagCapabilitiesBody,
  diagClockSyncBody,
  diagFeatures,
  diagFlushBody,
  diagServerTimeBody,
  diagStartBody,
  diagStatusBody,
} from './kinds-diagnostics.ts'
import {
  peerPositionBody,
  positionBody,
  relayedBody,
  rpcRequestBody,
  rpcResponseBody,
} from './kinds-play.ts'
import {
  matchClosedBody,
  roomCreateBody,
  roomJoinedBody,
  roomPresenceBody,
  roomReferenceBody,
  roomRejectBody,
} from './kinds-rooms.ts'
import {
  authBody,
  authResultBody,
  noticeBody,
  noticeCodes,
  sessionFlags,
  sessionInfoBody,
  sessionOptionsBody,
} from './kinds-session.ts'

const capture_id = '00112233445566778899aabbccddeeff'
const opaque: BodyCodec<Uint8Array> = { encode: (body) => body, decode: (body) => body }

const workedFrames = [
  row('AUTH guest', kinds.AUTH.first, authBody, { access_token: '' }, '000000020005'),
  row('AUTH, token tok', kinds.AUTH.first, authBody, { access_token: 'tok' }, '000000050005746f6b'),
  row(
    'AUTH_RESULT account u-1',
    kinds.AUTH_RESULT.first,
    authResultBody,
    { status: 'account', user_id: 'u-1' },
    '00000006000600752d31',
  ),
  row(
    'AUTH_RESULT guest',
    kinds.AUTH_RESULT.first,
    authResultBody,
    { status: 'guest' },
    '00000003000601',
  ),
  row(
    'AUTH_RESULT rejected, reason 0',
    kinds.AUTH_RESULT.first,
    authResultBody,
    { status: 'rejected', reason: 'authentication_failed' },
    '0000000400060200',
  ),
  row(
    'AUTH_RESULT rejected, reason 1',
    kinds.AUTH_RESULT.first,
    authResultBody,
    { status: 'rejected', reason: 'authentication_required' },
    '0000000400060201',
  ),
  row(
    'AUTH_RESULT rejected, reason 2',
    kinds.AUTH_RESULT.first,
    authResultBody,
    { status: 'rejected', reason: 'protocol_violation' },
    '0000000400060202',
  ),
  row(
    'RPC_REQUEST 1 ping payload hi',
    kinds.RPC_REQUEST.first,
    rpcRequestBody,
    { request_id: 1n, method: 'ping', payload: utf8('hi') },
    '00000012000300000000000000010004 70696e676869',
  ),
  row(
    'RPC_RESPONSE 1 ok pong',
    kinds.RPC_RESPONSE.first,
    rpcResponseBody,
    { request_id: 1n, ok: true, payload: utf8('pong') },
    '0000000f000400000000000000010070 6f6e67',
  ),
  row(
    'RPC_RESPONSE 2 error unknown RPC method',
    kinds.RPC_RESPONSE.first,
    rpcResponseBody,
    { request_id: 2n, ok: false, payload: utf8('unknown RPC method') },
    `0000001d000400000000000000020175 6e6b6e6f776e20525043206d6574686f
  64`,
  ),
  row(
    'ROOM_CREATE lobby',
    kinds.ROOM_CREATE.first,
    roomCreateBody,
    { name: 'lobby' },
    '00000009001500056c6f626279',
  ),
  row(
    'ROOM_JOIN room 7',
    kinds.ROOM_JOIN.first,
    roomReferenceBody,
    { room_id: 7 },
    '0000000a00160000000000000007',
  ),
  row(
    'ROOM_JOINED room 7, map arena1, mode ffa',
    kinds.ROOM_JOINED.first,
    roomJoinedBody,
    { room_id: 7, map: 'arena1', mode: 'ffa' },
    '00000017001700000000000000070006 6172656e61310003666661',
  ),
  row(
    'ROOM_LEAVE room 7',
    kinds.ROOM_LEAVE.first,
    roomReferenceBody,
    { room_id: 7 },
    '0000000a00180000000000000007',
  ),
  row(
    'ROOM_MAP_READY room 7',
    kinds.ROOM_MAP_READY.first,
    roomReferenceBody,
    { room_id: 7 },
    '0000000a00190000000000000007',
  ),
  row(
    'ROOM_REJECT kind 21 game script unavailable',
    kinds.ROOM_REJECT.first,
    roomRejectBody,
    { request_kind: 21, reason: 'game script unavailable' },
    `0000001d00210015001767616d652073 637269707420756e617661696c61626c
  65`,
  ),
  row(
    'ROOM_REJECT kind 22 room is full',
    kinds.ROOM_REJECT.first,
    roomRejectBody,
    { request_kind: 22, reason: 'room is full' },
    '0000001200210016000c726f6f6d2069 732066756c6c',
  ),
  row(
    'MATCH_CLOSED room 7, reason 0, requeue',
    kinds.MATCH_CLOSED.first,
    matchClosedBody,
    { room_id: 7, reason: 0, requeue: true },
    '0000000c002000000000000000070001',
  ),
  row(
    'POSITION (125.0, 64.0)',
    kinds.POSITION.first,
    positionBody,
    { x: 125, y: 64 },
    '0000000a00010000fa4200008042',
  ),
  row(
    'PEER_POSITION from 42',
    kinds.PEER_POSITION.first,
    peerPositionBody,
    { participant: 42, position: positionBody.encode({ x: 125, y: 64 }) },
    '000000120002000000000000002a0000 fa4200008042',
  ),
  row(
    'application kind 100, text 5,3',
    kinds.APPLICATION.first,
    opaque,
    utf8('5,3'),
    '000000050064352c33',
  ),
  row(
    'chat relay on kind 100: sender 42, text hi',
    kinds.APPLICATION.first,
    relayedBody,
    { sender: 42, body: utf8('hi') },
    '0000000c0064000000000000002a6869',
  ),
  row(
    'SESSION_OPTIONS presence, server time, notices',
    kinds.SESSION_OPTIONS.first,
    sessionOptionsBody,
    { flags: sessionFlags.presence | sessionFlags.server_time | sessionFlags.notices },
    '00000007002c0100000007',
  ),
  row(
    'SESSION_INFO flags 7, participant 42, no room, limit 65536',
    kinds.SESSION_INFO.first,
    sessionInfoBody,
    { flags: 7, participant: 42, room_id: null, max_envelope_bytes: 65536 },
    '0000001b002d01000000070000000000 00002a000000000000000000010000',
  ),
  row(
    'ROOM_PRESENCE snapshot room 7: 41 guest, 42 u-1',
    kinds.ROOM_PRESENCE.first,
    roomPresenceBody,
    {
      event: 'snapshot',
      more: false,
      room_id: 7,
      entries: [
        { participant: 41, user_id: null, departure: null },
        { participant: 42, user_id: 'u-1', departure: null },
      ],
    },
    `00000028002e01010000000000000000 07000200000000000000290000000000
  00000000002a000003752d31`,
  ),
  row(
    'ROOM_PRESENCE left room 7: 42 u-1, disconnected',
    kinds.ROOM_PRESENCE.first,
    roomPresenceBody,
    {
      event: 'left',
      more: false,
      room_id: 7,
      entries: [{ participant: 42, user_id: 'u-1', departure: 'disconnected' }],
    },
    `0000001d002e01030000000000000000 070001000000000000002a020003752d
  31`,
  ),
  row(
    'NOTICE code 1, kind 150, no handler',
    kinds.NOTICE.first,
    noticeBody,
    { code: noticeCodes.no_handler, kind: 150, text: 'no handler' },
    '00000012002f01010096000a6e6f2068 616e646c6572',
  ),
  row(
    'DIAG_SERVER_TIME offer 9, 1700000000000',
    kinds.DIAG_SERVER_TIME.first,
    diagServerTimeBody,
    { offer_id: 9n, server_utc_ms: 1_700_000_000_000 },
    '00000013002201000000000000000900 00018bcfe56800',
  ),
  row(
    'DIAG_CAPABILITIES offer 9, recording',
    kinds.DIAG_CAPABILITIES.first,
    diagCapabilitiesBody,
    { offer_id: 9n, features: diagFeatures.recording },
    '0000000d002301000000000000000900 01',
  ),
  row(
    'DIAG_CLOCK_SYNC request 1, client 5000000 us',
    kinds.DIAG_CLOCK_SYNC.first,
    diagClockSyncBody,
    { type: 'request', seq: 1, client_mono_us: 5_000_000n },
    '00000010002401000000000100000000 004c4b40',
  ),
  row(
    'DIAG_CLOCK_SYNC response 1',
    kinds.DIAG_CLOCK_SYNC.first,
    diagClockSyncBody,
    {
      type: 'response',
      seq: 1,
      client_mono_us: 5_000_000n,
      server_recv_utc_us: 1700000000000250,
      server_sent_utc_us: 1700000000000300,
    },
    `00000020002401010000000100000000 004c4b4000060a24181e40fa00060a24
  181e412c`,
  ),
  row(
    'DIAG_START, one filter: kind 100 inbound',
    kinds.DIAG_START.first,
    diagStartBody,
    {
      capture_id,
      generation: 1,
      deadline_utc_ms: 1700000600000,
      max_bytes: 4194304,
      filters: [{ kind: 100, direction: 'inbound', entity: null }],
    },
    `00000034002501001122334455667788 99aabbccddeeff000000000000000100
  00018bcfee8fc0004000000100640000 0000000000000000`,
  ),
  row(
    'DIAG_FLUSH attempt 1, path /u, token t',
    kinds.DIAG_FLUSH.first,
    diagFlushBody,
    {
      capture_id,
      generation: 1,
      attempt: 1,
      deadline_utc_ms: 1700000060000,
      max_compressed_bytes: 4194304,
      path: '/u',
      token: 't',
    },
    `00000038002601001122334455667788 99aabbccddeeff000000000000000100
  000000000000010000018bcfe6526000 4000000101000200012f7574`,
  ),
  row(
    'DIAG_STATUS recording',
    kinds.DIAG_STATUS.first,
    diagStatusBody,
    { capture_id, generation: 1, state: 'recording', attempt: 0, packets: 0, dropped: 0, bytes: 0 },
    `00000030002701001122334455667788 99aabbccddeeff000000000000000101
  00000000000000000000000000000000 00000000`,
  ),
]

for (const { name, hex, encode, decode } of workedFrames) {
  test(`[R-EX-1] ${name}`, () => {
    expect(Buffer.from(encode()).toString('hex')).toBe(hex)
    decode(Uint8Array.from(Buffer.from(hex, 'hex')))
  })
}

test('[R-EX-1] POSITION (125.0, 64.0) as a datagram', () => {
  const datagram = encodeDatagram(kinds.POSITION.first, positionBody.encode({ x: 125, y: 64 }))
  expect(Buffer.from(datagram).toString('hex')).toBe('00010000fa4200008042')
  const { kind, body } = decodeDatagram(datagram)
  expect(kind).toBe(1)
  expect(positionBody.decode(body)).toEqual({ x: 125, y: 64 })
})

function row<Value>(
  name: string,
  kind: number,
  codec: BodyCodec<Value>,
  ...[value, spacedHex]: [value: Value, spacedHex: string]
) {
  return {
    name,
    hex: spacedHex.replaceAll(/\s/g, ''),
    encode: () => encodeFrame(kind, codec.encode(value)),
    decode(frame: Uint8Array) {
      const decoder = new FrameDecoder(65536)
      decoder.push(frame)
      const envelope = decoder.next()
      expect(envelope?.kind).toBe(kind)
      expect(envelope && codec.decode(envelope.body)).toEqual(value)
      expect(decoder.next()).toBeUndefined()
    },
  }
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
