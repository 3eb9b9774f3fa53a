import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { encodeFrame } from '@guildhall/contract'
import { openQuicGuest } from './load/echo-load.ts'
import { openGuest } from './load/player.ts'
import type { QuicLoadClient } from './load/quic-client.ts'
import { clientMessage, type WebSocketClient } from './load/websocket-client.ts'
import { residentBytesOf } from './processes/proc.ts'
import { median } from './statistics.ts'

/**
 * `npm run bench:soak -- --pid PID --http PORT --quic PORT [--minutes 30] [--crowd 24]`:
 * guests come and go by QUIC and WebSocket and send all the time, in each of the ways in which a
 * connection may end. Prints the memory of the node once a minute, and exits with 1 when that of
 * the last third is more than a tenth above that of the middle third.
 */
const { values } = parseArgs({
  options: {
    pid: { type: 'string', default: '' },
    http: { type: 'string', default: '7350' },
    quic: { type: 'string', default: '7351' },
    minutes: { type: 'string', default: '30' },
    crowd: { type: 'string', default: '24' },
  },
})

const endMs = performance.now() + Number(values.minutes) * 60_000
const message = encodeFrame(100, Buffer.alloc(64, 'x'))
const datagram = message.subarray(4)
const webSocketMessage = clientMessage(message)
const counts = { opened: 0, sent: 0, heard: 0, failed: 0 }
/** What a guest of the crowd stays at most. */
const stayMsMax = 10_000
const pauseMs = 100

async function visit(seat: number): Promise<void> {
  const untilMs = performance.now() + Math.random() * stayMsMax
  if (seat % 4 === 0) return visitByWebSocket(untilMs)
  const client = await openQuicGuest(Number(values.quic))
  counts.opened += 1
  let isOpen = true
  client.onClose = () => {
    isOpen = false
  }
  client.onPayload = heard
  client.onDatagram = heard
  while (isOpen && performance.now() < untilMs) {
    client.write(message)
    client.datagram(datagram)
    counts.sent += 2
    await sleep(pauseMs)
  }
  leave(client)
}

/** A close with a code, a broken frame that the node ends, or not a word. */
function leave(client: QuicLoadClient): void {
  const way = Math.random()
  if (way < 0.2) client.write(new Uint8Array([0, 0, 0, 1]))
  if (way < 0.7) setTimeout(() => client.close(), 500)
  else client.vanish()
}

async function visitByWebSocket(untilMs: number): Promise<void> {
  const client: WebSocketClient = await openGuest(Number(values.http))
  counts.opened += 1
  let isOpen = true
  client.onClose = () => {
    isOpen = false
  }
  client.onPayload = heard
  while (isOpen && performance.now() < untilMs) {
    client.write(webSocketMessage)
    counts.sent += 1
    await sleep(pauseMs)
  }
  client.close()
}

function heard(): void {
  counts.heard += 1
}

async function occupy(seat: number): Promise<void> {
  while (performance.now() < endMs) {
    try {
      await visit(seat)
    } catch {
      counts.failed += 1
      await sleep(1000)
    }
  }
}

const memory: number[] = []
const minutely = setInterval(() => {
  memory.push(residentBytesOf(Number(values.pid)) / 2 ** 20)
  const said = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  process.stdout.write(
    `${memory.length} min: ${memory.at(-1)?.toFixed(1)} MiB; ${said.join(', ')}\n`,
  )
}, 60_000)
await Promise.all(Array.from({ length: Number(values.crowd) }, (_, seat) => occupy(seat)))
clearInterval(minutely)
const third = Math.floor(memory.length / 3)
const [middle, last] = [median(memory.slice(third, -third)), median(memory.slice(-third))]
process.stdout.write(`middle third ${middle.toFixed(1)} MiB, last ${last.toFixed(1)} MiB\n`)
process.exit(last > middle * 1.1 ? 1 : 0)
