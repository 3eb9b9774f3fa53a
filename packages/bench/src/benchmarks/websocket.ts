import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { compareEchoes, openPeers } from '../load/echo-comparison.ts'
import { webSocketPeer } from '../load/echo-load.ts'
import { openGuest } from '../load/player.ts'
import { WebSocketClient } from '../load/websocket-client.ts'
import { startBaseline } from '../processes/baseline.ts'
import type { Child } from '../processes/child.ts'
import { startScripted } from '../processes/scripted.ts'

/**
 * Messages over WebSocket beside a bare echo; with another checkout beside its product, in many
 * short turns, since a difference of one part in fifty shall show.
 */
export const webSocket: Benchmark = { name: 'websocket', comparesCheckouts: true, run }

const bareEcho = new URL('../baselines/bare-echo.ts', import.meta.url)
const roundsBesideOther = 21

async function run(bench: Bench): Promise<Row[]> {
  const { against } = bench
  await using server = await startScripted(bench)
  await using other =
    against === undefined
      ? await startBaseline(bench, bareEcho)
      : await startScripted(bench, { checkout: against })
  const ours = { server, peers: await openGuests(server) }
  const theirs = {
    server: other,
    peers: against === undefined ? await openBare(other) : await openGuests(other),
  }
  const sides = {
    ...{ ours, theirs, what: 'over WebSocket' },
    name: against === undefined ? 'a bare echo by ws' : 'the other checkout',
    seconds: bench.seconds(against === undefined ? 2 : 1),
  }
  const how = against === undefined ? {} : { rounds: roundsBesideOther, limit: 0.98 }
  const rows = [
    await compareEchoes(sides, { ...how, inFlight: 1 }),
    await compareEchoes(sides, { ...how, inFlight: 8 }),
  ]
  for (const peer of [...ours.peers, ...theirs.peers]) peer.close()
  return rows
}

function openGuests({ port }: Child) {
  return openPeers(async () => webSocketPeer(await openGuest(port)))
}

function openBare({ port }: Child) {
  return openPeers(async () => webSocketPeer(await WebSocketClient.open({ port, path: '/' })))
}
