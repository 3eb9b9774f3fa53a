import { fileURLToPath } from 'node:url'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { openSessions, registerDevice } from '../load/accounts.ts'
import { naiveRelay, runNaiveRelay, scriptTraffic } from '../load/naive-relay-load.ts'
import { callScript, openPlayer } from '../load/player.ts'
import { runRelayLoad } from '../load/relay-load.ts'
import type { WebSocketClient } from '../load/websocket-client.ts'
import { shares } from '../load/window.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'

/** Messages of players that the game's script sends on to the others of their group. */
export const relay: Benchmark = { name: 'relay', run }

const { groupSize, bodyBytes } = scriptTraffic
const groups = naiveRelay.players / groupSize
const unit = 'deliveries per CPU second'

async function run(bench: Bench): Promise<Row[]> {
  const theirs = await runNaiveRelay(bench)
  const ours = await relayOfProduct(bench)
  return [
    {
      what: `script relay, ${groups} groups of ${groupSize}, ${bodyBytes}-byte messages`,
      product: { value: ours.perCpuSecond, unit },
      baseline: { name: naiveRelay.name, value: theirs.perCpuSecond, unit },
      ratio: ours.perCpuSecond / theirs.perCpuSecond,
      bound: { of: 'value', is: 'at least', limit: 300_000 },
      notes:
        `groups kept by the script; ${Math.round(ours.perSecond)}/s (${shares(ours)}); ` +
        `baseline ${Math.round(theirs.perSecond)}/s (${shares(theirs)})`,
    },
  ]
}

async function relayOfProduct(bench: Bench) {
  await using server = await startGuildhall(bench, {
    keys: {
      'runtime.scripts_dir': fileURLToPath(new URL('../../game', import.meta.url)),
      'runtime.require_script': true,
      'transport.limits.inbound_envelopes_per_sec': 0,
      'transport.limits.inbound_bytes_per_sec': 0,
    },
  })
  const players = await joinGroups(server)
  return await runRelayLoad({ ...scriptTraffic, server, players, seconds: bench.seconds(5) })
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
