import type { Clock } from '../../../../../kernel/clock.ts'
import { isLoopback } from '../../limit-group.ts'

/** What becomes of a packet that a socket received. */
export type Verdict = 'pass' | 'drop' | 'negotiate' | 'limited'

export type DatagramGateDeps = {
  clock: Pick<Clock, 'monotonicMs'>
  /** Whether a connection with that address is open or begins. */
  isKnown(address: string): boolean
  /** How many connections there are, and how many there may be. */
  connections(): number
  maxConnections: number
}

const initialBytesMin = 1200
const version1 = 1
/** New connections per second, and as many at once. */
const newPerSecond = 200
const newPerSecondOfOne = 20
/** Addresses with a rate of their own; the oldest one leaves. */
const addressesMax = 10_000

/**
 * What is decided about a packet before the engine sees it: nothing is answered with more bytes
 * than it has, and new connections keep to their rates.
 */
export class DatagramGate {
  readonly #deps: DatagramGateDeps
  readonly #all: Bucket
  readonly #byAddress = new Map<string, Bucket>()

  constructor(deps: DatagramGateDeps) {
    this.#deps = deps
    this.#all = new Bucket(newPerSecond, deps.clock.monotonicMs())
  }

  /** `host` is the address without its port. */
  judge(packet: Uint8Array, host: string, address: string): Verdict {
    const first = packet[0] ?? 0
    const hasLongHeader = (first & 0x80) !== 0
    if (!hasLongHeader) return this.#deps.isKnown(address) ? 'pass' : 'drop'
    const version = readU32(packet, 1)
    // A version of 0 is an answer, and nobody was asked.
    if (version === undefined || version === 0) return 'drop'
    if (version !== version1) return packet.length < initialBytesMin ? 'drop' : 'negotiate'
    const isInitial = (first & 0x30) === 0
    if (isInitial && packet.length < initialBytesMin) return 'drop'
    if (this.#deps.isKnown(address)) return 'pass'
    if (!isInitial) return 'drop'
    // Without a token it is answered by a Retry and nothing is kept.
    if (!hasToken(packet)) return 'pass'
    return this.#admits(host) ? 'pass' : 'limited'
  }

  #admits(host: string): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.#deps.connections() >= this.#deps.maxConnections) return false
    if (isLoopback(host)) return this.#all.take(nowMs)
    let own = this.#byAddress.get(host)
    if (own === undefined) {
      own = new Bucket(newPerSecondOfOne, nowMs)
      this.#byAddress.set(host, own)
      const [oldest] = this.#byAddress.keys()
      if (this.#byAddress.size > addressesMax && oldest) this.#byAddress.delete(oldest)
    }
    return own.take(nowMs) && this.#all.take(nowMs)
  }
}

class Bucket {
  readonly #perSecond: number
  #tokens: number
  #atMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#tokens = perSecond
    this.#atMs = nowMs
  }

  take(nowMs: number): boolean {
    const gained = ((nowMs - this.#atMs) * this.#perSecond) / 1000
    this.#tokens = Math.min(this.#perSecond, this.#tokens + gained)
    this.#atMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}

/** The answer to a version that the node does not speak, with the connection ids turned round. */
export function versionNegotiation(packet: Uint8Array): Uint8Array | undefined {
  const destination = idAt(packet, 5)
  const source = destination && idAt(packet, 6 + destination.length)
  if (destination === undefined || source === undefined) return undefined
  return Uint8Array.from([
    ...[0x80, 0, 0, 0, 0],
    ...[source.length, ...source],
    ...[destination.length, ...destination],
    ...[0, 0, 0, version1],
  ])
}

/** A connection id behind its length. Later versions may have longer ones than version 1 has. */
function idAt(packet: Uint8Array, at: number): Uint8Array | undefined {
  const length = packet[at]
  if (length === undefined || at + 1 + length > packet.length) return undefined
  return packet.subarray(at + 1, at + 1 + length)
}

function hasToken(packet: Uint8Array): boolean {
  const destination = idAt(packet, 5)
  const source = destination && idAt(packet, 6 + destination.length)
  if (destination === undefined || source === undefined) return false
  return (packet[7 + destination.length + source.length] ?? 0) !== 0
}

function readU32(packet: Uint8Array, at: number): number | undefined {
  if (packet.length < at + 4) return undefined
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength)
  return view.getUint32(at)
}
