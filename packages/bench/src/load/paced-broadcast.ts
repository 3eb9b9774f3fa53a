import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFrame, frameHeaderBytes } from '@guildhall/contract'
import type { Child } from '../processes/child.ts'
import { percentile } from '../statistics.ts'
import { clientMessage, type WebSocketClient } from './websocket-client.ts'
import { startWindow, type Window } from './window.ts'

export type PacedBroadcast = {
  server: Child
  /** Members of one room, whose script sends every message on to the others. */
  players: readonly WebSocketClient[]
  kind: number
  bodyBytes: number
  deliveriesPerSecond: number
  seconds: number
}

/** Times are from the sender's write to the receiver's read, in milliseconds. */
export type PacedOutcome = Window & { perSecond: number; p50: number; p99: number }

/** Of the run, what comes before anything is measured: both sides compile what they need. */
const warmUpShare = 0.3
/** How long deliveries may still come after the last message was sent. */
const tailMs = 2000

/**
 * Players send by turns, at an even rate that does not wait for the server. Each message carries
 * the time at which it was sent. Throws when one is not delivered to everybody else, or when the
 * server cuts a connection.
 */
export async function runPacedBroadcast(load: PacedBroadcast): Promise<PacedOutcome> {
  const { server, players, seconds } = load
  const receivers = players.length - 1
  const perSecond = load.deliveriesPerSecond / receivers
  const latencies: number[] = []
  let cut = 0
  for (const player of players) {
    player.onClose = () => {
      cut += 1
    }
    player.onPayload = frameReader(load, (sentMs) => latencies.push(performance.now() - sentMs))
  }
  async function deliver(messages: number): Promise<void> {
    latencies.length = 0
    const startMs = performance.now()
    for (let sent = 0; sent < messages; await sleep(1)) {
      const due = ((performance.now() - startMs) / 1000) * perSecond
      for (; sent < Math.min(due, messages); sent += 1) {
        players[sent % players.length]?.write(stamped(load))
      }
    }
    const untilMs = performance.now() + tailMs
    while (latencies.length < messages * receivers && performance.now() < untilMs) await sleep(5)
  }
  await deliver(Math.round(perSecond * seconds * warmUpShare))
  const messages = Math.round(perSecond * seconds)
  const expected = messages * receivers
  const end = startWindow(server)
  await deliver(messages)
  const window = end()
  for (const player of players) {
    player.onClose = () => {}
    player.close()
  }
  if (cut > 0) throw new Error(`${cut} players were cut off`)
  if (latencies.length !== expected) {
    throw new Error(`${latencies.length} of ${expected} deliveries came`)
  }
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  return { ...window, perSecond: expected / window.seconds, p50, p99 }
}

function stamped({ kind, bodyBytes }: PacedBroadcast): Buffer {
  const body = Buffer.alloc(bodyBytes)
  body.writeDoubleLE(performance.now())
  return clientMessage(encodeFrame(kind, body))
}

/** Cuts pieces of payloads into frames of one size and reports when each was sent. */
function frameReader({ bodyBytes }: PacedBroadcast, onFrame: (sentMs: number) => void) {
  const frame = Buffer.alloc(frameHeaderBytes + bodyBytes)
  let filled = 0
  return (piece: Buffer): void => {
    for (let at = 0; at < piece.length; ) {
      const count = Math.min(frame.length - filled, piece.length - at)
      piece.copy(frame, filled, at, at + count)
      at += count
      filled += count
      if (filled < frame.length) return
      filled = 0
      onFrame(frame.readDoubleLE(frameHeaderBytes))
    }
  }
}
