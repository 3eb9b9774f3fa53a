import { execFileSync, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, createPlayer } from '@guildhall/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../database/testing/backends.ts'
import { builtMain, type NodeProcess, startNodeProcess } from '../testing/node-process.ts'

/** One command that runs two nodes, as operators start it. */

const script = `
guildhall.on_message(100, (ctx, body) => guildhall.broadcast(100, body))
guildhall.on_rpc('version', () => '1')
`
const folder = mkdtempSync(join(tmpdir(), 'guildhall-processes-'))
let database: TestDatabase
let command: NodeProcess
let metricsPort: number

beforeAll(async () => {
  writeFileSync(join(folder, 'main.js'), script)
  const postgres = testBackends.find(({ name }) => name === 'postgres')
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  database = await postgres.open()
  metricsPort = await freePorts()
  command = await startNodeProcess(
    {
      ...keys(),
      'metrics.enabled': 'true',
      'metrics.auth': 'none',
      'metrics.bind': `127.0.0.1:${metricsPort}`,
      'transport.quic.enabled': 'true',
      'transport.quic.bind': '127.0.0.1:0',
    },
    { cwd: folder },
  )
})

afterAll(async () => {
  await command?.stop()
  await database?.dispose()
  rmSync(folder, { recursive: true, force: true })
})

function keys(): Record<string, string> {
  return {
    'database.url': database.url,
    'server.node_id': 'game',
    'server.processes': '2',
    'runtime.scripts_dir': folder,
    'authentication.limits.registration_source.limit': '1000',
    'cluster.enabled': 'true',
  }
}

/** The first of two ports that nobody has. */
async function freePorts(): Promise<number> {
  const first = createServer().listen(0, '127.0.0.1')
  await once(first, 'listening')
  const address = first.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  first.close()
  await once(first, 'close')
  return port
}

/** On a connection of its own, which the system gives to any of the nodes. */
const anew = { headers: { connection: 'close' } }

async function answering(): Promise<string> {
  const answer = await fetch(`${command.url}/health`, anew)
  const { node_id } = (await answer.json()) as { node_id: string }
  return node_id
}

function processesOf(pid: number): Map<string, number> {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  const found = new Map<string, number>()
  for (const line of listed.split('\n')) {
    const [own, parent] = line.trim().split(/\s+/)
    if (Number(parent) === pid && line.includes(builtMain)) found.set(own ?? '', Number(own))
  }
  return found
}

const patient = { interval: 50 }

async function bothAnswer(): Promise<void> {
  const heard = new Set<string>()
  await expect
    .poll(async () => [...heard.add(await answering())].sort(), patient)
    .toEqual(['game-1', 'game-2'])
}

it('[O-NOD-5] says once that it is ready, and two nodes answer at one port', async () => {
  const [line, ...more] = command
    .output()
    .split('\n')
    .filter((each) => each.includes(' ready http='))
  expect(more).toEqual([])
  expect(line).toMatch(/ backend=postgres\S* node_id=game-1,game-2 boot_id=\S+,\S+$/)
  await bothAnswer()
  const journals = readdirSync(folder).filter((name) => name.startsWith('game-'))
  expect(journals.sort()).toEqual(['game-1', 'game-2'])
})

it('[O-NOD-5] counts the ports of metrics up', async () => {
  const nodes = await Promise.all(
    [metricsPort, metricsPort + 1].map((port) => fetch(`http://127.0.0.1:${port}/metrics`)),
  )
  expect(nodes.map(({ status }) => status)).toEqual([200, 200])
})

it('[O-NOD-5] two nodes share the UDP address, with one certificate', async () => {
  const [, quic] = / quic=127\.0\.0\.1:(\d+) /.exec(command.output()) ?? []
  const taken = createSocket('udp4')
  const refused = once(taken, 'error')
  taken.bind(Number(quic), '127.0.0.1')
  await refused
  const status = async () => (await fetch(`${command.url}/status`, anew)).json()
  const hashes = new Map<string, string>()
  await expect
    .poll(async () => {
      const { node_id, transports } = (await status()) as {
        node_id: string
        transports: { webtransport: { certificate_sha256: string; bind: string } }
      }
      const { certificate_sha256, bind } = transports.webtransport
      return hashes.set(node_id, `${certificate_sha256} ${bind}`).size
    }, patient)
    .toBe(2)
  expect(new Set(hashes.values()).size).toBe(1)
  expect([...hashes.values()][0]).toContain(`127.0.0.1:${quic}`)
})

