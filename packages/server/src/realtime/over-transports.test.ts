import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import {
  overQuic,
  overWebTransport,
} from './connection/transports/quic/client-placements.fixture.ts'
import { placeClients } from './realtime.fixture.ts'

/** The scenarios in which connections begin, play in rooms and end. */
const ofConnections = [
  './general.test.ts',
  './limits.test.ts',
  './revocation.test.ts',
  './connection/greeting/handshake.test.ts',
  './connection/player-connection.test.ts',
  './connection/dispatch/dispatch.test.ts',
  './connection/closing/last-closes.test.ts',
  './play/rooms/rooms.test.ts',
  './play/seats/seats.test.ts',
] as const

/** What rooms do with requests that have arrived: the same behind whatever carried them. */
const ofRooms = [
  './play/rooms/room-rules.test.ts',
  './play/rooms/room-ends.test.ts',
  './play/rooms/room-races.test.ts',
  './play/rooms/presence.test.ts',
] as const

/** The row of WebSocket is what the files run by themselves. WebTransport runs on QUIC. */
const transports = [
  ['quic', overQuic, [...ofConnections, ...ofRooms]],
  ['webtransport', overWebTransport, ofConnections],
] as const

const tooManyClients = 'so many clients do not fit into the memory of their engine'

/** Tests and groups of them that mean something else, or nothing, without WebSocket. */
const ofWebSocket: ReadonlyMap<string, string> = new Map([
  ['[R-GEN-6] a clock that is set moves server time, and no interval', 'it counts pings'],
  ['[R-LIV-3] a client that is silent is sent no envelope, and lives on', 'it counts pings'],
  ['[R-HS-3] a text message', 'there are no messages'],
  [
    '[R-CLS-4] shutdown closes everybody with 1001 and resolves when all are gone',
    'a connection is over some round trips after its close',
  ],
  ['[R-REC-3] the last member may be gone by silence', 'nobody answers pings'],
  ['[R-RET-1] so does a peer that is not alive any more', 'nobody answers pings'],
  ['[R-RET-1] after a message that is too big', 'there are no messages'],
  ['[R-ROOM-5, R-ROOM-10] the 1,001st member of a room is refused', tooManyClients],
  ['[R-PRS-3] a large snapshot comes in parts, in the order of participants', tooManyClients],
  ['[R-CLS-4] an upgrade that arrives during the shutdown ends with 1001', 'nothing is upgraded'],
  ['broadcast reaches everybody but the sender and the excluded', 'datagrams overtake frames'],
  ['[R-WS-6] positions wait up to 2 ms for others and share a message', 'it counts messages'],
  ['[R-DSP-2] among more than 256 others it is counted as unhandled', tooManyClients],
  [
    'is dropped when the connection ends before on_join does',
    'the packets of a peer that is not read are held, its close among them',
  ],
  ['[R-SDK-27] a 4008 that arrived is not reported again', 'nobody confirms a close'],
])

const table = transports.flatMap(([name, placement, scenarios]) =>
  scenarios.map((path) => [name, path, placement] as const),
)

describe.each(table)('over %s: %s', async (name, path, placement) => {
  beforeAll(() => placeClients(placement))
  afterAll(() => placeClients())
  beforeEach(({ task, skip }) => {
    const reason = ofWebSocket.get(task.name) ?? ofWebSocket.get(task.suite?.name ?? '')
    if (reason !== undefined) skip(reason)
  })
  // By a name of its own, a file is loaded again that has run in this process before.
  await import(/* @vite-ignore */ `${path}?over=${name}`)
})
