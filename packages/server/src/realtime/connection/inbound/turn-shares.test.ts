import { encodeFrame, kinds } from '@guildhall/contract'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type RealtimeFixture, startRealtime, waiting } from '../../realtime.fixture.ts'
import { StreamsConnection } from '../transports/streams-connection.fixture.ts'
import { TurnShares } from './turn-shares.ts'

const game = 100
const share = 64

let realtime: RealtimeFixture
let flooding: StreamsConnection
let other: StreamsConnection

beforeEach(async () => {
  realtime = await startRealtime()
  realtime.script.kinds.add(game)
  flooding = await acceptPeer()
  other = await acceptPeer()
  realtime.script.calls.length = 0
})
afterEach(() => realtime.close())

test('[R-LIM-3] [R-FR-2] a burst takes a share of each turn, in order, and others the rest', async () => {
  flooding.events.received(0, messages(0, 200))
  other.events.received(0, messages(0, 3))
  expect(senders()).toEqual([...Array(share).fill(1), 2, 2, 2])
  await expect.poll(() => bodiesOf(1).length, waiting).toBe(200)
  expect(bodiesOf(1)).toEqual(Array.from({ length: 200 }, (_, n) => n))
})

test('[R-LIM-3] a share is counted in KiB as well', () => {
  flooding.events.received(0, encodeFrame(game, new Uint8Array(63 * 1024)))
  flooding.events.received(0, messages(0, 3))
  expect(bodiesOf(1)).toHaveLength(1)
})

test('[R-LIM-3] of many with bursts each is served in its turn', async () => {
  const many = [flooding, other]
  while (many.length < 12) many.push(await acceptPeer())
  realtime.script.calls.length = 0
  for (const peer of many) peer.events.received(0, messages(0, 200))
  await expect.poll(() => senders().length, waiting).toBe(12 * 200)
  const rounds = Array.from({ length: 3 }, (_, n) =>
    senders()
      .slice(n * 12 * share)
      .slice(0, 768),
  )
  for (const round of rounds) expect(new Set(round).size).toBe(12)
})

test('[R-LIM-3] it is read on behind a share up to 64 KiB, and again when that is taken', async () => {
  flooding.events.received(0, messages(0, 200))
  expect(flooding.isPaused).toBe(false)
  flooding.events.received(0, encodeFrame(game, new Uint8Array(65_000)))
  expect(flooding.isPaused).toBe(true)
  await expect.poll(() => bodiesOf(1).length, waiting).toBe(201)
  expect(flooding.isPaused).toBe(false)
  expect(realtime.gateway.metrics().inbound_paused_total).toBe(0)
})

test('[R-LIM-3] of small pieces, too, no more wait from turn to turn', async () => {
  let sent = 0
  for (let turn = 0; turn < 20; turn += 1) {
    for (; !flooding.isPaused; sent += 1) flooding.events.received(0, messages(sent % 256, 1))
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(sent - bodiesOf(1).length).toBeLessThan(600)
  await expect.poll(() => bodiesOf(1).length, waiting).toBe(sent)
  expect(flooding.isPaused).toBe(false)
})

test('[R-LIM-3] a peer that leaves behind its burst is heard to the end, and leaves then', async () => {
  flooding.events.received(0, messages(0, 200))
  flooding.events.ending('left')
  flooding.events.closed()
  expect(realtime.gateway.metrics().connections_active).toBe(2)
  await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(1)
  expect(bodiesOf(1)).toHaveLength(200)
  expect(realtime.script.hooks().at(-1)).toBe('leave 1')
})

test('[R-CLS-1] who is ended behind a share is heard no more', async () => {
  flooding.events.received(0, messages(0, 200))
  flooding.events.closed()
  void realtime.gateway.close()
  await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
  expect(bodiesOf(1)).toHaveLength(share)
})

test('[R-LIM-3] datagrams wait for their turn as well, and none is lost', async () => {
  for (let n = 0; n < 200; n += 1) {
    flooding.events.receivedDatagram(Uint8Array.of(0, game, n))
  }
  expect(bodiesOf(1)).toHaveLength(share)
  await expect.poll(() => bodiesOf(1).length, waiting).toBe(200)
  expect(bodiesOf(1)).toEqual(Array.from({ length: 200 }, (_, n) => n))
  expect(realtime.gateway.metrics().datagram_limited_total).toBe(0)
})

test('[R-LIM-3] of datagrams none overtakes another that waits while others have their turn', async () => {
  const others = [other]
  while (others.length < 8) others.push(await acceptPeer())
  for (const peer of others) peer.events.received(0, messages(0, 200))
  const send = (n: number) => flooding.events.receivedDatagram(Uint8Array.of(0, game, n))
  for (let n = 0; n < 70; n += 1) send(n)
  await new Promise((resolve) => setImmediate(resolve))
  expect(bodiesOf(1)).toHaveLength(share)
  send(70)
  await expect.poll(() => bodiesOf(1).length, waiting).toBe(71)
  expect(bodiesOf(1)).toEqual(Array.from({ length: 71 }, (_, n) => n))
})

test('[R-LIM-3] who takes a share waits for the next turn with the rest', async () => {
  const shares = new TurnShares()
  const taken: number[] = []
  const waiter = {
    takeShare() {
      taken.push(shares.turn())
      if (taken.length < 3) shares.await(waiter)
    },
  }
  shares.await(waiter)
  await expect.poll(() => taken, waiting).toEqual([1, 2, 3])
})

test('[R-LIM-3] those whose rate allows more at one moment have turns as well', async () => {
  const many = [flooding, other]
  while (many.length < 20) many.push(await acceptPeer())
  for (const peer of many) peer.events.received(0, messages(0, 2100))
  const burst = 2000 - 1
  await expect.poll(() => senders().length, waiting).toBe(20 * burst)
  const advanced = realtime.clock.advance(20)
  let most = 0
  for (let before = senders().length; before < 20 * (burst + 20); before = senders().length) {
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, senders().length - before)
  }
  await advanced
  expect(most).toBeLessThan(10 * 20)
})

/** A guest over a transport without a network. */
async function acceptPeer(): Promise<StreamsConnection> {
  const peer = new StreamsConnection()
  peer.events = realtime.gateway.accept(peer)
  peer.events.received(0, encodeFrame(kinds.AUTH.first, new Uint8Array()))
  await expect.poll(() => peer.kinds(), waiting).toEqual([kinds.AUTH_RESULT.first])
  return peer
}

function messages(from: number, count: number): Uint8Array {
  const numbers = Array.from({ length: count }, (_, n) => from + n)
  return Buffer.concat(numbers.map((n) => encodeFrame(game, Uint8Array.of(n))))
}

function senders(): number[] {
  return realtime.script.calls.flatMap((call) =>
    call.hook === 'message' ? [call.context.participant] : [],
  )
}

function bodiesOf(participant: number): (number | undefined)[] {
  return realtime.script.calls.flatMap((call) =>
    call.hook === 'message' && call.context.participant === participant ? [call.body[0]] : [],
  )
}
