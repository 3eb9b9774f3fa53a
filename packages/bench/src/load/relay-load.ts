import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../processes/child.ts'
import type { WebSocketClient } from './websocket-client.ts'
import { startWindow, type Window } from './window.ts'

export type RelayLoad = {
  server: Child
  /** Players whose groups are complete. */
  players: readonly WebSocketClient[]
  groupSize: number
  /** What every player sends, as a WebSocket message. */
  message: Buffer
  /** Bytes of payload that one delivery has. */
  deliveryBytes: number
  /** Messages that each player has on the way at the same time. */
  inFlight: number
  seconds: number
}

export type RelayOutcome = Window & { perSecond: number; perCpuSecond: number }

const warmUpShare = 0.3

/**
 * Every player sends its next message when it has got one from each of the others: the load follows
 * the server, and what is on the way stays bounded. A lost delivery would end the traffic and show.
 */
export async function runRelayLoad(load: RelayLoad): Promise<RelayOutcome> {
  const { server, players, message, inFlight, seconds } = load
  const roundBytes = load.deliveryBytes * (load.groupSize - 1)
  let bytes = 0
  let lost: Error | undefined
  for (const player of players) {
    let received = 0
    player.onClose = () => {
      lost = new Error('the server closed a WebSocket under load')
    }
    player.onPayload = (piece) => {
      bytes += piece.length
      received += piece.length
      while (received >= roundBytes) {
        received -= roundBytes
        player.write(message)
      }
    }
  }
  for (const player of players) {
    for (let sent = 0; sent < inFlight; sent += 1) player.write(message)
  }
  await sleep(seconds * warmUpShare * 1000)
  const before = bytes
  const end = startWindow(server)
  await sleep(seconds * 1000)
  const window = end()
  const deliveries = (bytes - before) / load.deliveryBytes
  for (const player of players) {
    player.onClose = () => {}
    player.close()
  }
  if (lost !== undefined) throw lost
  if (deliveries === 0) throw new Error('nothing was delivered')
  return {
    ...window,
    perSecond: deliveries / window.seconds,
    perCpuSecond: (deliveries * 1000) / window.cpuMs,
  }
}
