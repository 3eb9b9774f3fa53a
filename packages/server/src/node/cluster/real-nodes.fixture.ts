import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, createPlayer } from '@guildhall/client'
import { testBackends } from '../../database/testing/backends.ts'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'

export type RealNodes = Awaited<ReturnType<typeof openRealNodes>>

/** Passes the messages of kind 100 on to the others of the room. */
export const relayScript = `guildhall.on_message(100, (_, body) => guildhall.broadcast(100, body))`

/** A PostgreSQL and a script for nodes as operators run them, each in a process of its own. */
export async function openRealNodes(script = relayScript) {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-nodes-'))
  writeFileSync(join(folder, 'main.js'), script)
  const postgres = testBackends.find(({ name }) => name === 'postgres')
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  const database = await postgres.open()
  const started: NodeProcess[] = []
  return {
    databaseUrl: database.url,
    /** Starts a node that plays together with the others; `keys` are what is its own. */
    async start(name: string, keys: Readonly<Record<string, string>> = {}): Promise<NodeProcess> {
      const node = await startNodeProcess({
        'database.url': database.url,
        'server.node_id': name,
        'runtime.scripts_dir': folder,
        'authentication.limits.registration_source.limit': '1000',
        'cluster.enabled': 'true',
        ...keys,
      })
      started.push(node)
      return node
    },
    async dispose(): Promise<void> {
      await Promise.all(started.map((node) => node.stop()))
      await database.dispose()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A player of a name of its own, connected to the node. */
export async function playerOf(node: NodeProcess | undefined, name: string): Promise<Connection> {
  const made = createPlayer(node?.url ?? '')
  const username = `${name}-${randomUUID()}`
  await made.signIn.device({ id: username, create: true, username })
  return made.connect({ reconnect: { baseMs: 10 } })
}

/** A port of this machine that nobody listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}
