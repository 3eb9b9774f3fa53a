import { randomUUID } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { NodeProcess } from '../../testing/node-process.ts'
import { openRealNodes, playerOf, type RealNodes } from './real-nodes.fixture.ts'

/** What players see when the database of two nodes stalls. */

const patient = { interval: 50 }
let real: RealNodes
let stalling: Awaited<ReturnType<typeof startProxy>>
let nodes: NodeProcess[] = []

beforeAll(async () => {
  real = await openRealNodes()
  stalling = await startProxy(Number(new URL(real.databaseUrl).port))
  nodes = await Promise.all(['one', 'two'].map(start))
})

afterAll(async () => {
  stalling.stall(false)
  await real.dispose()
  stalling.close()
})

/** Forwards to a port of this machine, but while it is stalled. */
async function startProxy(port: number) {
  const sockets = new Set<Socket>()
  let isStalled = false
  const server: Server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isStalled) from.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stall(stalls: boolean) {
      isStalled = stalls
      for (const socket of sockets) stalls ? socket.pause() : socket.resume()
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function start(name: string): Promise<NodeProcess> {
  const url = new URL(real.databaseUrl)
  url.port = String(stalling.port)
  return real.start(name, {
    'database.url': url.href,
    'cluster.listen_url': real.databaseUrl,
    'cluster.lease_ttl_ms': '3000',
    'rooms.reconnect_grace_ms': '60000',
  })
}

const orNothing = <T>(work: Promise<T>) => work.catch(() => undefined)

it('[R-CL-13, R-CL-16] a database that stalls ends no room, and no name is given away', async () => {
  const [one, two] = nodes
  const [ana, ben] = [await playerOf(one, 'ana'), await playerOf(two, 'ben')]
  const name = randomUUID()
  const here = await ana.rooms.joinOrCreate(name)
  const there = await ben.rooms.joinOrCreate(name)
  const heard: string[] = []
  there.on(100, (message) => heard.push(message.text()))
  stalling.stall(true)
  try {
    const refusal = () =>
      ana.rooms.joinOrCreate(name).then(
        () => '',
        (error) => String(error),
      )
    await expect.poll(refusal, patient).toContain('temporarily unavailable')
    here.send(100, 'still here')
    await expect.poll(() => heard, patient).toContain('still here')
  } finally {
    stalling.stall(false)
  }
  const found = async () => (await orNothing(ben.rooms.joinOrCreate(name)))?.id
  await expect.poll(found, patient).toBe(here.id)
  await ana.close()
  await ben.close()
})
