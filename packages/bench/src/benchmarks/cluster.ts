import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { kinds } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { deviceLogin, deviceSignUp, openSessions, registerDevice } from '../load/accounts.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { type HttpOutcome, runHttpLoad } from '../load/http-load.ts'
import { scriptTraffic } from '../load/naive-relay-load.ts'
import { enterRoom, frameMessage, nextEnvelope, openPlayer } from '../load/player.ts'
import { runRelayLoad } from '../load/relay-load.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import type { WebSocketClient } from '../load/websocket-client.ts'
import { shares } from '../load/window.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { startNats } from '../processes/nats.ts'
import { createDatabase, startPostgres } from '../processes/postgres.ts'
import { cpuMsOf, startedBy } from '../processes/proc.ts'
import { percentile } from '../statistics.ts'

/** Two nodes that play together, beside one of them alone, over each bus. */
export const overNats: Benchmark = { name: 'cluster-nats', run: runOverNats }
export const overNotify: Benchmark = { name: 'cluster-notify', run: runOverNotify }
/** One command with several nodes. */
export const processes: Benchmark = { name: 'processes', run: runProcesses }

const groupSize = 8
const groups = 4
const joins = 200
const audience = 1000
const broadcasts = 50
const broadcastEveryMs = 20
const loginsInFlight = 64
const unit = 'deliveries per CPU second'

type Bus = { name: 'NATS' | 'NOTIFY'; keys: Record<string, string>; joinMs: number; share: number }

/** No rows where no NATS is installed. */
async function runOverNats(bench: Bench): Promise<Row[]> {
  await using nats = await startNats()
  if (nats === undefined) return []
  const keys = { 'cluster.bus': 'nats', 'cluster.nats_url': nats.url }
  return await overBus(bench, { name: 'NATS', keys, joinMs: 5, share: 0.25 })
}

function runOverNotify(bench: Bench): Promise<Row[]> {
  return overBus(bench, { name: 'NOTIFY', keys: {}, joinMs: 30, share: 0.1 })
}

async function runProcesses(bench: Bench): Promise<Row[]> {
  await using postgres = await startPostgres(bench)
  return [await onBothCores(bench, await createDatabase(postgres, 'both_cores'))]
}

async function overBus(bench: Bench, bus: Bus): Promise<Row[]> {
  await using postgres = await startPostgres(bench)
  const url = await createDatabase(postgres, 'cluster')
  const start = (name: string) => startNode(bench, name, { ...bus.keys, 'database.url': url })
  await using owner = await start('owner')
  await using edge = await start('edge')
  await registerDevice(owner.port)
  return [
    await joining(bench, bus, owner, edge),
    await relaying(bench, bus, owner, edge),
    await broadcasting(bench, bus, owner, edge),
  ]
}

function startNode(bench: Bench, name: string, keys: Record<string, string>): Promise<Child> {
  return startGuildhall(bench, {
    keys: {
      ...keys,
      'server.node_id': name,
      'cluster.enabled': true,
      'rooms.max_members': audience + 1,
      // Most players are of one account, and nobody is to come back to a room of the round before.
      'rooms.reconnect_grace_ms': 0,
      'transport.quic.enabled': false,
      'transport.limits.inbound_envelopes_per_sec': 0,
      'transport.limits.inbound_bytes_per_sec': 0,
      'runtime.scripts_dir': fileURLToPath(new URL('../../game-rooms', import.meta.url)),
      'runtime.require_script': true,
    },
  })
}

async function joining(bench: Bench, bus: Bus, owner: Child, edge: Child): Promise<Row> {
  const [host] = await connected(owner, 1)
  if (host === undefined) throw new Error('nobody is connected')
  await enterRoom(host, 'joined')
  const compared = await compareInTurn(
    {
      product: () => joinMs(bench, edge),
      baseline: () => joinMs(bench, owner),
      ratioOf: (there: number, here: number) => there / here,
    },
    { rounds: 3 },
  )
  host.close()
  return {
    what: `join of a room on another node over ${bus.name}, p50`,
    product: { value: compared.product, unit: 'ms' },
    baseline: { name: 'a room on the same node', value: compared.baseline, unit: 'ms' },
    ratio: compared.ratio,
    bound: { of: 'value', is: 'at most', limit: bus.joinMs },
    notes: ratios(compared),
  }
}

/** The median of joins of one player, who leaves after each. */
async function joinMs(bench: Bench, node: Child): Promise<number> {
  const [player] = await connected(node, 1)
  if (player === undefined) throw new Error('nobody is connected')
  const leave = frameMessage(kinds.ROOM_LEAVE.first, Buffer.alloc(8))
  const took: number[] = []
  for (let join = 0; join < bench.count(joins); join += 1) {
    const startMs = performance.now()
    await enterRoom(player, 'joined')
    took.push(performance.now() - startMs)
    const left = nextEnvelope(player, kinds.ROOM_LEAVE.first)
    player.write(leave)
    await left
  }
  player.close()
  return percentile(took, 0.5)
}

