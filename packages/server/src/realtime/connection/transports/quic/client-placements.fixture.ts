import { encodeFrame } from '@guildhall/contract'
import { createIds } from '../../../../kernel/ids.ts'
import {
  bytesOf,
  type ClientPlacement,
  type TestClient,
  type TransportParts,
} from '../../../realtime.fixture.ts'
import type { Transports } from '../transports.ts'
import { startEngineHere } from './engine/engine-here.fixture.ts'
import { createQuicTransports } from './quic.ts'
import { QuicClient } from './quic-client.fixture.ts'
import { closeSession } from './webtransport/http3.ts'
import { capsuleOf, control, oneWay, request } from './webtransport/webtransport-client.fixture.ts'

/** Clients of scenarios that come by raw QUIC. */
export const overQuic: ClientPlacement = {
  transports: quicTransports,
  async open(transports) {
    const client = await QuicClient.connect(portOf(transports), {
      envelopes: { stream: 3, prefaceBytes: 0, datagramPrefaceBytes: 0 },
    })
    return testClient(client, {
      write: (bytes) => client.write(0, bytes),
      close: (code) => client.close(code),
      closed: client.ended.promise.then(({ code = 0, reason }) => ({ code, reason })),
    })
  },
}

/** Clients of scenarios that come by WebTransport, as browsers do. */
export const overWebTransport: ClientPlacement = {
  transports: quicTransports,
  async open(transports) {
    const client = await QuicClient.connect(portOf(transports), {
      alpn: ['h3'],
      envelopes: { stream: 7, prefaceBytes: oneWay.length, datagramPrefaceBytes: 1 },
    })
    client.write(2, control)
    request(client, {})
    client.write(6, oneWay)
    return testClient(client, {
      write: (bytes) => client.write(6, bytes),
      close: (code) => client.write(0, closeSession(code, ''), true),
      closed: client.ended.promise.then(
        () => capsuleOf(client.streams.get(0) ?? new Uint8Array()) ?? { code: 0, reason: '' },
      ),
    })
  },
}

type Way = Pick<TestClient, 'closed'> & {
  write(bytes: Uint8Array): void
  close(code: number): void
}

function testClient(client: QuicClient, { write, close, closed }: Way): TestClient {
  const made: Omit<TestClient, 'socket'> = {
    isOpen: () => client.end === undefined && !client.isOver,
    received: client.received,
    messageBytes: [],
    closed,
    send: (kind, body = '') => write(encodeFrame(kind, bytesOf(body))),
    sendBytes: write,
    next: () => client.next(),
    close: (code = 0) => close(code),
    pause() {
      client.isReading = false
    },
    resume() {
      client.isReading = true
    },
    // As lost as a connection of TCP that is reset.
    end() {
      client.close(lostCode)
      client.vanish()
    },
  }
  return Object.defineProperty(made, 'socket', { get: noSocket }) as TestClient
}

const lostCode = 3999

function noSocket(): never {
  throw new Error('only WebSocket has a socket of its own')
}

function quicTransports(parts: TransportParts) {
  return createQuicTransports({
    ...parts,
    bind: { host: '127.0.0.1', port: 0 },
    isExplicit: true,
    isShared: false,
    ids: createIds({ clock: parts.clock, nodeId: 'node-1', bootId: 'bt1-0' }),
    journal: { record: () => '' },
    startEngine: startEngineHere,
  })
}

function portOf(transports: Transports): number {
  return Number(transports.addresses().quic?.split(':').at(-1))
}
