import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import {
  type EchoOutcome,
  type EchoPeer,
  echoBytes,
  openQuicGuest,
  quicPeer,
  runEchoes,
  webSocketPeer,
} from '../load/echo-load.ts'
import { openGuest } from '../load/player.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { WebSocketClient } from '../load/websocket-client.ts'
import { shares } from '../load/window.ts'
import { startBaseline } from '../processes/baseline.ts'
import type { Child } from '../processes/child.ts'
import { type GuildhallOptions, startGuildhall } from '../processes/guildhall.ts'
import { startScripted } from '../processes/scripted.ts'
import { collectsGarbage, settledBytes } from '../processes/settled.ts'
import { median } from '../statistics.ts'

/** QUIC beside WebSocket: messages, handshakes, idle connections, and the start of the node. */
export const transports: Benchmark = { name: 'transports', run }

const bareEcho = new URL('../baselines/bare-echo.ts', import.meta.url)
const connections = 64
const rounds = 5
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
  await using bare = await startBaseline(bench, bareEcho)
  const port = quicPort(server)
  const plain = await open(async () =>
    webSocketPeer(await WebSocketClient.open({ port: bare.port, path: '/' })),
  )
  const webSocket = await open(async () => webSocketPeer(await openGuest(server.port)))
  const streams = await open(() => quicPeer(port, 'stream'))
  const datagrams = await open(() => quicPeer(port, 'datagrams'))
  const seconds = bench.seconds(2)
  const compare = async (sides: Sides, inFlight: number, limit?: number): Promise<Row> => {
    const { ours, theirs, what, name } = sides
    const compared = await compareInTurn(
      {
        product: () => runEchoes(ours, { inFlight, seconds }),
        baseline: () => runEchoes(theirs, { inFlight, seconds }),
        ratioOf: (one: EchoOutcome, other: EchoOutcome) => one.perCpuSecond / other.perCpuSecond,
      },
      { rounds },
    )
    return echoRow(compared, { what: `${what}, ${inFlight} in flight`, name, limit })
  }
  const overWebSocket = { server, peers: webSocket }
  const ofNode = { theirs: overWebSocket, name: 'the same over WebSocket' }
  const overStreams = { ...ofNode, ours: { server, peers: streams }, what: 'on a QUIC stream' }
  const overDatagrams = { ...ofNode, ours: { server, peers: datagrams }, what: 'by datagrams' }
  const bareSides = { theirs: { server: bare, peers: plain }, name: 'a bare echo by ws' }
  const overBare = { ...bareSides, ours: overWebSocket, what: 'over WebSocket' }
  const rows = [
    await compare(overBare, 1),
    await compare(overBare, 8),
    await compare(overStreams, 1),
    await compare(overStreams, 8, 0.5),
    await compare(overDatagrams, 8, 0.8),
  ]
  for (const peer of [...plain, ...webSocket, ...streams, ...datagrams]) peer.close()
  return rows
}

type Side = { server: Child; peers: readonly EchoPeer[] }
type Sides = { ours: Side; theirs: Side; what: string; name: string }

function echoRow(
  compared: Awaited<ReturnType<typeof compareInTurn<EchoOutcome, EchoOutcome>>>,
  { what, name, limit }: { what: string; name: string; limit: number | undefined },
): Row {
  const { product, baseline, ratio } = compared
  const unit = 'echoes per CPU second'
  return {
    what: `${echoBytes} bytes to the script and back ${what}, ${connections} connections`,
    product: { value: product.perCpuSecond, unit },
    baseline: { name, value: baseline.perCpuSecond, unit },
    ratio,
    ...(limit === undefined ? {} : { bound: { of: 'ratio', is: 'at least', limit } }),
    notes:
      `${ratios(compared)}; ${Math.round(product.perSecond)}/s (${shares(product)}); ` +
      `baseline ${Math.round(baseline.perSecond)}/s (${shares(baseline)}); lost ${product.lost}`,
  }
}

async function open<Opened>(one: () => Promise<Opened>, count = connections): Promise<Opened[]> {
  const opened: Opened[] = []
  for (let at = 0; at < count; at += 1) {
    opened.push(await one())
    if (at % opensPerSecond === opensPerSecond - 1) await sleep(1000)
  }
  return opened
}

/** A client computes as much for a handshake as the node does: what it waits is the node's part. */
async function handshakes(bench: Bench): Promise<Row[]> {
  await using server = await startGuildhall(bench, { keys: quic })
  const port = quicPort(server)
  const times: number[] = []
  const waits: number[] = []
  const one = async () => {
    const client = await openQuicGuest(port)
    times.push(performance.now() - client.firstPacketAtMs)
    waits.push(client.waitedMs)
    client.close()
  }
  const count = bench.count(500)
  await open(one, 20)
  await sleep(1000)
  times.length = 0
  waits.length = 0
  const beforeMs = server.cpuMs()
  await open(one, count)
  const cpuMs = (server.cpuMs() - beforeMs) / count
  const what = 'QUIC handshake of a guest, from the first packet to AUTH_RESULT'
  const rowOf = (part: string, all: readonly number[]): Row => ({
    what: `${what}${part}`,
    product: { value: median(all), unit: 'ms' },
    notes: `median of ${count}, one after the other; ${cpuMs.toFixed(2)} ms of the node's CPU each`,
  })
  const whole = rowOf('', times)
  return [
    { ...whole, bound: { of: 'value', is: 'at most', limit: 4 } },
    rowOf(', without what the client computes', waits),
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
    { rounds: bench.count(15) },
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
