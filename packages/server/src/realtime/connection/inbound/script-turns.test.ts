import { encodeFrame, kinds, rpcRequestBody } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { afterOthers } from '../../../kernel/clock.ts'
import type { RpcOutcome } from '../../../kernel/play/calls.ts'
import type { TransportLimits } from '../../config.ts'
import {
  bytesOf,
  type RealtimeFixture,
  startRealtime,
  type TestClient,
  waiting,
} from '../../realtime.fixture.ts'
import type { RecordingScript } from '../../recording-script.fixture.ts'
import { StreamsConnection } from '../transports/streams-connection.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

const game = 100
const unlimited = { inbound_envelopes_per_sec: 0, inbound_bytes_per_sec: 0 }

test('[R-LIM-6] with a full inbox each connection has its turn, one envelope each', async () => {
  const script = await startSlow(16)
  const guests = await joinMany(6)
  const seventh = await realtime.join()
  for (const guest of guests) sendMany(guest, 300)
  await expect.poll(() => script.calls, waiting).toHaveLength(16)
  await expectBytesIn(6 * 300 * 7)
  for (let id = 1; id <= 20; id += 1) seventh.send(kinds.RPC_REQUEST.first, rpc(id, 'ask'))
  await expectBytesIn(6 * 300 * 7 + 20 * rpcFrameBytes)
  for (let settled = 0; settled < 200; settled += 1) script.settleOne()
  const turns = script.calls.flatMap(({ hook }, at) => (hook === 'rpc' ? [at] : []))
  expect(turns).toHaveLength(20)
  const gaps = turns.slice(1).map((at, index) => at - (turns[index] ?? 0))
  expect(Math.max(...gaps)).toBeLessThanOrEqual(7)
  await expect.poll(() => seventh.received.length, waiting).toBeGreaterThan(10)
})

test('[R-LIM-6] one connection has a bounded number of messages with the script', async () => {
  const script = await startSlow(8192)
  const [guest, other] = [await realtime.join(), await realtime.join()]
  sendMany(guest, 500)
  await expectBytesIn(500 * 7)
  expect(script.calls).toHaveLength(64)
  sendMany(other, 1)
  await expect.poll(() => script.calls, waiting).toHaveLength(65)
  await settleAll(script, 501)
  const order = script.calls.flatMap((call) => (call.hook === 'message' ? call.body[0] : []))
  expect(order.filter((_, at) => at !== 64)).toEqual(Array.from({ length: 500 }, (_, n) => n % 256))
})

test.each([
  ['a built-in RPC', kinds.RPC_REQUEST.first, rpc(7, 'rooms.list', '{}'), kinds.RPC_RESPONSE.first],
  ['a request for a room', kinds.ROOM_CREATE.first, new Uint8Array(2), kinds.ROOM_JOINED.first],
  ['a clock sync', kinds.DIAG_CLOCK_SYNC.first, clockSync(), kinds.DIAG_CLOCK_SYNC.first],
  ['an RPC that cannot be read', kinds.RPC_REQUEST.first, new Uint8Array(9), 4],
])('[R-LIM-6] %s does not wait for the script', async (_what, kind, body, answer) => {
  const script = await startSlow(16)
  const client = await realtime.join()
  sendMany(client, 40)
  client.send(kinds.RPC_REQUEST.first, rpc(1, 'ask'))
  client.send(kind, body)
  expect((await client.next()).kind).toBe(answer)
  expect(script.calls).toHaveLength(16)
})

test('[R-LIM-6] a close does not wait for the script, and what was sent is dropped', async () => {
  const script = await startSlow(16)
  const client = await realtime.join('t-ann')
  sendMany(client, 1500)
  await expectBytesIn(1500 * 7)
  client.close(1000)
  await client.closed
  await expect.poll(() => realtime.script.hooks().at(-1), waiting).toBe('leave 1')
  while (script.settleOne()) {}
  expect(script.calls).toHaveLength(16)
})

test('[R-LIM-6] a breach of the protocol does not wait for the script', async () => {
  await startSlow(16)
  const client = await realtime.join()
  sendMany(client, 40)
  client.send(kinds.RPC_REQUEST.first, new Uint8Array(3))
  expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: rpc header' })
})

test('[R-LIM-6] what is not for the script is answered behind a long backlog', async () => {
  const script = await startSlow(16)
  const client = await realtime.join()
  sendMany(client, 1500)
  client.send(kinds.RPC_REQUEST.first, rpc(7, 'rooms.list', '{}'))
  expect((await client.next()).kind).toBe(kinds.RPC_RESPONSE.first)
  expect(script.calls).toHaveLength(16)
})

test('[R-LIM-6] a close behind eight megabytes and beyond the rate is seen at once', async () => {
  const script = await startSlow(16)
  const client = await realtime.join('t-ann')
  const frame = encodeFrame(game, new Uint8Array(60_000))
  for (let sent = 0; sent < 140; sent += 1) client.sendBytes(frame)
  client.socket.close(1000)
  await client.closed
  await expect.poll(() => realtime.script.hooks().at(-1), waiting).toBe('leave 1')
  while (script.settleOne()) {}
  expect(script.calls).toHaveLength(16)
})

test('[R-LIM-6] a peer that sends on while it waits is read up to a bound', async () => {
  const script = await startSlow(16, unlimited)
  const peer = await acceptPeer()
  const frames = encodeFrame(game, new Uint8Array(60_000))
  for (let sent = 0; sent < 16; sent += 1) await bring(peer, frames)
  expect(script.calls).toHaveLength(16)
  let held = 0
  for (; !peer.isPaused && held < 1000; held += 1) await bring(peer, frames)
  expect(held).toBe(280)
  await settleAll(script, 16 + held)
  expect(peer.isPaused).toBe(false)
})

