import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Connection } from '@guildhall/client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { NodeProcess } from '../../testing/node-process.ts'
import { freePort, openRealNodes, playerOf, type RealNodes } from './real-nodes.fixture.ts'

/** Two nodes as operators run them, on one PostgreSQL, with NATS between them. */

const hasNats = spawnSync('nats-server', ['--version']).status === 0
if (!hasNats) process.stderr.write('nodes over NATS are not tested: nats-server is not installed\n')

const patient = { interval: 50 }

describe.skipIf(!hasNats)('nodes over NATS', () => {
  let real: RealNodes
  let nodes: NodeProcess[] = []
  let port: number
  let server: ChildProcess

  beforeAll(async () => {
    real = await openRealNodes()
    port = await freePort()
    server = await startServer()
    nodes = await Promise.all(['one', 'two'].map(start))
  })

  afterAll(async () => {
    await real.dispose()
    server?.kill()
  })

  async function startServer(): Promise<ChildProcess> {
    const started = spawn('nats-server', ['-a', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' })
    await vi.waitUntil(() => answers(port), patient)
    return started
  }

  function start(name: string): Promise<NodeProcess> {
    return real.start(name, {
      'cluster.bus': 'nats',
      'cluster.nats_url': `nats://127.0.0.1:${port}`,
    })
  }

  const player = (at: number, name: string): Promise<Connection> => playerOf(nodes[at], name)

  it('[R-CL-17, R-CL-13] players meet; without the bus rooms go on, and with it they meet again', async () => {
    const [ana, ben] = [await player(0, 'ana'), await player(1, 'ben')]
    const cid = await player(0, 'cid')
    const name = randomUUID()
    const here = await ana.rooms.joinOrCreate(name)
    const beside = await cid.rooms.joinOrCreate(name)
    const there = await ben.rooms.joinOrCreate(name)
    expect(there.id).toBe(here.id)
    const heard: string[] = []
    here.on(100, (message) => heard.push(message.text()))
    there.send(100, 'from there')
    await expect.poll(() => heard, patient).toEqual(['from there'])
    server.kill()
    await once(server, 'exit')
    const healthOf = async () => {
      const answer = await fetch(`${nodes[0]?.url}/health`)
      return ((await answer.json()) as { status: string }).status
    }
    await expect.poll(healthOf, patient).toBe('degraded')
    beside.send(100, 'from beside')
    await expect.poll(() => heard, patient).toEqual(['from there', 'from beside'])
    server = await startServer()
    await expect.poll(healthOf, patient).toBe('healthy')
    await expect
      .poll(
        () =>
          ben.rooms.joinOrCreate(name).then(
            ({ id }) => id,
            () => 0,
          ),
        patient,
      )
      .toBe(here.id)
    for (const each of [ana, ben, cid]) await each.close()
  }, 120_000)
})

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
