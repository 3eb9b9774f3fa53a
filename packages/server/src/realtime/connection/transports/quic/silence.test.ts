import { setImmediate as turn } from 'node:timers/promises'
import { roomEnterBody } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { textOf, waiting } from '../../../realtime.fixture.ts'
import { startEngineInNodeTime } from './engine/engine-here.fixture.ts'
import { type QuicFixture, type QuicFixtureOptions, startQuic } from './quic.fixture.ts'

/** The engine goes by the time of the node here, which passes in steps. */
let node: QuicFixture
afterEach(() => node?.close())

test('[R-LIV-2, R-RET-1] a reader that stops for a minute is lost, and one that is silent lives on', async () => {
  await start({ rooms: { reconnect_grace_ms: 600_000 } })
  const stopped = await node.join('t-ann')
  const silent = await node.join('t-bob')
  stopped.send(48, enterAny)
  await expect.poll(() => gateway().rooms_active, waiting).toBe(1)
  stopped.isReading = false
  await pass(60_000)
  await expect.poll(() => gateway().connections_active, waiting).toBe(1)
  expect(gateway().dropped_seats_active).toBe(1)
  silent.send(100, 'still here')
  await expect.poll(messages, waiting).toContain('still here')
  expect(silent.end).toBeUndefined()
})

test('[R-QU-7] a peer that was cut and lost the close hears it again when it sends', async () => {
  await start()
  let packets = 0
  let hasHoles = false
  const peer = await node.join('t-ann', {
    isBold: true,
    change: (packet) => (hasHoles && packets++ % 2 === 0 ? undefined : packet),
  })
  peer.isReading = false
  hasHoles = true
  const metrics = () => node.realtime.transports.metrics()
  for (let piece = 0; metrics().quic_connections_shed_total === 0; piece += 1) {
    expect(piece).toBeLessThan(4000)
    peer.write(0, Uint8Array.of(0))
    if (piece % 50 === 0) await turn()
  }
  hasHoles = false
  await node.realtime.clock.advance(20)
  peer.isReading = true
  for (let count = 0; count < 5; count += 1) peer.datagram(new Uint8Array(100))
  expect(await peer.closed()).toMatchObject({ code: 1013 })
})

async function start(options: QuicFixtureOptions = {}): Promise<void> {
  node = await startQuic({ ...options, quic: { startEngine: startEngineInNodeTime } })
  node.realtime.script.kinds.add(100)
}

/** Lets time pass, and whoever reads answer what comes of it. */
async function pass(ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 1000) {
    await node.realtime.clock.advance(1000)
    for (let count = 0; count < 5; count += 1) await turn()
  }
}

const gateway = () => node.realtime.gateway.metrics()
const enterAny = roomEnterBody.encode({ mode: 'join_or_create', name: 'a', options: '' })

function messages(): string[] {
  const { calls } = node.realtime.script
  return calls.flatMap((call) => (call.hook === 'message' ? [textOf(call.body)] : []))
}
