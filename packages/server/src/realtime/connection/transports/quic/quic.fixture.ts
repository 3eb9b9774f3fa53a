import type { Incident } from '../../../../kernel/errors/error-journal.ts'
import { createIds } from '../../../../kernel/ids.ts'
import {
  type FixtureOptions,
  type RealtimeFixture,
  startRealtime,
} from '../../../realtime.fixture.ts'
import { createQuicTransports, type QuicTransportsDeps } from './quic.ts'
import { QuicClient } from './quic-client.fixture.ts'

export type QuicFixture = {
  realtime: RealtimeFixture
  port: number
  incidents: Incident[]
  /** A client that has begun its handshake. */
  begin(): Promise<QuicClient>
  connect(options?: Parameters<typeof QuicClient.connect>[1]): Promise<QuicClient>
  /** A client that has sent AUTH with the token and was accepted; no token is a guest. */
  join(token?: string, options?: Parameters<typeof QuicClient.connect>[1]): Promise<QuicClient>
  close(): Promise<void>
}

export type QuicFixtureOptions = FixtureOptions & { quic?: Partial<QuicTransportsDeps> }

/** A gateway behind a UDP socket of its own, beside WebSocket. */
export async function startQuic(options: QuicFixtureOptions = {}): Promise<QuicFixture> {
  const incidents: Incident[] = []
  const realtime = await startRealtime({
    ...options,
    transports: (parts) =>
      createQuicTransports({
        ...parts,
        bind: { host: '127.0.0.1', port: 0 },
        isExplicit: true,
        isShared: false,
        ids: createIds({ clock: parts.clock, nodeId: 'node-1', bootId: 'bt1-0' }),
        journal: {
          record(incident) {
            incidents.push(incident)
            return ''
          },
        },
        ...options.quic,
      }),
  })
  const port = Number(realtime.transports.addresses().quic?.split(':').at(-1))
  const clients: QuicClient[] = []
  const connect: QuicFixture['connect'] = async (clientOptions) => {
    const client = await QuicClient.connect(port, clientOptions)
    clients.push(client)
    return client
  }
  return {
    realtime,
    port,
    incidents,
    async begin() {
      const client = await QuicClient.begin(port)
      clients.push(client)
      return client
    },
    connect,
    async join(token = '', clientOptions) {
      const client = await connect(clientOptions)
      client.send(5, token)
      await client.next()
      return client
    },
    async close() {
      for (const client of clients) client.vanish()
      await realtime.close()
    },
  }
}
