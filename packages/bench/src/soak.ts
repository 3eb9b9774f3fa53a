import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { encodeFrame } from '@guildhall/contract'
import { openQuicGuest, openWebTransportGuest } from './load/echo-load.ts'
import { openGuest } from './load/player.ts'
import type { QuicLoadClient } from './load/quic-client.ts'
import { clientMessage, type WebSocketClient } from './load/websocket-client.ts'
import type { WebTransportLoadClient } from './load/webtransport-client.ts'
import { ownCheckout } from './processes/guildhall.ts'
import { startScripted } from './processes/scripted.ts'
import { collectsGarbage, settledBytes } from './processes/settled.ts'
import { memoryFloors, memorySlope, soakFaults } from './soak-verdict.ts'

/**
 * `npm run bench:soak -- [--minutes 30] [--crowd 24]`: starts a node, at which guests come and go
 * by QUIC, WebTransport and WebSocket and send all the time, in each of the ways in which a
 * connection may end. Prints the memory of the node once a minute, without what merely has not been
 * collected yet, and exits with 1 when a connection failed, was lost or not answered, or when the
 * floor of the last third is more than a twentieth above that of the middle third.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    crowd: { type: 'string', default: '24' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'guildhall-soak-'))
const server = await startScripted(
  { cores: undefined, folder, checkout: ownCheckout },
  {
    keys: { 'transport.quic.bind': '127.0.0.1:0' },
    nodeArgs: collectsGarbage,
  },
)
const quicPort = Number(server.fact('quic').split(':').at(-1))
const endMs = performance.now() + Number(values.minutes) * 60_000
const message = encodeFrame(100, Buffer.alloc(64, 'x'))
const brokenFrame = Uint8Array.of(0, 0, 0, 1)
const datagram = message.subarray(4)
const webSocketMessage = clientMessage(message)
const counts = { opened: 0, sent: 0, heard: 0, failed: 0, lost: 0, unheard: 0 }
/** What a guest of the crowd stays at most. */
const stayMsMax = 10_000
const pauseMs = 100
/** One that takes longer to open has failed. */
const openMsMax = 20_000
/** Who has sent so often has heard an answer. */
const sendsUntilHeard = 20

/** What the crowd needs of a client. */
type Guest = {
  connection: Pick<QuicLoadClient, 'onClose' | 'onPayload'>
  send(): void
  /** Sends a frame that is none, for which the node ends the connection. */
  offend(): void
  close(): void
  vanish(): void
}

const ways = [openByWebSocket, openByQuic, openByWebTransport, openByQuic]

async function openByWebSocket(): Promise<Guest> {
  const client: WebSocketClient = await openGuest(server.port)
  return {
    connection: client,
    send: () => client.write(webSocketMessage),
    offend: () => client.write(clientMessage(brokenFrame)),
    close: () => client.close(),
    vanish: () => client.close(),
  }
}

async function openByQuic(): Promise<Guest> {
  const client = await openQuicGuest(quicPort)
  client.onDatagram = heard
  return { ...overQuic(client), connection: client, close: () => client.close() }
}

/** A page that ends its session leaves its connection to the node, one that is gone does not. */
async function openByWebTransport(): Promise<Guest> {
  const client = await openWebTransportGuest(quicPort)
  const { connection } = client
  connection.onDatagram = heard
  return { ...overQuic(client), connection, close: () => client.close() }
}

function overQuic(client: QuicLoadClient | WebTransportLoadClient) {
  return {
    send() {
      client.write(message)
      client.datagram(datagram)
    },
    offend: () => client.write(brokenFrame),
    vanish: () => client.vanish(),
  }
}

async function visit(seat: number): Promise<void> {
  const untilMs = performance.now() + Math.random() * stayMsMax
  const late = sleep(openMsMax, undefined, { ref: false }).then(() => {
    throw new Error('a connection did not open')
  })
  const guest = await Promise.race([(ways[seat % ways.length] ?? openByQuic)(), late])
  counts.opened += 1
  let isOpen = true
  let sent = 0
  let isHeard = false
  guest.connection.onClose = () => {
    isOpen = false
  }
  guest.connection.onPayload = () => {
    isHeard = true
    heard()
  }
  while (isOpen && performance.now() < untilMs) {
    guest.send()
    sent += 1
    await sleep(pauseMs)
  }
  counts.sent += sent
  if (!isOpen) counts.lost += 1
  else if (!isHeard && sent >= sendsUntilHeard) counts.unheard += 1
  leave(guest)
}

/** A close with a code, a broken frame that the node ends, or not a word. */
function leave(guest: Guest): void {
  const way = Math.random()
  if (way < 0.2) guest.offend()
  else if (way < 0.7) guest.close()
  // What is left of it is gone a little later, whatever the node made of that.
  if (way < 0.7) setTimeout(() => guest.vanish(), 500)
  else guest.vanish()
}

function heard(): void {
  counts.heard += 1
}

async function occupy(seat: number): Promise<void> {
  while (performance.now() < endMs) {
    try {
      await visit(seat)
    } catch (error) {
      counts.failed += 1
      process.stdout.write(`seat ${seat}: ${reasonOf(error)}\n`)
      await sleep(1000)
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const memory: number[] = []
const minutely = setInterval(async () => {
  memory.push((await settledBytes(server)) / 2 ** 20)
  const said = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  process.stdout.write(
    `${memory.length} min: ${memory.at(-1)?.toFixed(1)} MiB; ${said.join(', ')}\n`,
  )
}, 60_000)
await Promise.all(Array.from({ length: Number(values.crowd) }, (_, seat) => occupy(seat)))
clearInterval(minutely)
const floors = memoryFloors(memory)
if (floors !== undefined) {
  process.stdout.write(
    `floor of the middle third ${floors.middle.toFixed(1)} MiB, of the last ` +
      `${floors.last.toFixed(1)} MiB; ${memorySlope(memory).toFixed(2)} MiB a minute\n`,
  )
}
const faults = soakFaults({ ...counts, memory })
process.stdout.write(`${faults.length === 0 ? 'stood' : faults.join('; ')}\n`)
await server.stop()
rmSync(folder, { recursive: true, force: true })
process.exit(faults.length === 0 ? 0 : 1)