test('[R-LIM-6] a peer that is not read any more and vanishes is missed at once', async () => {
  await startSlow(16, unlimited)
  const client = await realtime.join('t-ann')
  const frame = encodeFrame(game, new Uint8Array(60_000))
  for (let sent = 0; sent < 600; sent += 1) client.sendBytes(frame)
  await expectBytesIn(16 * 1024 * 1024)
  client.socket.terminate()
  const left = async () => {
    await realtime.clock.advance(250)
    return realtime.script.hooks().at(-1)
  }
  await expect.poll(left, waiting).toBe('leave 1')
})

test('[R-LIM-6] all connections together hold a bounded number of bytes for the script', async () => {
  const script = await startSlow(16, { ...unlimited, max_queued_bytes_total: 32 * 1024 * 1024 })
  const peers: StreamsConnection[] = []
  for (let count = 0; count < 12; count += 1) peers.push(await acceptPeer())
  const frames = encodeFrame(game, new Uint8Array(60_000))
  for (const peer of peers) {
    for (let sent = 0; sent < 17 && !peer.isPaused; sent += 1) await bring(peer, frames)
  }
  const paused = peers.filter(({ isPaused }) => isPaused)
  expect(paused.length).toBeGreaterThan(2)
  expect(paused.length).toBeLessThan(5)
  const [first] = peers
  first?.events.closed()
  const stillPaused = () => {
    while (script.settleOne()) {}
    return peers.filter(({ isPaused }) => isPaused)
  }
  await expect.poll(stillPaused, waiting).toEqual([])
})

test('[R-LIV-1] a peer that waits for the script and is read has to answer pings', async () => {
  await startSlow(16)
  const client = await realtime.join()
  sendMany(client, 200)
  await expectBytesIn(200 * 7)
  client.pause()
  await realtime.clock.advance(15_000 + 45_000 + 500)
  client.resume()
  expect(await client.closed).toMatchObject({ code: 4006 })
})

type SlowScript = {
  /** The messages and RPCs that the script was given. */
  readonly calls: RecordingScript['calls']
  /** Settles the oldest call; false when there is none. */
  settleOne(): boolean
}

/** A gateway whose script settles one call after the other, when the test says so. */
async function startSlow(
  inboxMax: number,
  limits: Partial<TransportLimits> = {},
): Promise<SlowScript> {
  realtime = await startRealtime({ limits })
  const { script } = realtime
  script.kinds.add(game)
  const open: (() => void)[] = []
  const calls: RecordingScript['calls'] = []
  let drained: (() => void)[] = []
  script.congested = () => script.isCongested
  script.onceDrained = (listener) => void drained.push(listener)
  const add = (call: RecordingScript['calls'][number], settle: () => void) => {
    calls.push(call)
    open.push(settle)
    if (open.length >= inboxMax) script.isCongested = true
  }
  script.message = (context, message, settled) =>
    add({ hook: 'message', context, ...message }, () => settled('ok'))
  script.rpc = (context, method, payload) =>
    new Promise<RpcOutcome>((resolve) => {
      add({ hook: 'rpc', context, method, payload }, () => resolve({ ok: true, reply: payload }))
    })
  return {
    calls,
    settleOne() {
      const settle = open.shift()
      settle?.()
      if (script.isCongested && open.length <= inboxMax / 2) {
        script.isCongested = false
        const listeners = drained
        drained = []
        for (const listener of listeners) listener()
      }
      return settle !== undefined
    },
  }
}

async function joinMany(count: number): Promise<TestClient[]> {
  const clients: TestClient[] = []
  for (let made = 0; made < count; made += 1) clients.push(await realtime.join())
  return clients
}

/** A guest over a transport without a network. */
async function acceptPeer(): Promise<StreamsConnection> {
  const peer = new StreamsConnection()
  peer.events = realtime.gateway.accept(peer)
  peer.events.received(0, encodeFrame(kinds.AUTH.first, new Uint8Array()))
  await expect.poll(() => peer.kinds(), waiting).toEqual([kinds.AUTH_RESULT.first])
  return peer
}

/** Bytes of a turn of their own. */
async function bring(peer: StreamsConnection, bytes: Uint8Array): Promise<void> {
  peer.events.received(0, bytes)
  await afterOthers()
}

/** Settles calls until there were so many. */
async function settleAll(script: SlowScript, count: number): Promise<void> {
  const made = () => {
    while (script.settleOne()) {}
    return script.calls.length
  }
  await expect.poll(made, waiting).toBe(count)
}

/** So many messages of 7 bytes, in one write. */
function sendMany(client: TestClient, count: number): void {
  const frames = Array.from({ length: count }, (_, n) => encodeFrame(game, new Uint8Array([n])))
  client.sendBytes(Buffer.concat(frames))
}

/** Waits until at least so many bytes came. */
async function expectBytesIn(bytes: number): Promise<void> {
  const { metrics } = realtime.gateway
  await expect.poll(() => metrics().bytes_in_total, waiting).toBeGreaterThanOrEqual(bytes)
}

function rpc(id: number, method: string, payload = ''): Uint8Array {
  return rpcRequestBody.encode({ request_id: BigInt(id), method, payload: bytesOf(payload) })
}

const rpcFrameBytes = encodeFrame(kinds.RPC_REQUEST.first, rpc(1, 'ask')).length

function clockSync(): Uint8Array {
  return new Uint8Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5])
}
