import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { compareEchoes, openPeers } from '../load/echo-comparison.ts'
import { openQuicGuest, quicPeer, webSocketPeer } from '../load/echo-load.ts'
import { openGuest } from '../load/player.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import type { Child } from '../processes/child.ts'
import { type GuildhallOptions, startGuildhall } from '../processes/guildhall.ts'
import { startScripted } from '../processes/scripted.ts'
import { collectsGarbage, settledBytes } from '../processes/settled.ts'
import { median } from '../statistics.ts'

/** QUIC beside WebSocket: messages, handshakes, idle connections, and the start of the node. */
export const transports: Benchmark = { name: 'transports', run }

const quic = { 'transport.quic.bind': '127.0.0.1:0' }
const patient = {
  'transport.quic.idle_timeout_ms': 600_000,
  'transport.quic.keep_alive_ms': 300_000,
}
/** New connections per second that QUIC lets in, with some room. */
const opensPerSecond = 150

async function run(bench: Bench): Promise<Row[]> {
  return [
    ...(await echoes(bench)),
    ...(await handshakes(bench)),
    await idle(bench),
    await starts(bench),
  ]
}

/** The UDP port of the ready line. */
function quicPort(server: Child): number {
  return Number(server.fact('quic').split(':').at(-1))
}

async function echoes(bench: Bench): Promise<Row[]> {
  await using server = await startScripted(bench, { keys: quic })
  const port = quicPort(server)
  const webSocket = await openPeers(async () => webSocketPeer(await openGuest(server.port)))
  const streams = await openPeers(() => quicPeer(port, 'stream'))
  const datagrams = await openPeers(() => quicPeer(port, 'datagrams'))
  const ofNode = {
    theirs: { server, peers: webSocket },
    name: 'the same over WebSocket',
    seconds: bench.seconds(2),
  }
  const overStreams = { ...ofNode, ours: { server, peers: streams }, what: 'on a QUIC stream' }
  const overDatagrams = { ...ofNode, ours: { server, peers: datagrams }, what: 'by datagrams' }
  const rows = [
    await compareEchoes(overStreams, { inFlight: 1 }),
    await compareEchoes(overStreams, { inFlight: 8, limit: 0.5 }),
    await compareEchoes(overDatagrams, { inFlight: 8, limit: 0.8 }),
  ]
  for (const peer of [...webSocket, ...streams, ...datagrams]) peer.close()
  return rows
}

async function open<Opened>(one: () => Promise<Opened>, count: number): Promise<Opened[]> {
  const opened: Opened[] = []
  for (let at = 0; at < count; at += 1) {
    opened.push(await one())
    if (at % opensPerSecond === opensPerSecond - 1) await sleep(1000)
  }
  return opened
}

/**
 * What the node computes for a handshake, and how long a client waits that has the other core to
 * itself: it computes as much as the node does.
 */
async function handshakes(bench: Bench): Promise<Row[]> {
  await using server = await startGuildhall(bench, { keys: quic })
  const port = quicPort(server)
  const times: number[] = []
  const waits: number[] = []
  const overQuic = async () => {
    const client = await openQuicGuest(port)
    times.push(performance.now() - client.firstPacketAtMs)
    waits.push(client.waitedMs)
    client.close()
  }
  const overWebSocket = async () => (await openGuest(server.port)).close()
  const count = bench.count(500)
  const cpuMsOfOne = async (one: () => Promise<void>) => {
    const beforeMs = server.cpuMs()
    await open(one, count)
    return (server.cpuMs() - beforeMs) / count
  }
  // The first ones run in code that is not compiled for speed yet.
  await open(overWebSocket, count)
  await open(overQuic, count)
  await sleep(1000)
  times.length = 0
  waits.length = 0
  const cpuMs = await cpuMsOfOne(overQuic)
  const baseline = { name: 'over WebSocket', value: await cpuMsOfOne(overWebSocket), unit: 'ms' }
  const what = 'QUIC handshake of a guest, from the first packet to AUTH_RESULT'
  const notes = `of ${count}, one after the other`
  const bound = { of: 'value', is: 'at most', limit: 4 } as const
  const latency = (part: string, all: readonly number[]): Row => ({
    what: `${what}${part}`,
    product: { value: median(all), unit: 'ms' },
    notes: `median ${notes}`,
  })
  return [
    { what: `${what}: CPU`, product: { value: cpuMs, unit: 'ms' }, baseline, bound, notes },
    latency(', with what the client computes', times),
    { ...latency(', without what the client computes', waits), bound },
  ]
}

async function idle(bench: Bench): Promise<Row> {
  const keys = { ...quic, ...patient }
  await using server = await startGuildhall(bench, { keys, nodeArgs: collectsGarbage })
  const port = quicPort(server)
  const count = bench.count(1000)
  for (const client of await open(() => openQuicGuest(port), 10)) client.close()
  await sleep(1000)
  const before = await settledBytes(server)
  // They leave, and the node does not know yet.
  await open(async () => (await openQuicGuest(port)).vanish(), count)
  const after = await settledBytes(server)
  return {
    what: `resident memory of ${count} idle connections over QUIC`,
    product: { value: (after - before) / 1024 / count, unit: 'KiB each' },
    bound: { of: 'value', is: 'at most', limit: 100 },
    notes: `process ${(before / 2 ** 20).toFixed(0)} to ${(after / 2 ** 20).toFixed(0)} MiB`,
  }
}

async function starts(bench: Bench): Promise<Row> {
  const readyMs = async (options: GuildhallOptions) => {
    await using server = await startGuildhall(bench, options)
    return server.readyMs
  }
  const compared = await compareInTurn(
    {
      product: () => readyMs({}),
      baseline: () => readyMs({ keys: { 'transport.quic.enabled': false } }),
      ratioOf: (ours: number, theirs: number) => ours / theirs,
    },
    { rounds: bench.count(31) },
  )
  return {
    what: 'process start to the ready line with QUIC on by default',
    product: { value: median(compared.rounds.map(({ product }) => product)), unit: 'ms' },
    baseline: {
      name: 'with QUIC off',
      value: median(compared.rounds.map(({ baseline }) => baseline)),
      unit: 'ms',
    },
    ratio: compared.ratio,
    bound: { of: 'ratio', is: 'at most', limit: 1.02 },
    notes: ratios(compared),
  }
}
