import { encodeFrame, frameHeaderBytes } from '@guildhall/contract'
import type { Bench } from '../benchmark.ts'
import { startBaseline } from '../processes/baseline.ts'
import { type RelayLoad, type RelayOutcome, runRelayLoad } from './relay-load.ts'
import { clientMessage, WebSocketClient } from './websocket-client.ts'

const program = new URL('../baselines/naive-relay.ts', import.meta.url)
const groupSize = 8
const bodyBytes = 64

/** What relays are compared with: a `ws.send` per recipient, for 16 groups of 8 players. */
export const naiveRelay = { name: 'a ws.send per recipient', players: 16 * groupSize, groupSize }

/** Messages of the kind that scripts pass on, as many as keep a server busy. */
export const scriptTraffic = {
  kind: 100,
  groupSize,
  inFlight: 4,
  message: clientMessage(encodeFrame(100, Buffer.alloc(bodyBytes, 'relay '))),
  bodyBytes,
  deliveryBytes: frameHeaderBytes + bodyBytes,
} as const satisfies Omit<RelayLoad, 'server' | 'players' | 'seconds'> & {
  kind: number
  bodyBytes: number
}

/** The naive relay under `scriptTraffic`. */
export async function runNaiveRelay(bench: Bench): Promise<RelayOutcome> {
  await using server = await startBaseline(bench, program, { args: [String(groupSize)] })
  const players: WebSocketClient[] = []
  for (let player = 0; player < naiveRelay.players; player += 1) {
    players.push(await WebSocketClient.open({ port: server.port, path: '/' }))
  }
  return await runRelayLoad({ ...scriptTraffic, server, players, seconds: bench.seconds(3) })
}
