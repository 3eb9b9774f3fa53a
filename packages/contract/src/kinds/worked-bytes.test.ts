import { expect, test } from 'vitest'
import type { BodyCodec } from './bytes.ts'
import { decodeDatagram, encodeDatagram } from './envelope.ts'
import { kinds } from './kinds.ts'
import {
  peerPositionBody,
  positionBody,
  rpcRequestBody,
  rpcResponseBody,
  splitSender,
  tagWithSender,
} from './play.ts'
import {
  matchClosedBody,
  roomCreateBody,
  roomEnterBody,
  roomJoinedBody,
  roomReferenceBody,
  roomRejectBody,
} from './rooms.ts'
import { authBody, authResultBody } from './session.ts'
import { row, testWorkedFrames, utf8 } from './worked-frames.fixture.ts'

const partyMessage =
  '{"type":"party.message","party_id":"AAAAAAAAAAAAAAAAAAAAAAAA","sender_user_id":"u-1","data":{"ready":true}}'
const relayed: BodyCodec<{ sender: number; body: Uint8Array }> = {
  encode: ({ sender, body }) => tagWithSender(sender, body),
  decode: splitSender,
}
const opaque: BodyCodec<Uint8Array> = { encode: (body) => body, decode: (body) => body }

testWorkedFrames([
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
    'ROOM_ENTER mode 0, room 7, no options',
    kinds.ROOM_ENTER.first,
    roomEnterBody,
    { mode: 'join', room_id: 7, options: '' },
    '0000000e003001000000000000000007 0000',
  ),
  row(
    'ROOM_ENTER mode 1, lobby, options {"team":1}',
    kinds.ROOM_ENTER.first,
    roomEnterBody,
    { mode: 'join_or_create', name: 'lobby', options: '{"team":1}' },
    '000000170030010100056c6f62627900 0a7b227465616d223a317d',
  ),
  row(
    'ROOM_ENTER mode 2, no name, no options',
    kinds.ROOM_ENTER.first,
    roomEnterBody,
    { mode: 'create', name: '', options: '' },
    '000000080030010200000000',
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
    'ROOM_REJECT kind 48 room name taken',
    kinds.ROOM_REJECT.first,
    roomRejectBody,
    { request_kind: 48, reason: 'room name taken' },
    '0000001500210030000f726f6f6d206e 616d652074616b656e',
  ),
  row(
    'MATCH_CLOSED room 7, reason 0, requeue',
    kinds.MATCH_CLOSED.first,
    matchClosedBody,
    { room_id: 7, reason: 0, requeue: true },
    '0000000c002000000000000000070001',
  ),
  row(
    'NOTIFICATION party.message of u-1',
    kinds.NOTIFICATION.first,
    opaque,
    utf8(partyMessage),
    `0000006d001b${Buffer.from(partyMessage).toString('hex')}`,
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
    relayed,
    { sender: 42, body: utf8('hi') },
    '0000000c0064000000000000002a6869',
  ),
])

test('[R-EX-1] POSITION (125.0, 64.0) as a datagram', () => {
  const datagram = encodeDatagram(kinds.POSITION.first, positionBody.encode({ x: 125, y: 64 }))
  expect(Buffer.from(datagram).toString('hex')).toBe('00010000fa4200008042')
  const { kind, body } = decodeDatagram(datagram)
  expect(kind).toBe(1)
  expect(positionBody.decode(body)).toEqual({ x: 125, y: 64 })
})
