import { fileURLToPath } from 'node:url'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { openSessions, registerDevice } from '../load/accounts.ts'
import { followRoom, openPlayer } from '../load/player.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { runStateLoad, type StateOutcome } from '../load/state-load.ts'
import { WebSocketClient } from '../load/websocket-client.ts'
import { shares } from '../load/window.ts'
import { startBaseline } from '../processes/baseline.ts'
import type { Child } from '../processes/child.ts'
import {
  type ColyseusKind,
  installColyseus,
  openSeat,
  startColyseus,
} from '../processes/colyseus.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { startMeasured } from '../processes/measured.ts'
import { median } from '../statistics.ts'

/** Rooms with state: what a message costs beside Colyseus and bare sockets, and what walks do. */
export const state: Benchmark = { name: 'state', run }

const groupSize = 8
const rooms = 200
const hz = 20
const rounds = 5
const laterMsMax = 3
const bareSends = new URL('../baselines/bare-sends.ts', import.meta.url)
const perMessage = 'us of CPU per message that arrived'

type Mode = 'shared' | 'own' | 'tracked' | 'stamped' | 'plain'
type Side = { name: string; limit?: number; run(): Promise<StateOutcome> }

async function run(bench: Bench): Promise<Row[]> {
  const folder = await installColyseus(bench)
  const colyseus = (kind: 'shared' | 'own', limit: number): Side => {
    const name = kind === 'own' ? 'Colyseus with StateView' : 'Colyseus'
    return { name, limit, run: () => runColyseus(bench, folder, kind) }
  }
  const bare: Side = { name: 'ws.send of as many bytes', limit: 1.35, run: () => runBare(bench) }
  const plain: Side = {
    name: 'a broadcast of as many bytes by the script',
    limit: 1.3,
    run: () => runRooms(bench, 'plain'),
  }
  return [
    ...(await compared(bench, 'shared', { of: colyseus('shared', 0.85), bytes: 75 })),
    ...(await compared(bench, 'shared', { of: bare })),
    ...(await compared(bench, 'shared', { of: plain })),
    ...(await compared(bench, 'own', { of: colyseus('own', 0.85), bytes: 90 })),
    ...(await compared(bench, 'tracked', { of: colyseus('shared', 1) })),
    await tickToClient(bench, folder),
    ...(await walks(bench)),
  ]
}

/** Every state says when its tick was: as many bytes more in each message of both. */
async function tickToClient(bench: Bench, folder: string): Promise<Row> {
  const comparison = await compareInTurn(
    {
      product: () => runRooms(bench, 'stamped'),
      baseline: () => runColyseus(bench, folder, 'stamped'),
      ratioOf: (ours, theirs) => ours.p99Ms - theirs.p99Ms,
    },
    { rounds: bench.count(rounds) },
  )
  const { product, baseline } = comparison
  const later = comparison.rounds.map(({ ratio }) => ratio.toFixed(1)).join(', ')
  return {
    what: `states, ${bench.count(rooms)} rooms of ${groupSize} at ${hz} Hz: p99 of tick to client`,
    product: { value: product.p99Ms, unit: 'ms' },
    baseline: { name: 'Colyseus', value: baseline.p99Ms, unit: 'ms' },
    bound: { of: 'value', is: 'at most', limit: baseline.p99Ms + laterMsMax },
    notes: `later by ${later} ms (${shares(product)})`,
  }
}

/** What the newest message of the product had: baselines send as much. */
let bytesEach = 64