async function relaying(bench: Bench, bus: Bus, owner: Child, edge: Child): Promise<Row> {
  const server = together(owner, edge)
  let round = 0
  const deliver = async (node: Child) => {
    round += 1
    const run = round
    const roomOf = (index: number) => `relay-${run}-${index}`
    const hosts = await connected(owner, groups)
    for (const [index, host] of hosts.entries()) await enterRoom(host, roomOf(index))
    const players = await connected(node, groups * groupSize)
    for (const [index, player] of players.entries()) {
      await enterRoom(player, roomOf(Math.floor(index / groupSize)))
    }
    const load = { ...scriptTraffic, groupSize, players, server, seconds: bench.seconds(3) }
    const outcome = await runRelayLoad(load)
    for (const host of hosts) host.close()
    return outcome
  }
  const compared = await compareInTurn(
    {
      product: () => deliver(edge),
      baseline: () => deliver(owner),
      ratioOf: (there, here) => there.perCpuSecond / here.perCpuSecond,
    },
    { rounds: 3 },
  )
  const { product, baseline, ratio } = compared
  return {
    what: `relay to ${groupSize} members on another node over ${bus.name}`,
    product: { value: product.perCpuSecond, unit },
    baseline: { name: 'the same on one node', value: baseline.perCpuSecond, unit },
    ratio,
    bound: { of: 'ratio', is: 'at least', limit: bus.share },
    notes: `CPU of both nodes; ${ratios(compared)} (${shares(product)})`,
  }
}

/** Two nodes, measured as one. */
function together(one: Child, other: Child): Child {
  return {
    ...one,
    cpuMs: () => one.cpuMs() + other.cpuMs(),
    startedCpuMs: () => one.startedCpuMs() + other.startedCpuMs(),
  }
}

async function broadcasting(bench: Bench, bus: Bus, owner: Child, edge: Child): Promise<Row> {
  const [host] = await connected(owner, 1)
  if (host === undefined) throw new Error('nobody is connected')
  await enterRoom(host, 'audience')
  // Of one account only so many may come to a large room at once.
  const listeners = await connected(edge, bench.count(audience), (number) =>
    deviceSignUp(`listener-${number}`),
  )
  for (const listener of listeners) await enterRoom(listener, 'audience')
  const message = frameMessage(scriptTraffic.kind, Buffer.alloc(scriptTraffic.bodyBytes))
  const idle = await messagesOut(owner, () => sleep(broadcasts * broadcastEveryMs))
  const busy = await messagesOut(owner, async () => {
    for (let sent = 0; sent < broadcasts; sent += 1) {
      host.write(message)
      await sleep(broadcastEveryMs)
    }
  })
  for (const each of [host, ...listeners]) each.close()
  return {
    what: `a broadcast to ${listeners.length} members on another node over ${bus.name}`,
    product: { value: (busy - idle) / broadcasts, unit: 'bus messages' },
    bound: { of: 'value', is: 'at most', limit: 1.2 },
    notes: `${broadcasts} of them; without the ${idle} messages of as long a time of silence`,
  }
}

/** How many messages a node sends to others meanwhile. */
async function messagesOut({ port }: Child, meanwhile: () => Promise<unknown>): Promise<number> {
  const connection = await HttpConnection.open(port)
  const count = async () => {
    const { body } = await connection.fetch(httpRequest('GET', '/status'))
    const { metrics } = body as { metrics: { bus_messages_out_total: number } }
    return metrics.bus_messages_out_total
  }
  const before = await count()
  await meanwhile()
  const sent = (await count()) - before
  connection.close()
  return sent
}

/**
 * The same load for each process: one, and two behind the same port. Load and database compute on
 * the same cores, so what counts is what all have served by the time the busiest is busy: with
 * cores for everybody it is what ends the growth.
 */
async function onBothCores(bench: Bench, url: string): Promise<Row> {
  const logins = async (count: number): Promise<HttpOutcome> => {
    const keys = {
      'database.url': url,
      'cluster.enabled': true,
      'transport.quic.enabled': false,
      'server.processes': count,
      'server.node_id': `of-${count}`,
      ...(count > 1 && { 'http.bind': `127.0.0.1:${sharedPort}` }),
    }
    await using server = await startGuildhall(bench, { keys, on: 'both' })
    await registerDevice(server.port)
    return await runHttpLoad({
      server: busiestOf(server),
      connections: loginsInFlight * count,
      request: () => deviceLogin,
      status: 200,
      seconds: bench.seconds(4),
    })
  }
  const compared = await compareInTurn(
    {
      product: () => logins(2),
      baseline: () => logins(1),
      ratioOf: (two, one) => two.perCpuSecond / one.perCpuSecond,
    },
    { rounds: 5 },
  )
  const { product, baseline, ratio, rounds } = compared
  const walls = rounds.map((round) => round.product.perSecond / round.baseline.perSecond)
  const unit = 'logins per CPU second of the busiest'
  return {
    what: 'device login on PostgreSQL, `server.processes` 2',
    product: { value: product.perCpuSecond, unit },
    baseline: { name: 'one process', value: baseline.perCpuSecond, unit },
    ratio,
    bound: { of: 'ratio', is: 'at least', limit: 1.5 },
    notes: `${ratios(compared)}; per second, load and database on the same two cores: ${walls
      .map((wall) => wall.toFixed(2))
      .join(', ')} (${shares(product)})`,
  }
}

/** Measured by the busiest of its processes: from the first question on. */
function busiestOf(server: Child): Child {
  const started = startedBy(server.pid)
  const pids = started.length > 0 ? started : [server.pid]
  const before: number[] = []
  return {
    ...server,
    cpuMs() {
      const now = pids.map(cpuMsOf)
      if (before.length === 0) before.push(...now)
      return Math.max(...now.map((ms, at) => ms - (before[at] ?? 0)))
    },
  }
}

const sharedPort = 17_350

async function connected(
  node: Child,
  count: number,
  login?: (number: number) => Buffer,
): Promise<WebSocketClient[]> {
  const sessions = await openSessions(node.port, count, login)
  const players: WebSocketClient[] = []
  for (const { token } of sessions) players.push(await openPlayer(node.port, token))
  return players
}
