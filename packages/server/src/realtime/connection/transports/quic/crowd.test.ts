import { afterEach, expect, test } from 'vitest'
import { textOf, waiting } from '../../../realtime.fixture.ts'
import { engineMemoryBytes, startEngineHere } from './engine/engine-here.fixture.ts'
import { type QuicFixture, startQuic } from './quic.fixture.ts'
import { QuicClient } from './quic-client.fixture.ts'

/** The engine as it was published ends with its 291st connection. */
const placesOfCrowd = 300
const crowd = 330
/** So few that a busy machine answers before they ask again. */
const waveSize = 10

let node: QuicFixture
const clients: QuicClient[] = []
afterEach(async () => {
  for (const client of clients) client.vanish()
  await node.close()
})

test('[R-LIM-1, R-QU-7] of 330 connections 300 are served, the others refused, as the limit says', async () => {
  node = await startQuic({
    limits: { max_connections: placesOfCrowd + 2 },
    quic: { startEngine: startEngineHere },
  })
  node.realtime.script.kinds.add(100)
  const overQuic = await node.join('t-ann')
  const overWebSocket = await node.realtime.join('t-bob')
  const before = engineMemoryBytes()
  const served: QuicClient[] = []
  for (let wave = 0; wave < crowd / waveSize; wave += 1) {
    served.push(...(await openWave()))
    for (const player of [overQuic, overWebSocket]) player.send(100, `wave ${wave}`)
    await expect.poll(() => countOf(`wave ${wave}`), waiting).toBe(2)
  }
  expect(served).toHaveLength(placesOfCrowd)
  expect(metrics()).toMatchObject({
    quic_connections_active: placesOfCrowd + 1,
    quic_handshake_failures_total: 0,
  })
  // On a slow machine one may ask again before it has heard the answer.
  const refused = metrics().quic_connections_refused_total
  expect(refused).toBeGreaterThanOrEqual(crowd - placesOfCrowd)
  expect((engineMemoryBytes() - before) / placesOfCrowd).toBeLessThan(150 * 1024)
  for (const client of served) client.send(100, 'of the crowd')
  await expect.poll(() => countOf('of the crowd'), waiting).toBe(placesOfCrowd)
  // Who leaves makes room.
  const after = engineMemoryBytes()
  for (const client of served.slice(-waveSize)) client.close()
  const left = placesOfCrowd + 1 - waveSize
  await expect.poll(() => metrics().quic_connections_active, waiting).toBe(left)
  expect(await openWave()).toHaveLength(waveSize)
  expect(engineMemoryBytes() - after).toBeLessThan(2 ** 20)
  expect(node.incidents).toEqual([])
  expect(overQuic.end).toBeUndefined()
})

/** Connects some more; answers those that the node has let in. */
async function openWave(): Promise<QuicClient[]> {
  const wave = await Promise.all(
    Array.from({ length: waveSize }, () => QuicClient.begin(node.port)),
  )
  clients.push(...wave)
  // CONNECTION_CLOSE: the engine of a client drains for three seconds before it is over.
  const isRefused = ({ initials }: QuicClient) => initials.some((frames) => frames[0] === 0x1c)
  const isDecided = (client: QuicClient) => client.established || isRefused(client)
  await expect.poll(() => wave.every(isDecided), waiting).toBe(true)
  const served = wave.filter(({ established }) => established)
  for (const client of wave) if (!served.includes(client)) client.vanish()
  for (const client of served) client.send(5)
  for (const client of served) expect((await client.next()).kind).toBe(6)
  return served
}

const metrics = () => node.realtime.transports.metrics()

function countOf(text: string): number {
  const { calls } = node.realtime.script
  return calls.filter((call) => call.hook === 'message' && textOf(call.body) === text).length
}
