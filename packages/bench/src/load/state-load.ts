import { setTimeout as sleep } from 'node:timers/promises'
import { stampBegins } from '../../game-state/motion.ts'
import type { Child } from '../processes/child.ts'
import { percentile } from '../statistics.ts'
import type { WebSocketClient } from './websocket-client.ts'
import { startWindow, type Window } from './window.ts'

export type StateOutcome = Window & {
  /** Messages that one player got in a second. */
  hz: number
  bytesEach: number
  /** Of the server and what it started, for a message that arrived. */
  cpuUsEach: number
  /** From the tick to the client, where the states say when their ticks were; else NaN. */
  p99Ms: number
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
  let lateUs: number[] = []
  for (const player of players) {
    player.onPayload = (piece) => {
      bytes += piece.length
      const at = stampIn(piece)
      if (at !== undefined) lateUs.push(nowUs() - at)
    }
    player.onClose = () => {
      lost += 1
    }
  }
  const arrived = () => players.reduce((sum, { messages }) => sum + messages, 0)
  await sleep(seconds * warmUpShare * 1000)
  const [bytesBefore, before] = [bytes, arrived()]
  lateUs = []
  const end = startWindow(server)
  await sleep(seconds * 1000)
  const window = end()
  const messages = arrived() - before
  const outcome = {
    ...window,
    hz: messages / players.length / window.seconds,
    bytesEach: (bytes - bytesBefore) / messages,
    cpuUsEach: (window.cpuMs * 1000) / messages,
    p99Ms: percentile(lateUs, 0.99) / 1000,
  }
  for (const player of players) {
    player.onClose = () => {}
    player.close()
  }
  if (lost > 0) throw new Error(`${lost} players were cut`)
  if (messages === 0) throw new Error('nothing arrived')
  return outcome
}

const stampBegin = Buffer.from(stampBegins)

/** A message that comes in two pieces may have none. */
function stampIn(piece: Buffer): number | undefined {
  const begin = piece.indexOf(stampBegin)
  const end = begin < 0 ? -1 : piece.indexOf('~', begin + 1)
  if (end < 0) return undefined
  return Number(piece.toString('latin1', begin + stampBegin.length, end))
}

function nowUs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e6 + nanoseconds / 1000
}