async function player(): Promise<Connection> {
  const made = createPlayer(command.url)
  const username = `player-${Math.trunc(performance.now() * 1000)}`
  await made.signIn.device({ id: username, create: true, username })
  return made.connect({ reconnect: { baseMs: 10 } })
}

it('[O-NOD-5] players whom the system gives to different nodes meet in one room', async () => {
  const players = await Promise.all(Array.from({ length: 8 }, player))
  const rooms = await Promise.all(players.map((each) => each.rooms.joinOrCreate('all')))
  expect(new Set(rooms.map(({ id }) => id)).size).toBe(1)
  let heard = 0
  for (const room of rooms) room.on(100, () => (heard += 1))
  rooms[0]?.send(100, 'hello')
  await expect.poll(() => heard, patient).toBe(7)
  await Promise.all(players.map((each) => each.close()))
})

it('[O-NOD-5] starts a node that died again, while the other serves', async () => {
  const before = processesOf(command.pid)
  expect(before.size).toBe(2)
  const [victim = 0] = before.values()
  process.kill(victim, 'SIGKILL')
  await expect.poll(() => processesOf(command.pid).has(String(victim)), patient).toBe(false)
  // What waited for the victim is lost with it; from there on the other one answers.
  await expect.poll(() => answering().catch(() => ''), patient).toMatch(/^game-[12]$/)
  await expect.poll(() => processesOf(command.pid).size, patient).toBe(2)
  await bothAnswer()
  expect(command.output()).toMatch(/a process has ended and is started again process=game-[12]/)
})

it('[O-NOD-5] passes SIGHUP on, and `reload` reaches all', async () => {
  process.kill(command.pid, 'SIGHUP')
  const env = Object.entries({ ...keys(), 'http.bind': '127.0.0.1:0' }).map(([key, value]) => [
    `GUILDHALL_${key.split('.').join('__').toUpperCase()}`,
    value,
  ])
  const reload = () =>
    spawnSync(process.execPath, [builtMain, 'reload'], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...Object.fromEntries(env) },
      encoding: 'utf8',
    }).stdout
  // The one that was started anew listens to commands once it is ready.
  await expect
    .poll(reload, patient)
    .toMatch(/^game-1: active: generation \d+[\s\S]*^game-2: active: generation \d+/m)
})

it('[O-NOD-5] ends with 0 although a service manager signals all of its processes', async () => {
  const group = processesOf(command.pid)
  for (const pid of group.values()) process.kill(pid, 'SIGTERM')
  expect(await command.stop()).toBe(0)
  for (const pid of group.values()) expect(() => process.kill(pid, 0)).toThrow()
})

it('[O-NOD-5] nodes end when the command that started them was killed', async () => {
  const doomed = await startNodeProcess({ ...keys(), 'server.node_id': 'doomed' }, { cwd: folder })
  const group = processesOf(doomed.pid)
  expect(group.size).toBe(2)
  await doomed.kill()
  const isThere = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  await expect.poll(() => [...group.values()].some(isThere), patient).toBe(false)
  expect(doomed.output()).toContain('stopping signal=SIGTERM')
})

it('[O-NOD-5] ends with the exit code of its nodes when none can start', async () => {
  const first = await startNodeProcess(
    { ...keys(), 'server.node_id': 'alone', 'server.processes': '1' },
    { cwd: folder },
  )
  const conflicting = { ...keys(), 'server.node_id': 'other', 'cluster.cluster_id': 'two' }
  await expect(startNodeProcess(conflicting, { cwd: folder })).rejects.toThrow(
    /ended with 2 [\s\S]*cluster_id/,
  )
  expect(await first.stop()).toBe(0)
})
