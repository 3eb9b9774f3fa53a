import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns'
import { isIP, isIPv6 } from 'node:net'
import type { Http3WasmCore } from '@currentspace/http3/wasm'
import type { Clock } from '../../../../../kernel/clock.ts'
import type { CertificatePair } from '../../../../../kernel/http/connection/certificates.ts'
import { isBatch } from './batch.ts'
import { type EngineAddress, type EngineOptions, engineCounterNames } from './engine.ts'
import { EngineLoop } from './engine-loop.ts'

/** What the thread begins with. */
export type EngineStart = EngineOptions & {
  retryKey: string
  counters: SharedArrayBuffer
}

/** The thread's end of the line to the node. */
export type EnginePort = {
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void
  on(event: 'message', take: (message: unknown) => void): void
  close(): void
}

/** The engine, how large its memory can become, and the time that it goes by. */
export type EngineParts = { core: Http3WasmCore; memoryBytesMax: number; clock: Clock }

/** What the node says beside batches of commands. */
export type EngineOrder = { certificate: CertificatePair } | { stop: true }

/** What the thread says beside batches of reports. */
export type EngineNews = { listening: EngineAddress } | { refused: { code: string; text: string } }

/** What the system keeps of packets while the thread is busy. */
const socketBufferBytes = 4 * 1024 * 1024

/** The side of the thread: serves the engine on a socket, and obeys what comes through the port. */
export function hostEngine(port: EnginePort, parts: EngineParts, options: EngineStart): void {
  const { isShared, address: asked } = options
  const { host, port: udpPort } = asked
  const socket = createSocket({
    type: isIPv6(host) ? 'udp6' : 'udp4',
    reusePort: isShared,
    recvBufferSize: socketBufferBytes,
    sendBufferSize: socketBufferBytes,
    // Packets go to addresses, so there is nothing to wait for; what is bound may be a name.
    lookup: (name, options, found) => {
      const family = isIP(name)
      if (family === 0) lookup(name, options, found)
      else found(null, name, family)
    },
  })
  const say = (news: EngineNews) => port.postMessage(news)
  const fail = (error: Error & { code?: string }) =>
    say({ refused: { code: error.code ?? '', text: error.message } })
  socket.once('error', fail)
  socket.bind(udpPort, host, () => {
    socket.off('error', fail)
    // What a packet cannot reach is lost, and QUIC sends it again.
    socket.on('error', () => undefined)
    const { address, port: bound } = socket.address()
    const loop = createLoop(parts, options, {
      localAddress: joinAddress(address, bound),
      sendPacket: (packet, to) => {
        const [toHost, toPort] = splitAddress(to)
        socket.send(packet, toPort, toHost)
      },
      post: (batch) => port.postMessage(batch, [batch.buffer]),
    })
    socket.on('message', (packet, from) => {
      const { address: fromHost, port: fromPort } = from
      const source = { host: fromHost, port: fromPort, address: joinAddress(fromHost, fromPort) }
      loop.received(packet, source)
    })
    port.on('message', (message: unknown) => {
      if (isBatch(message)) return loop.commanded(message)
      const order = message as EngineOrder
      if ('certificate' in order) return loop.setCertificate(order.certificate)
      socket.removeAllListeners('message')
      loop.stop()
      socket.close(() => port.close())
    })
    say({ listening: { host: address, port: bound } })
  })
}

type Outside = Pick<ConstructorParameters<typeof EngineLoop>[0], 'sendPacket' | 'post'> & {
  localAddress: string
}

function createLoop(
  parts: EngineParts,
  options: EngineStart,
  { localAddress, ...outside }: Outside,
): EngineLoop {
  const counters = new Float64Array(options.counters)
  const places = new Map<string, number>(engineCounterNames.map((name, at) => [name, at]))
  return new EngineLoop({
    ...outside,
    ...parts,
    options: { ...options, localAddress },
    count(name, by) {
      const at = places.get(name) ?? 0
      counters[at] = (counters[at] ?? 0) + by
    },
  })
}

function joinAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function splitAddress(address: string): [host: string, port: number] {
  const colon = address.lastIndexOf(':')
  const host = address[0] === '[' ? address.slice(1, colon - 1) : address.slice(0, colon)
  return [host, Number(address.slice(colon + 1))]
}
