import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFrame } from '@guildhall/contract'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { textOf, waiting } from '../../../realtime.fixture.ts'
import { smallEngine } from './engine/engine-here.fixture.ts'
import { type QuicFixture, startQuic } from './quic.fixture.ts'
import type { QuicClient } from './quic-client.fixture.ts'

const KiB = 1024
const crowd = 30
const few = 6
/** 24 MiB: with what the engine takes itself, less than a MiB for each of the crowd. */
const pages = 384

let engine: ReturnType<typeof smallEngine>
let node: QuicFixture
let player: QuicClient
let said = 0

beforeEach(async () => {
  engine = smallEngine(pages)
  node = await startQuic({ quic: { startEngine: engine.startEngine } })
  node.realtime.script.kinds.add(100)
  player = await node.join('t-ann')
})
afterEach(async () => {
  await isServed()
  expect(node.incidents).toEqual([])
  await node.close()
})

test('[R-QU-7] peers that never acknowledge hold a few packets each', async () => {
  const peers = await crowdOf(crowd)
  const before = engine.memoryBytes()
  for (const peer of peers) peer.isReading = false
  for (let part = 0; part < 4; part += 1) await sendTo(peers, 64 * KiB)
  await isServed()
  expect((engine.memoryBytes() - before) / crowd).toBeLessThan(150 * KiB)
  expect(metrics().quic_connections_shed_total).toBe(0)
})

test('[R-QU-7, R-BP-1] nor do those that fall silent after much hold more than a buffer', async () => {
  const peers = await crowdOf(few)
  for (let part = 0; part < 8; part += 1) await sendTo(peers, 64 * KiB)
  await expect.poll(() => peers.every((peer) => bytesOf(peer) >= 512 * KiB), waiting).toBe(true)
  const before = engine.memoryBytes()
  for (const peer of peers) peer.isReading = false
  for (let part = 0; part < 16; part += 1) await sendTo(peers, 64 * KiB)
  await isServed()
  expect((engine.memoryBytes() - before) / few).toBeLessThan(400 * KiB)
})

test('[R-QU-4, R-QU-7] one whose bytes come in a thousand pieces with holes is cut', async () => {
  let count = 0
  const change = (packet: Uint8Array) => (count++ % 2 === 0 ? undefined : packet)
  let isMute = false
  const peer = await node.join('t-bob', {
    isBold: true,
    change: (packet) => (isMute ? change(packet) : packet),
  })
  peer.isReading = false
  isMute = true
  for (let piece = 0; piece < 2200; piece += 1) {
    peer.write(0, Uint8Array.of(0))
    if (piece % 50 === 0) await sleep(0)
  }
  await expect.poll(() => metrics().quic_connections_shed_total, waiting).toBe(1)
})

test('[R-QU-4, R-QU-7] of peers that fill their windows behind a hole those that hold most end', async () => {
  const hoards: (() => Promise<void>)[] = []
  for (let made = 0; made < crowd; made += 1) hoards.push(await hoarder())
  for (const hoard of hoards) await hoard()
  await expect.poll(() => metrics().quic_connections_shed_total, waiting).toBeGreaterThan(0)
  expect(metrics().quic_connections_shed_total).toBeLessThan(crowd)
  expect(player.end).toBeUndefined()
  // Their memory is free again, and others are let in once that is seen.
  await expect.poll(isLetIn, waiting).toBe(true)
})

/** One that fills a window of 1 MiB but for what its first packet would bring. */
async function hoarder(): Promise<() => Promise<void>> {
  let left = 'all'
  const peer = await node.join('', {
    isBold: true,
    change(packet) {
      if (left === 'nothing') return undefined
      if (left === 'all' || packet.length < 1000) return packet
      left = 'all'
      return undefined
    },
  })
  return async () => {
    peer.isReading = false
    left = 'all but one'
    const frame = encodeFrame(100, new Uint8Array(60_000))
    for (let count = 0; count < 16; count += 1) {
      peer.write(0, frame)
      await sleep(0)
    }
    left = 'nothing'
  }
}

async function isLetIn(): Promise<boolean> {
  const client = await node.begin()
  const isDecided = () => client.established || client.initials.some((frames) => frames[0] === 0x1c)
  await expect.poll(isDecided, waiting).toBe(true)
  return client.established
}

async function crowdOf(count: number): Promise<QuicClient[]> {
  const peers: QuicClient[] = []
  for (let made = 0; made < count; made += 1) peers.push(await node.join())
  return peers
}

/** To each of them a message, and as much in datagrams. */
async function sendTo(peers: readonly QuicClient[], bytes: number): Promise<void> {
  const participants = peers.map((_, at) => at + 2)
  const { gateway } = node.realtime
  gateway.send({ kind: 100, body: new Uint8Array(bytes), unreliable: false, participants })
  for (let count = 0; count < bytes / KiB; count += 1) {
    gateway.send({ kind: 100, body: new Uint8Array(1000), unreliable: true, participants })
  }
  for (let turns = 0; turns < 10; turns += 1) await sleep(1)
}

/** The player goes on, whatever the others do. */
async function isServed(): Promise<void> {
  said += 1
  player.send(100, `still here ${said}`)
  await expect.poll(messages, waiting).toContain(`still here ${said}`)
}

const metrics = () => node.realtime.transports.metrics()
const bytesOf = (peer: QuicClient) => peer.streams.get(3)?.length ?? 0

function messages(): string[] {
  const { calls } = node.realtime.script
  return calls.flatMap((call) => (call.hook === 'message' ? [textOf(call.body)] : []))
}
