import { fileURLToPath } from 'node:url'
import { encodeFrame, frameHeaderBytes } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { openSessions, registerDevice } from '../load/accounts.ts'
import { callScript, openPlayer } from '../load/player.ts'
import { type RelayLoad, runRelayLoad } from '../load/relay-load.ts'
import { clientMessage, WebSocketClient } from '../load/websocket-client.ts'
import { shares } from '../load/window.ts'
import { startBaseline } from '../processes/baseline.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'

/** Messages of players that the game's script sends on to the others of their group. */
export const relay: Benchmark = { name: 'relay', run }

const baseline = new URL('../baselines/naive-relay.ts', import.meta.url)
const groupSize = 8
const groups = 16
const inFlight = 4
const bodyBytes = 64
const kind = 100
const unit = 'deliveries per CPU second'

async function run(bench: Bench): Promise<Row[]> {
  const frame = encodeFrame(kind, Buffer.alloc(bodyBytes, 'relay '))
  const load = {
    groupSize,
    inFlight,
    message: clientMessage(frame),
    deliveryBytes: frameHeaderBytes + bodyBytes,
    seconds: bench.seconds(5),
  }
  const theirs = await relayOfBaseline(bench, load)
  const ours = await relayOfProduct(bench, load)
  return [
    {
      what: `script relay, ${groups} groups of ${groupSize}, ${bodyBytes}-byte messages`,
      product: { value: ours.perCpuSecond, unit },
      baseline: { name: 'a ws.send per recipient', value: theirs.perCpuSecond, unit },
      ratio: ours.perCpuSecond / theirs.perCpuSecond,
      bound: { of: 'value', is: 'at least', limit: 300_000 },
      notes:
        `groups kept by the script; ${Math.round(ours.perSecond)}/s (${shares(ours)}); ` +
        `baseline ${Math.round(theirs.perSecond)}/s (${shares(theirs)})`,
    },
  ]
}

type Traffic = Omit<RelayLoad, 'server' | 'players'>

async function relayOfBaseline(bench: Bench, traffic: Traffic) {
  await using server = await startBaseline(bench, baseline, { args: [String(groupSize)] })
  const players: WebSocketClient[] = []
  for (let player = 0; player < groups * groupSize; player += 1) {
    players.push(await WebSocketClient.open({ port: server.port, path: '/' }))
  }
  return await runRelayLoad({ ...traffic, server, players })
}

async function relayOfProduct(bench: Bench, traffic: Traffic) {
  await using server = await startGuildhall(bench, {
    keys: {
      'runtime.scripts_dir': fileURLToPath(new URL('../../game', import.meta.url)),
      'runtime.require_script': true,
      'transport.limits.inbound_envelopes_per_sec': 0,
      'transport.limits.inbound_bytes_per_sec': 0,
    },
  })
  const players = await joinGroups(server)
  return await runRelayLoad({ ...traffic, server, players })
}

async function joinGroups(server: Child): Promise<WebSocketClient[]> {
  await registerDevice(server.port)
  const sessions = await openSessions(server.port, groups * groupSize)
  const tokens = sessions.map(({ token }) => token)
  const players: WebSocketClient[] = []
  for (const [index, token] of tokens.entries()) {
    const player = await openPlayer(server.port, token)
    await callScript(player, 'group', `group-${Math.floor(index / groupSize)}`)
    players.push(player)
  }
  return players
}