async function compared(
  bench: Bench,
  mode: Mode,
  { of, bytes }: { of: Side; bytes?: number },
): Promise<Row[]> {
  const comparison = await compareInTurn(
    {
      product: async () => {
        const outcome = await runRooms(bench, mode)
        bytesEach = Math.round(outcome.bytesEach)
        return outcome
      },
      baseline: of.run,
      ratioOf: (ours, theirs) => ours.cpuUsEach / theirs.cpuUsEach,
    },
    { rounds: bench.count(rounds) },
  )
  const { product, baseline, ratio } = comparison
  const what = `states, ${bench.count(rooms)} rooms of ${groupSize} at ${hz} Hz, ${mode}`
  const limit = of.limit
  const rates = `${product.hz.toFixed(1)} a second, baseline ${baseline.hz.toFixed(1)}`
  const rows: Row[] = [
    {
      what,
      product: { value: product.cpuUsEach, unit: perMessage },
      baseline: { name: of.name, value: baseline.cpuUsEach, unit: perMessage },
      ratio,
      ...(limit !== undefined && { bound: { of: 'ratio', is: 'at most', limit } as const }),
      notes: `${ratios(comparison)}; ${rates} (${shares(product)})`,
    },
  ]
  if (bytes === undefined) return rows
  return [
    ...rows,
    {
      what: `${what}: a message`,
      product: { value: product.bytesEach, unit: 'bytes' },
      baseline: { name: of.name, value: baseline.bytesEach, unit: 'bytes' },
      ratio: product.bytesEach / baseline.bytesEach,
      bound: { of: 'value', is: 'at most', limit: bytes },
    },
    {
      what: `${what}: how often`,
      product: { value: product.hz, unit: 'a second' },
      baseline: { name: of.name, value: baseline.hz, unit: 'a second' },
      bound: { of: 'value', is: 'at least', limit: hz - 0.1 },
    },
  ]
}

const keys = {
  'runtime.scripts_dir': fileURLToPath(new URL('../../game-state', import.meta.url)),
  'runtime.require_script': true,
  'transport.limits.max_connections_per_address': 20_000,
}

async function runRooms(bench: Bench, mode: Mode): Promise<StateOutcome> {
  await using server = await startGuildhall(bench, { keys, on: 'both' })
  await registerDevice(server.port)
  const sessions = await openSessions(server.port, playersOf(bench))
  const players: WebSocketClient[] = []
  for (const [index, { token }] of sessions.entries()) {
    const player = await openPlayer(server.port, token)
    const options = { mode, bytes: bytesEach }
    await followRoom(player, `${mode}-${Math.floor(index / groupSize)}`, options)
    players.push(player)
  }
  return await runStateLoad(server, players, bench.seconds(5))
}

async function runColyseus(
  bench: Bench,
  folder: string,
  kind: ColyseusKind,
): Promise<StateOutcome> {
  await using server = await startColyseus(bench, folder, kind)
  return await runStateLoad(server, await opened(bench, () => openSeat(server)), bench.seconds(5))
}

async function runBare(bench: Bench): Promise<StateOutcome> {
  const args = [groupSize, bytesEach, hz].map(String)
  await using server = await startBaseline(bench, bareSends, { args, on: 'both' })
  const open = () => WebSocketClient.open({ port: server.port, path: '/' })
  return await runStateLoad(server, await opened(bench, open), bench.seconds(5))
}

async function opened(
  bench: Bench,
  open: () => Promise<WebSocketClient>,
): Promise<WebSocketClient[]> {
  const players: WebSocketClient[] = []
  while (players.length < playersOf(bench)) players.push(await open())
  return players
}

function playersOf(bench: Bench): number {
  return bench.count(rooms) * groupSize
}

/** In process, by CPU time. */
async function walks(bench: Bench): Promise<Row[]> {
  const options = { rounds, seconds: bench.seconds(1) }
  await using program: Child = await startMeasured(bench, 'state', { ...options, on: 'server' })
  const rowOf = (what: string, name: string, limit: number): Row => {
    const took = program.fact(`${name}_us`).split(',').map(Number)
    return {
      what,
      product: { value: median(took), unit: 'us' },
      bound: { of: 'value', is: 'at most', limit },
      notes: `rounds ${took.join(', ')} us`,
    }
  }
  return [
    rowOf('a walk through 20 KB without a change', 'idle', 40),
    rowOf('a state of 1 KB that moves: compared and packed', 'moving', 5),
    rowOf('20 KB with 10 changes', 'some', 80),
    rowOf('20 KB with 10 changes, tracked', 'some_tracked', 15),
    rowOf('250 KB with 10 changes', 'large', 2000),
    rowOf('250 KB with 10 changes, tracked', 'large_tracked', 20),
  ]
}
