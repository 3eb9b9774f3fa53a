import {
  diagCapabilitiesBody,
  diagClockSyncBody,
  diagFeatures,
  diagFlushBody,
  diagServerTimeBody,
  diagStartBody,
  diagStatusBody,
} from './diagnostics.ts'
import { kinds } from './kinds.ts'
import { roomPresenceBody } from './presence.ts'
import {
  noticeBody,
  noticeCodes,
  sessionFlags,
  sessionInfoBody,
  sessionOptionsBody,
} from './session.ts'
import { row, testWorkedFrames } from './worked-frames.fixture.ts'

const capture_id = '00112233445566778899aabbccddeeff'

testWorkedFrames([
  row(
    'SESSION_OPTIONS presence, server time, notices',
    kinds.SESSION_OPTIONS.first,
    sessionOptionsBody,
    { flags: sessionFlags.presence | sessionFlags.server_time | sessionFlags.notices },
    '00000007002c0100000007',
  ),
  row(
    'SESSION_OPTIONS presence in version 2',
    kinds.SESSION_OPTIONS.first,
    sessionOptionsBody,
    { flags: sessionFlags.presence | sessionFlags.presence_names },
    '00000007002c0100000009',
  ),
  row(
    'SESSION_INFO flags 7, participant 42, no room, limit 65536',
    kinds.SESSION_INFO.first,
    sessionInfoBody,
    { flags: 7, participant: 42, room_id: null, max_envelope_bytes: 65536 },
    '0000001b002d01000000070000000000 00002a000000000000000000010000',
  ),
  row(
    'SESSION_INFO, the connection before ended with 4008',
    kinds.SESSION_INFO.first,
    sessionInfoBody,
    { flags: 7, participant: 42, room_id: null, max_envelope_bytes: 65536, last_close: 4008 },
    '0000001d002d01000000070000000000 00002a0000000000000000000100000fa8',
  ),
  row(
    'SESSION_INFO, nothing to report of the connection before',
    kinds.SESSION_INFO.first,
    sessionInfoBody,
    { flags: 7, participant: 42, room_id: null, max_envelope_bytes: 65536, last_close: null },
    '0000001d002d01000000070000000000 00002a0000000000000000000100000000',
  ),
  row(
    'ROOM_PRESENCE snapshot room 7: 41 guest, 42 u-1',
    kinds.ROOM_PRESENCE.first,
    roomPresenceBody,
    {
      version: 1,
      event: 'snapshot',
      more: false,
      room_id: 7,
      entries: [
        { participant: 41, user_id: null, username: null, reason: null },
        { participant: 42, user_id: 'u-1', username: null, reason: null },
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
      version: 1,
      event: 'left',
      more: false,
      room_id: 7,
      entries: [{ participant: 42, user_id: 'u-1', username: null, reason: 'disconnected' }],
    },
    `0000001d002e01030000000000000000 070001000000000000002a020003752d
  31`,
  ),
  row(
    'ROOM_PRESENCE version 2, snapshot room 7: 41 guest, 42 u-1 ana dropped',
    kinds.ROOM_PRESENCE.first,
    roomPresenceBody,
    {
      version: 2,
      event: 'snapshot',
      more: false,
      room_id: 7,
      entries: [
        { participant: 41, user_id: null, username: null, reason: null },
        { participant: 42, user_id: 'u-1', username: 'ana', reason: 'dropped' },
      ],
    },
    `0000002f002e02010000000000000000 07000200000000000000290000000000
  000000000000002a040003752d310003 616e61`,
  ),
  row(
    'ROOM_PRESENCE version 2, dropped room 7: 42 u-1 ana',
    kinds.ROOM_PRESENCE.first,
    roomPresenceBody,
    {
      version: 2,
      event: 'dropped',
      more: false,
      room_id: 7,
      entries: [{ participant: 42, user_id: 'u-1', username: 'ana', reason: 'dropped' }],
    },
    `00000022002e02040000000000000000 070001000000000000002a040003752d
  310003616e61`,
  ),
  row(
    'ROOM_PRESENCE version 2, returned room 7: 42 u-1 ana',
    kinds.ROOM_PRESENCE.first,
    roomPresenceBody,
    {
      version: 2,
      event: 'returned',
      more: false,
      room_id: 7,
      entries: [{ participant: 42, user_id: 'u-1', username: 'ana', reason: null }],
    },
    `00000022002e02050000000000000000 070001000000000000002a000003752d
  310003616e61`,
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
])
