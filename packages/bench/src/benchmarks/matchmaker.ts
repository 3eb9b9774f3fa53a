import { createServer } from 'node:net'
import { createPlayer } from '@guildhall/client'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { registerDevice } from '../load/accounts.ts'
import { httpRequest } from '../load/http-connection.ts'
import { pacedLatencies } from '../load/paced-reads.ts'
import { callScript, openGuest } from '../load/player.ts'
import type { WebSocketClient } from '../load/websocket-client.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { startMeasured } from '../processes/measured.ts'
import { median, percentile } from '../statistics.ts'

/** Tickets and parties: how fast they are served, and what the others feel of it. */
export const matchmaker: Benchmark = { name: 'matchmaker', run }

const small = 1000
const large = 10_000
const waiting = 50_000
const rounds = 5
const unmatched = 2000
const members = 8
const intervalMs = 2

async function run(bench: Bench): Promise<Row[]> {
  return [...(await inProcess(bench)), ...(await besideOthers(bench)), await partyEvents(bench)]
}

/** Passes over tickets that come at once, with rooms and tokens, without sockets. */
async function inProcess(bench: Bench): Promise<Row[]> {
  // Of a smaller crowd too few are in reach of each other.
  const crowd = Math.max(small, bench.count(large))
  const sizes = { small, large: crowd, waiting: bench.count(waiting) }
  await using program = await startMeasured(bench, 'matchmaker', { ...sizes, rounds, on: 'server' })
  const listOf = (name: string) => program.fact(name).split(',').map(Number)
  const rowOf = (what: string, name: string, limit: number): Row => ({
    what,
    product: { value: median(listOf(name)), unit: 'ms' },
    bound: { of: 'value', is: 'at most', limit },
    notes: `rounds ${listOf(name).join(', ')} ms`,
  })
  return [
    rowOf(`longest slice with ${small} tickets, one against one`, 'small_kept_ms', 20),
    rowOf(`longest slice with ${sizes.large} tickets`, 'large_kept_ms', 20),
    rowOf(`${sizes.large} tickets, until they have their tokens`, 'large_ms', 1000),
    {
      what: `heap of a waiting ticket, of ${sizes.waiting}`,
      product: { value: Number(program.fact('ticket_bytes')), unit: 'bytes' },
      bound: { of: 'value', is: 'at most', limit: 1024 },
    },
  ]
}

/** A node whose passes hardly end, because its tickets never come to an allowed number. */
async function besideOthers(bench: Bench): Promise<Row[]> {
  const metricsPort = await freePort()
  await using server = await startGuildhall(bench, {
    keys: {
      'transport.limits.max_connections_per_address': 10_000,
      'metrics.enabled': true,
      'metrics.auth': 'none',
      'metrics.bind': `127.0.0.1:${metricsPort}`,
    },
  })
  const request = httpRequest('GET', '/v1/account', { token: await registerDevice(server.port) })
  const seconds = Math.max(1, bench.seconds(3))
  const pace = { intervalMs, seconds }
  const guests: WebSocketClient[] = []
  for (let index = 0; index < unmatched; index += 1) guests.push(await openGuest(server.port))
  await pacedLatencies(server.port, request, pace)
  const unloaded: number[] = []
  const loaded: number[] = []
  const lags: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    unloaded.push(percentile(await pacedLatencies(server.port, request, pace), 0.99))
    const ttl_ms = (seconds + 10) * 1000
    for (const [index, guest] of guests.entries()) {
      await callScript(guest, 'matchmaker.add', waitingForMore(index, ttl_ms))
    }
    const before = await lagCounts(metricsPort)
    loaded.push(percentile(await pacedLatencies(server.port, request, pace), 0.99))
    lags.push(lagBound(before, await lagCounts(metricsPort)))
    for (const guest of guests) guest.close()
    guests.length = 0
    if (round === rounds - 1) break
    for (let index = 0; index < unmatched; index += 1) guests.push(await openGuest(server.port))
  }
  const [calm, busy] = [median(unloaded), median(loaded)]
  return [
    {
      what: `p99 of GET /v1/account while ${unmatched} tickets are passed over without end`,
      product: { value: busy, unit: 'ms' },
      baseline: { name: 'without tickets', value: calm, unit: 'ms' },
      ratio: busy / calm,
      bound: { of: 'ratio', is: 'at most', limit: 2 },
      notes: `medians of ${rounds} rounds (${list(unloaded)} and ${list(loaded)} ms)`,
    },
    {
      what: 'p99 of the lag of the event loop meanwhile, at most',
      product: { value: median(lags), unit: 'ms' },
      bound: { of: 'value', is: 'at most', limit: 25 },
      notes: `rounds ${list(lags)} ms; bounds of the buckets of event_loop_lag_seconds`,
    },
  ]
}

/**
 * Two of the tickets fit each other and want a third: each is compared with all others in every
 * pass. Those that fit nobody at all would be compared once.
 */
function waitingForMore(index: number, ttl_ms: number): string {
  const a = index >> 1
  return JSON.stringify({ query: `a == ${a}`, properties: { a }, min_count: 3, ttl_ms })
}

/** From the leader's call until the last of all members has heard of it. */
async function partyEvents(bench: Bench): Promise<Row> {
  await using server = await startGuildhall(bench)
  const url = `http://127.0.0.1:${server.port}`
  const arrivals = Array.from({ length: members }, async (_, index) => {
    const player = createPlayer(url)
    const name = `member-${index}`
    await player.signIn.device({ id: name, create: true, username: name })
    return player.connect()
  })
  const connections = await Promise.all(arrivals)
  const [leader, ...others] = connections
  if (leader === undefined) throw new Error('there is a leader')
  const { party_id } = await leader.party.create({ open: true })
  for (const other of others) await other.party.join({ party_id })
  const times: number[] = []
  for (let round = 0; round < bench.count(1000); round += 1) {
    const startMs = performance.now()
    const heard = connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const off = connection.on('party', ({ type }) => {
            if (type !== 'party.presence.delta') return
            off()
            resolve()
          })
        }),
    )
    await Promise.all([...heard, leader.party.update({ party_id, open: round % 2 === 1 })])
    times.push(performance.now() - startMs)
  }
  await Promise.all(connections.map((connection) => connection.close()))
  return {
    what: `a change of a party, until ${members} members have heard of it: p99`,
    product: { value: percentile(times, 0.99), unit: 'ms' },
    bound: { of: 'value', is: 'at most', limit: 10 },
    notes: `p50 ${percentile(times, 0.5).toFixed(2)} ms of ${times.length}, with the SDK`,
  }
}

/** Samples of the lag by the upper bound of their bucket, in milliseconds. */
async function lagCounts(port: number): Promise<Map<number, number>> {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const lines = page.matchAll(/^guildhall_event_loop_lag_seconds_bucket\{le="(\S+)"\} (\d+)$/gm)
  return new Map(Array.from(lines, ([, bound, count]) => [secondsOf(bound) * 1000, Number(count)]))
}

function secondsOf(bound: string | undefined): number {
  return bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)
}

/** The bound of the bucket that the p99 of the samples between two readings is in. */
function lagBound(before: Map<number, number>, after: Map<number, number>): number {
  const counts = [...after].map(([bound, count]) => ({
    bound,
    count: count - (before.get(bound) ?? 0),
  }))
  const all = counts.at(-1)?.count ?? 0
  return counts.find(({ count }) => count >= 0.99 * all)?.bound ?? Number.NaN
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

function list(values: readonly number[]): string {
  return values.map((value) => value.toFixed(1)).join(', ')
}
