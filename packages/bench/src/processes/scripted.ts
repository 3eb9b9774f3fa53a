import { fileURLToPath } from 'node:url'
import { openSessions, registerDevice } from '../load/accounts.ts'
import { openPlayer } from '../load/player.ts'
import type { WebSocketClient } from '../load/websocket-client.ts'
import type { Child } from './child.ts'
import { type GuildhallOptions, type NodePlace, startGuildhall } from './guildhall.ts'

const game = fileURLToPath(new URL('../../game-calls', import.meta.url))

/** The product with a script whose calls are measured, and clients that may call as they like. */
export function startScripted(
  bench: NodePlace,
  { keys = {}, ...options }: GuildhallOptions = {},
): Promise<Child> {
  const script = {
    'runtime.scripts_dir': game,
    'runtime.require_script': true,
    'transport.limits.inbound_envelopes_per_sec': 0,
    'transport.limits.inbound_bytes_per_sec': 0,
  }
  return startGuildhall(bench, { ...options, keys: { ...script, ...keys } })
}

/** So many connections of one account. */
export async function openPlayers(server: Child, count: number): Promise<WebSocketClient[]> {
  await registerDevice(server.port)
  const sessions = await openSessions(server.port, count)
  return Promise.all(sessions.map(({ token }) => openPlayer(server.port, token)))
}
