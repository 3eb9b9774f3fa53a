import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { openSessions, registerDevice } from '../load/accounts.ts'
import { enterRoom, openPlayer } from '../load/player.ts'
import type { WebSocketClient } from '../load/websocket-client.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { openFilesMax } from '../processes/proc.ts'
import { collectsGarbage } from '../processes/settled.ts'

/** What a player costs who is connected, or in a room, and does nothing. */
export const idleConnections: Benchmark = { name: 'idle-connections', run }

const openingAtOnce = 32
const sourceAddresses = 4
const roomSize = 8
/** Files that are open besides the connections. */
const otherFiles = 200

async function run(bench: Bench): Promise<Row[]> {
  const count = bench.count(10_000)
  checkOpenFiles(count)
  await using server = await startGuildhall(bench, { nodeArgs: collectsGarbage })
  await registerDevice(server.port)
  const sessions = await openSessions(server.port, count)
  const tokens = sessions.map(({ token }) => token)
  const before = await memoryOf(server)
  const players = await openAll(server, tokens)
  const after = await memoryOf(server)
  await enterRooms(players)
  const inRooms = await memoryOf(server)
  let lost = 0
  for (const player of players) {
    player.onClose = () => {
      lost += 1
    }
  }
  await sleep(bench.seconds(1) * 1000)
  if (lost > 0) throw new Error(`${lost} idle connections were closed by the server`)
  for (const player of players) {
    player.onClose = () => {}
    player.close()
  }
  const row = (what: string, then: Memory): Row => ({
    what,
    product: { value: kib(then.collected - before.collected) / count, unit: 'KiB each' },
    bound: { of: 'value', is: 'at most', limit: 12 },
    notes:
      'garbage collected on both sides, without that ' +
      `${(kib(then.settled - before.settled) / count).toFixed(1)}; ` +
      `process ${mib(before.collected)} to ${mib(then.collected)} MiB`,
  })
  return [
    row(`resident memory of ${count} idle authenticated WebSockets`, after),
    row(`the same when they are members of rooms of ${roomSize}`, inRooms),
  ]
}

function checkOpenFiles(count: number): void {
  const needed = count + otherFiles
  if (openFilesMax() >= needed) return
  throw new Error(
    `${needed} open files are needed and ${openFilesMax()} allowed: run \`ulimit -n ${needed}\` ` +
      'in this shell first (as root, or raise the hard limit in /etc/security/limits.conf)',
  )
}

async function enterRooms(players: readonly WebSocketClient[]): Promise<void> {
  for (const [index, player] of players.entries()) {
    await enterRoom(player, `room-${Math.floor(index / roomSize)}`)
  }
}

async function openAll(server: Child, tokens: readonly string[]): Promise<WebSocketClient[]> {
  const players: WebSocketClient[] = []
  let begun = 0
  const openers = Array.from({ length: openingAtOnce }, async () => {
    for (let token = tokens[begun]; token !== undefined; token = tokens[begun]) {
      const address = `127.0.0.${2 + (begun % sourceAddresses)}`
      begun += 1
      players.push(await openPlayer(server.port, token, address))
    }
  })
  await Promise.all(openers)
  return players
}

type Memory = { settled: number; collected: number }

/** Resident bytes once they no longer change, as they stand and after garbage is collected. */
async function memoryOf(server: Child): Promise<Memory> {
  const settled = await settledBytes(server)
  for (let time = 0; time < 3; time += 1) {
    process.kill(server.pid, 'SIGUSR2')
    await sleep(300)
  }
  return { settled, collected: await settledBytes(server) }
}

async function settledBytes(server: Child): Promise<number> {
  let last = server.residentBytes()
  for (let look = 0; look < 20; look += 1) {
    await sleep(250)
    const now = server.residentBytes()
    if (Math.abs(now - last) < 256 * 1024) return now
    last = now
  }
  return last
}

function kib(bytes: number): number {
  return bytes / 1024
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}
