import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Connection, createPlayer, type Room } from '@guildhall/client'

const main = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url))
const postgres = fileURLToPath(new URL('../../scripts/testing/postgres.ts', import.meta.url))
const game = fileURLToPath(new URL('./game', import.meta.url))
const chatKind = 100

/** What clients and script say to each other. */
type ChatGame = {
  rpcs: Record<never, never>
  kinds: { [chatKind]: { up: string; down: string } }
}
type Player = { connection: Connection<ChatGame>; heard: string[] }
type Running = { url: string; process: ChildProcess }

/**
 * Starts two nodes on one PostgreSQL. Two players meet in a room, each on a node of its own; one
 * node is killed, and the player of the other one plays on in a room of the same name.
 */
async function playOnTwoNodes(databaseUrl: string, print: (line: string) => void) {
  const nodes = await Promise.all(['one', 'two'].map((name) => start(name, databaseUrl)))
  const [one, two] = nodes
  assert(one && two)
  try {
    const [ana, ben] = [await arrive(one, 'ana'), await arrive(two, 'ben')]
    const name = crypto.randomUUID()
    const here = listen(ana, await ana.connection.rooms.joinOrCreate(name))
    const there = listen(ben, await ben.connection.rooms.joinOrCreate(name))
    assert.equal(there.id, here.id)
    print('ana on the first node and ben on the second are in one room')

    there.send(chatKind, 'hello from the second node')
    await until(() => ana.heard.includes('hello from the second node'))
    here.send(chatKind, 'hello from the first node')
    await until(() => ben.heard.includes('hello from the first node'))
    print('both hear each other')

    const ended = new Promise((resolve) => there.on('closed', resolve))
    one.process.kill('SIGKILL')
    await ended
    print('the first node was killed: ben is out of its room, and still connected')

    const cid = await arrive(two, 'cid')
    const again = listen(ben, await enterFreed(ben, name, here.id))
    listen(cid, await cid.connection.rooms.joinOrCreate(name))
    again.send(chatKind, 'we play on')
    await until(() => cid.heard.includes('we play on'))
    print('the name is free again, and play goes on')
    await Promise.all([ana, ben, cid].map(({ connection }) => connection.close()))
  } finally {
    await Promise.all(nodes.map(stop))
  }
}

/** The name of the killed node's room is free once that node is known to be gone. */
async function enterFreed({ connection }: Player, name: string, oldRoom: number) {
  for (;;) {
    const room = await connection.rooms.joinOrCreate(name).catch(() => undefined)
    if (room !== undefined && room.id !== oldRoom) return room
    await pause()
  }
}

async function arrive({ url }: Running, name: string): Promise<Player> {
  const player = createPlayer<ChatGame>(url)
  const username = `${name}-${crypto.randomUUID()}`
  await player.signIn.device({ id: username, create: true, username })
  return { connection: await player.connect(), heard: [] }
}

function listen({ heard }: Player, room: Room<ChatGame>): Room<ChatGame> {
  room.on(chatKind, (message) => heard.push(message.text()))
  return room
}

async function start(name: string, databaseUrl: string): Promise<Running> {
  const settings = {
    'cluster.enabled': 'true',
    'http.bind': '127.0.0.1:0',
    'runtime.scripts_dir': game,
    'server.node_id': name,
    'transport.quic.enabled': 'false',
  }
  const flags = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const child = spawn(process.execPath, [main, 'serve', ...flags], {
    env: { ...process.env, GUILDHALL_DATABASE__URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { url: await readyUrl(child, `the node ${name}`), process: child }
}

/** A PostgreSQL of the example's own. */
async function startPostgres(): Promise<Running> {
  const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const
  const child = spawn(process.execPath, [postgres], { stdio: [...stdio] })
  return { url: await readyUrl(child, 'PostgreSQL'), process: child }
}

/** The address in the line in which a process says that it is ready. */
async function readyUrl(child: ChildProcess, what: string): Promise<string> {
  let said = ''
  child.stdout?.on('data', (chunk) => {
    said += String(chunk)
  })
  for (;;) {
    const [, url] = /\bready (?:http|url)=(\S+)/.exec(said) ?? []
    if (url !== undefined) return url
    if (child.exitCode !== null) throw new Error(`${what} did not start`)
    await pause()
  }
}

async function stop({ process: child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause()
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 50))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { url: { type: 'string' } } })
  const given = values.url ?? process.env.GUILDHALL_DATABASE__URL
  const own = given === undefined ? await startPostgres() : undefined
  try {
    const url = given ?? own?.url
    assert(url)
    await playOnTwoNodes(url, (line) => process.stdout.write(`${line}\n`))
  } finally {
    if (own !== undefined) await stop(own)
  }
}
