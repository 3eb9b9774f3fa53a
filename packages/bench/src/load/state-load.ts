import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../processes/child.ts'
import type { WebSocketClient } from './websocket-client.ts'
import { startWindow, type Window } from './window.ts'

export type StateOutcome = Window & {
  /** Messages that one player got in a second. */
  hz: number
  bytesEach: number
  /** Of the server and what it started, for a message that arrived. */
  cpuUsEach: number
}

const warmUpShare = 0.3

/** Everybody listens for so long: the server sends by its own clock. */
export async function runStateLoad(
  server: Child,
  players: readonly WebSocketClient[],
  seconds: number,
): Promise<StateOutcome> {
  let bytes = 0
  let lost = 0
  for (const player of players) {
    player.onPayload = (piece) => {
      bytes += piece.length
    }
    player.onClose = () => {
      lost += 1
    }
  }
  const arrived = () => players.reduce((sum, { messages }) => sum + messages, 0)
  await sleep(seconds * warmUpShare * 1000)
  const [bytesBefore, before] = [bytes, arrived()]
  const end = startWindow(server)
  await sleep(seconds * 1000)
  const window = end()
  const messages = arrived() - before
  const outcome = {
    ...window,
    hz: messages / players.length / window.seconds,
    bytesEach: (bytes - bytesBefore) / messages,
    cpuUsEach: (window.cpuMs * 1000) / messages,
  }
  for (const player of players) {
    player.onClose = () => {}
    player.close()
  }
  if (lost > 0) throw new Error(`${lost} players were cut`)
  if (messages === 0) throw new Error('nothing arrived')
  return outcome
}
