import { fileURLToPath } from 'node:url'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { openSessions, registerDevice } from '../load/accounts.ts'
import { followRoom, openPlayer } from '../load/player.ts'
import { type Comparison, comparisonOf, playInTurn, ratios } from '../load/rounds.ts'
import { runStateLoad, type StateOutcome } from '../load/state-load.ts'
import { WebSocketClient } from '../load/websocket-client.ts'
import { shares } from '../load/window.ts'
import { startBaseline } from '../processes/baseline.ts'
import type { Child } from '../processes/child.ts'
import {
  type ColyseusKind,
  installColyseus,
  openSeats,
  startColyseus,
} from '../processes/colyseus.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { startMeasured } from '../processes/measured.ts'
import { median } from '../statistics.ts'

/** Rooms with state: what a message costs beside Colyseus and bare sockets, and what walks do. */
export const states: readonly Benchmark[] = [
  { name: 'state', run: besideColyseus(shared) },
  { name: 'state-bare', run: besideBare },
  { name: 'state-own', run: besideColyseus(ownParts) },
  { name: 'state-tracked', run: besideColyseus(tracked) },
  { name: 'state-late', run: besideColyseus(tickToClient) },
  { name: 'state-walks', run: walks },
]

const groupSize = 8
const rooms = 200
const hz = 20
const rounds = 5
/** So that something arrives in a quick run, too. */
const secondsMin = 0.5
const laterMsMax = 3
const bareSends = new URL('../baselines/bare-sends.ts', import.meta.url)
const perMessage = 'us of CPU per message that arrived'

type Mode = ColyseusKind | 'plain'
/** What was played in turn, round by round: the product, and what it is compared with. */
type Played<Name extends string> = readonly { [Side in Name | 'product']: StateOutcome }[]
type Rival = { name: string; limit: number; bytes?: number }

function besideColyseus(measure: (bench: Bench, folder: string) => Promise<Row[]>) {
  return async (bench: Bench) => await measure(bench, await installColyseus(bench))
}

async function shared(bench: Bench, folder: string): Promise<Row[]> {
  const played = await inTurn(bench, {
    colyseus: () => runColyseus(bench, folder, 'shared'),
    product: () => runRooms(bench, 'shared'),
  })
  const rival = { name: 'Colyseus', limit: 0.85, bytes: 75 }
  return rowsOf(whatOf(bench, 'all see all'), played, 'colyseus', rival)
}

async function besideBare(bench: Bench): Promise<Row[]> {
  // What the newest message of the product had: the other two send as much.
  let bytes = 64
  const played = await inTurn(bench, {
    product: async () => {
      const outcome = await runRooms(bench, 'shared')
      bytes = Math.round(outcome.bytesEach)
      return outcome
    },
    bare: () => runBare(bench, bytes),
    plain: () => runRooms(bench, 'plain', bytes),
  })
  const what = whatOf(bench, 'all see all')
  const plain = 'a broadcast of as many bytes by the script'
  return [
    ...rowsOf(what, played, 'bare', { name: 'ws.send of as many bytes', limit: 1.35 }),
    ...rowsOf(what, played, 'plain', { name: plain, limit: 1.3 }),
  ]
}

async function ownParts(bench: Bench, folder: string): Promise<Row[]> {
  const played = await inTurn(bench, {
    colyseus: () => runColyseus(bench, folder, 'own'),
    product: () => runRooms(bench, 'own'),
  })
  const rival = { name: 'Colyseus with StateView', limit: 0.85, bytes: 90 }
  return rowsOf(whatOf(bench, 'own hit points'), played, 'colyseus', rival)
}

async function tracked(bench: Bench, folder: string): Promise<Row[]> {
  const played = await inTurn(bench, {
    colyseus: () => runColyseus(bench, folder, 'tracked'),
    product: () => runRooms(bench, 'tracked'),
  })
  const what = whatOf(bench, '20 KB with 10 changes, tracked')
  return rowsOf(what, played, 'colyseus', { name: 'Colyseus', limit: 1 })
}

/** Every state says when its tick was: as many bytes more in each message of both. */
async function tickToClient(bench: Bench, folder: string): Promise<Row[]> {
  const played = await inTurn(bench, {
    colyseus: () => runColyseus(bench, folder, 'stamped'),
    product: () => runRooms(bench, 'stamped'),
  })
  const compared = comparedWith(played, 'colyseus', (ours, theirs) => ours.p99Ms - theirs.p99Ms)
  const { product, baseline } = compared
  const later = compared.rounds.map(({ ratio }) => ratio.toFixed(1)).join(', ')
  return [
    {
      what: whatOf(bench, 'p99 of tick to client'),
      product: { value: product.p99Ms, unit: 'ms' },
      baseline: { name: 'Colyseus', value: baseline.p99Ms, unit: 'ms' },
      bound: { of: 'value', is: 'at most', limit: baseline.p99Ms + laterMsMax },
      notes: `later by ${later} ms (${shares(product)})`,
    },
  ]
}

