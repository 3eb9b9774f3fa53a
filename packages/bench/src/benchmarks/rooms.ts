import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { frameHeaderBytes, kinds } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { openSessions, registerDevice } from '../load/accounts.ts'
import { naiveRelay, runNaiveRelay, scriptTraffic } from '../load/naive-relay-load.ts'
import { type PacedOutcome, runPacedBroadcast } from '../load/paced-broadcast.ts'
import { callScript, enterRoom, frameMessage, openPlayer } from '../load/player.ts'
import { type RelayOutcome, runRelayLoad } from '../load/relay-load.ts'
import { runRoomChurn } from '../load/room-churn.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { WebSocketClient } from '../load/websocket-client.ts'
import { shares, startWindow } from '../load/window.ts'
import { startBaseline } from '../processes/baseline.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'

/** Players in rooms: what they are sent, how they come and go, and what ticks cost. */
export const rooms: Benchmark = { name: 'rooms', run }

const groupSize = 8
const groups = 16
const positionBytes = 16
const tickingRooms = 1000
const tickHz = 20
const crowd = 50
const crowdPerSecond = 100_000
const perCpuSecond = 'deliveries per CPU second'
const barePositionsProgram = new URL('../baselines/bare-positions.ts', import.meta.url)

async function run(bench: Bench): Promise<Row[]> {
  const naive = await runNaiveRelay(bench)
  const broadcast = await broadcasts(bench)
  const positions = [
    await relayedPositions(bench, positionsBy.naive),
    await relayedPositions(bench, positionsBy.bare),
  ]
  const paced = await crowdedRoom(bench)
  const churn = await comingAndGoing(bench)
  const ticks = await idleTicks(bench)
  return [
    deliveries(`broadcast by script, ${groups} rooms of ${groupSize}`, broadcast, {
      naive,
      limit: 2,
    }),
    ...positions,
    crowded(paced),
    {
      what: 'joining a room and leaving it, without hooks',
      product: { value: churn.perSecond, unit: 'joins and leaves per second' },
      bound: { of: 'value', is: 'at least', limit: 20_000 },
      notes: shares(churn),
    },
    {
      what: `${tickingRooms} rooms that tick ${tickHz} times a second`,
      product: { value: ticks.share, unit: 'of a core' },
      bound: { of: 'value', is: 'at most', limit: 0.25 },
      notes: shares(ticks),
    },
  ]
}

function deliveries(
  what: string,
  outcome: RelayOutcome,
  { naive, limit }: { naive: RelayOutcome; limit: number },
): Row {
  return {
    what,
    product: { value: outcome.perCpuSecond, unit: perCpuSecond },
    baseline: { name: naiveRelay.name, value: naive.perCpuSecond, unit: perCpuSecond },
    ratio: outcome.perCpuSecond / naive.perCpuSecond,
    bound: { of: 'ratio', is: 'at least', limit },
    notes: `${Math.round(outcome.perSecond)}/s (${shares(outcome)})`,
  }
}

function crowded(paced: PacedOutcome): Row {
  const { p50, p99, perSecond } = paced
  return {
    what: `p99 of ${crowdPerSecond} deliveries per second to ${crowd} players of a room`,
    product: { value: p99, unit: 'ms' },
    bound: { of: 'value', is: 'at most', limit: 20 },
    notes: `${Math.round(perSecond)}/s, none cut, p50 ${p50.toFixed(1)} ms (${shares(paced)})`,
  }
}

const unlimited = {
  'transport.limits.inbound_envelopes_per_sec': 0,
  'transport.limits.inbound_bytes_per_sec': 0,
}

const withScript = {
  ...unlimited,
  'runtime.scripts_dir': fileURLToPath(new URL('../../game-rooms', import.meta.url)),
  'runtime.require_script': true,
}

async function broadcasts(bench: Bench): Promise<RelayOutcome> {
  await using server = await startGuildhall(bench, { keys: withScript })
  return await runRelayLoad({
    server,
    players: await inRooms(server, groups * groupSize, (index) => roomOf(index)),
    ...scriptTraffic,
    seconds: bench.seconds(5),
  })
}

/** One position of each player is on the way at a time: a newer one would take its place. */
const positionLoad = {
  groupSize,
  message: frameMessage(kinds.POSITION.first, Buffer.alloc(positionBytes)),
  deliveryBytes: frameHeaderBytes + 8 + positionBytes,
  inFlight: 1,
}

