import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, createPlayer } from '@guildhall/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'

/** What players see when the database of two nodes stalls. */

const script = `guildhall.on_message(100, (ctx, body) => guildhall.broadcast(100, body))`
const folder = mkdtempSync(join(tmpdir(), 'guildhall-stall-'))
const patient = { timeout: 30_000, interval: 50 }
let database: TestDatabase
let stalling: Awaited<ReturnType<typeof startProxy>>
let nodes: NodeProcess[] = []

beforeAll(async () => {
  writeFileSync(join(folder, 'main.js'), script)
  const postgres = testBackends.find(({ name }) => name === 'postgres')
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  database = await postgres.open()
  stalling = await startProxy(Number(new URL(database.url).port))
  nodes = await Promise.all(['one', 'two'].map(start))
}, 90_000)

afterAll(async () => {
  stalling.stall(false)
  await Promise.all(nodes.map((node) => node.stop()))
  stalling.close()
  await database.dispose()
  rmSync(folder, { recursive: true, force: true })
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
  const url = new URL(database.url)
  url.port = String(stalling.port)
  return startNodeProcess({
    'database.url': url.href,
    'server.node_id': name,
    'runtime.scripts_dir': folder,
    'authentication.limits.registration_source.limit': '1000',
    'cluster.enabled': 'true',
    'cluster.listen_url': database.url,
    'cluster.lease_ttl_ms': '3000',
    'rooms.reconnect_grace_ms': '60000',
  })
}

async function player(node: NodeProcess | undefined, name: string): Promise<Connection> {
  const made = createPlayer(node?.url ?? '')
  const username = `${name}-${randomUUID()}`
  await made.signIn.device({ id: username, create: true, username })
  return made.connect({ reconnect: { baseMs: 10 } })
}

const orNothing = <T>(work: Promise<T>) => work.catch(() => undefined)

it('[R-CL-13, R-CL-16] a database that stalls ends no room, and no name is given away', async () => {
  const [one, two] = nodes
  const [ana, ben] = [await player(one, 'ana'), await player(two, 'ben')]
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
}, 90_000)