function inTurn<Name extends string>(
  bench: Bench,
  sides: { [Side in Name | 'product']: () => Promise<StateOutcome> },
): Promise<Played<Name>> {
  return playInTurn(sides, { rounds: bench.count(rounds) })
}

function comparedWith<Name extends string>(
  played: Played<Name>,
  name: Name,
  ratioOf: (ours: StateOutcome, theirs: StateOutcome) => number,
): Comparison<StateOutcome, StateOutcome> {
  const pairs = played.map((round) => ({ product: round.product, baseline: round[name] }))
  return comparisonOf(pairs, ratioOf)
}

/** What a message costs; and, if there is a bound of its bytes, what it has and how often it is. */
function rowsOf<Name extends string>(
  what: string,
  played: Played<Name>,
  side: Name,
  { name, limit, bytes }: Rival,
): Row[] {
  const compared = comparedWith(played, side, (ours, theirs) => ours.cpuUsEach / theirs.cpuUsEach)
  const { product, baseline, ratio } = compared
  const cost: Row = {
    what,
    product: { value: product.cpuUsEach, unit: perMessage },
    baseline: { name, value: baseline.cpuUsEach, unit: perMessage },
    ratio,
    bound: { of: 'ratio', is: 'at most', limit },
    notes: `${ratios(compared)}; ${shares(product)}; baseline ${shares(baseline)}`,
  }
  if (bytes === undefined) return [cost]
  return [
    cost,
    {
      what: `${what}: a message`,
      product: { value: product.bytesEach, unit: 'bytes' },
      baseline: { name, value: baseline.bytesEach, unit: 'bytes' },
      ratio: product.bytesEach / baseline.bytesEach,
      bound: { of: 'value', is: 'at most', limit: bytes },
    },
    {
      what: `${what}: how often`,
      product: { value: product.hz, unit: 'a second' },
      baseline: { name, value: baseline.hz, unit: 'a second' },
      bound: { of: 'value', is: 'at least', limit: hz - 0.1 },
    },
  ]
}

function whatOf(bench: Bench, what: string): string {
  return `states, ${bench.count(rooms)} rooms of ${groupSize} at ${hz} Hz: ${what}`
}

const keys = {
  'runtime.scripts_dir': fileURLToPath(new URL('../../game-state', import.meta.url)),
  'runtime.require_script': true,
  'transport.limits.max_connections_per_address': 20_000,
}

async function runRooms(bench: Bench, mode: Mode, bytes = 0): Promise<StateOutcome> {
  await using server = await startGuildhall(bench, { keys, on: 'both' })
  await registerDevice(server.port)
  const sessions = await openSessions(server.port, bench.count(rooms) * groupSize)
  return await loaded(bench, server, (room) => {
    const own = sessions.slice(room * groupSize, (room + 1) * groupSize)
    return own.map(async ({ token }) => {
      const player = await openPlayer(server.port, token)
      await followRoom(player, `${mode}-${room}`, { mode, bytes })
      return player
    })
  })
}

async function runColyseus(
  bench: Bench,
  folder: string,
  kind: ColyseusKind,
): Promise<StateOutcome> {
  await using server = await startColyseus(bench, folder, kind)
  return await loaded(bench, server, () => openSeats(server))
}

async function runBare(bench: Bench, bytes: number): Promise<StateOutcome> {
  const args = [groupSize, bytes, hz].map(String)
  await using server = await startBaseline(bench, bareSends, { args, on: 'both' })
  const open = () => WebSocketClient.open({ port: server.port, path: '/' })
  return await loaded(bench, server, () => Array.from({ length: groupSize }, open))
}

type Seats = readonly Promise<WebSocketClient>[]

async function loaded(
  bench: Bench,
  server: Child,
  seatsOf: (room: number) => Seats | Promise<Seats>,
): Promise<StateOutcome> {
  const players: WebSocketClient[] = []
  for (let room = 0; room < bench.count(rooms); room += 1) {
    players.push(...(await Promise.all(await seatsOf(room))))
  }
  return await runStateLoad(server, players, Math.max(secondsMin, bench.seconds(5)))
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
    {
      what: 'a card played in 8 hands: a message',
      product: { value: Number(program.fact('card_bytes')), unit: 'bytes' },
      bound: { of: 'value', is: 'at most', limit: 25 },
    },
  ]
}