type PositionBaseline = {
  name: string
  run(bench: Bench): Promise<RelayOutcome>
  bound?: Row['bound']
}

/** The first is what a bound holds against; the second says how much room is left. */
const positionsBy = {
  naive: {
    name: naiveRelay.name,
    run: runNaiveRelay,
    bound: { of: 'ratio', is: 'at least', limit: 3.24 },
  },
  bare: { name: 'their reads and writes on bare sockets', run: barePositions },
} as const satisfies Record<string, PositionBaseline>

async function relayedPositions(bench: Bench, baseline: PositionBaseline): Promise<Row> {
  const load = { ...positionLoad, seconds: bench.seconds(3) }
  const compared = await compareInTurn(
    {
      product: async () => {
        await using server = await startGuildhall(bench, { keys: unlimited })
        const players = await inRooms(server, groups * groupSize, (index) => roomOf(index))
        return await runRelayLoad({ ...load, server, players })
      },
      baseline: () => baseline.run(bench),
      ratioOf: (ours: RelayOutcome, theirs: RelayOutcome) =>
        ours.perCpuSecond / theirs.perCpuSecond,
    },
    { rounds: 5 },
  )
  const { product, baseline: theirs, ratio } = compared
  return {
    what: `position relay, ${groups} rooms of ${groupSize}`,
    product: { value: product.perCpuSecond, unit: perCpuSecond },
    baseline: { name: baseline.name, value: theirs.perCpuSecond, unit: perCpuSecond },
    ratio,
    ...(baseline.bound && { bound: baseline.bound }),
    notes: `${ratios(compared)}; ${Math.round(product.perSecond)}/s (${shares(product)})`,
  }
}

async function barePositions(bench: Bench): Promise<RelayOutcome> {
  const load = { ...positionLoad, seconds: bench.seconds(3) }
  const args = [groupSize, load.message.length, load.deliveryBytes].map(String)
  await using server = await startBaseline(bench, barePositionsProgram, { args })
  const players: WebSocketClient[] = []
  for (let player = 0; player < groups * groupSize; player += 1) {
    players.push(await WebSocketClient.open({ port: server.port, path: '/' }))
  }
  return await runRelayLoad({ ...load, server, players })
}

/** Everybody in one room, at a rate that is given from outside. */
async function crowdedRoom(bench: Bench): Promise<PacedOutcome> {
  await using server = await startGuildhall(bench, { keys: withScript })
  return await runPacedBroadcast({
    server,
    players: await inRooms(server, crowd, () => 'crowd'),
    kind: scriptTraffic.kind,
    bodyBytes: scriptTraffic.bodyBytes,
    deliveriesPerSecond: crowdPerSecond,
    seconds: bench.seconds(5),
  })
}

async function comingAndGoing(bench: Bench) {
  await using server = await startGuildhall(bench, { keys: unlimited })
  const players = await connected(server, groups * groupSize)
  return await runRoomChurn({ server, players, seconds: bench.seconds(5) })
}

/** What the node and its script compute while nothing happens but ticks. */
async function idleTicks(bench: Bench) {
  const keys = { ...withScript, 'runtime.tick_hz': tickHz }
  const seconds = bench.seconds(5)
  await using server = await startGuildhall(bench, { keys })
  const players = await inRooms(server, tickingRooms, (index) => `tick-${index}`)
  const end = startWindow(server)
  await sleep(seconds * 1000)
  const window = end()
  const [first] = players
  if (first) await callScript(first, 'ticks', '')
  for (const player of players) player.close()
  return { ...window, share: window.cpuMs / 1000 / window.seconds }
}

const roomOf = (index: number) => `room-${Math.floor(index / groupSize)}`

async function inRooms(
  server: Child,
  count: number,
  nameOf: (index: number) => string,
): Promise<WebSocketClient[]> {
  const players = await connected(server, count)
  for (const [index, player] of players.entries()) await enterRoom(player, nameOf(index))
  return players
}

async function connected(server: Child, count: number): Promise<WebSocketClient[]> {
  await registerDevice(server.port)
  const sessions = await openSessions(server.port, count)
  const players: WebSocketClient[] = []
  for (const { token } of sessions) players.push(await openPlayer(server.port, token))
  return players
}
