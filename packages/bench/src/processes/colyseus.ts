import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Bench } from '../benchmark.ts'
import { clientMessage, WebSocketClient } from '../load/websocket-client.ts'
import { startBaseline } from './baseline.ts'
import type { Child } from './child.ts'

/** As they are compared with; they are no dependency of the project. */
const packages = ['@colyseus/core@0.18.17', '@colyseus/ws-transport@0.18.4']
const program = new URL('../baselines/colyseus-rooms.ts', import.meta.url)

/** What a client says when it has read how the state is built. */
const joined = clientMessage(Uint8Array.of(10))

/** Gets the packages by npm into the folder of the run; answers where they are. */
export async function installColyseus(bench: Bench): Promise<string> {
  const folder = join(bench.folder, 'colyseus')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts']
  await promisify(execFile)('npm', ['install', ...quiet, ...packages], { cwd: folder })
  return folder
}

export type ColyseusKind = 'shared' | 'own' | 'tracked' | 'stamped'

export function startColyseus(bench: Bench, folder: string, kind: ColyseusKind): Promise<Child> {
  return startBaseline(bench, program, { args: [folder, kind] })
}

type Seat = { roomId: string; processId: string; sessionId: string }

/** Takes all seats of a new room, and follows its state from each. */
export async function openSeats(server: Child): Promise<Promise<WebSocketClient>[]> {
  const answer = await fetch(`http://127.0.0.1:${server.fact('seats')}/`)
  return ((await answer.json()) as Seat[]).map((seat) => openSeat(server, seat))
}

async function openSeat(
  server: Child,
  { processId, roomId, sessionId }: Seat,
): Promise<WebSocketClient> {
  const path = `/${processId}/${roomId}?sessionId=${sessionId}`
  const client = await WebSocketClient.open({ port: server.port, path })
  // It may come together with the answer to the upgrade.
  while (client.messages === 0) await sleep(1)
  client.write(joined)
  return client
}
