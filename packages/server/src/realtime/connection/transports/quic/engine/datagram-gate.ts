import type { Clock } from '../../../../../kernel/clock.ts'
import { limitGroupOf } from '../../limit-group.ts'
import type { PacketSource } from './admissions.ts'
import { readInitial } from './initial-packet.ts'
import type { IsRetryToken } from './retry-token.ts'

/**
 * What becomes of a packet that a socket received. `wait` belongs to a connection that the node
 * decides on; `begin` asks for one; `refuse` asks for one more than the engine may have.
 */
export type Verdict = 'pass' | 'drop' | 'negotiate' | 'wait' | 'begin' | 'limited' | 'refuse'

export type DatagramGateDeps = {
  clock: Pick<Clock, 'monotonicMs'>
  /** Whether an open connection has that address. */
  isKnown(address: string): boolean
  /** Whether a connection of that address has that id, or waits for the node's word. */
  stateOf(address: string, destination: Uint8Array): 'open' | 'waits' | undefined
  isToken: IsRetryToken
  /** How many connections there are, and how many there may be. */
  connections(): number
  maxConnections: number
  /** Whether the engine's memory has no room for one more. */
  isFull(): boolean
}

const initialBytesMin = 1200
/** What the engine has room for; a peer that tries larger ones hears that none arrive. */
const packetBytesMax = 2048
const version1 = 1
/** The type of a packet with early data, which is never accepted. */
const zeroRtt = 0x10
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

  judge(packet: Uint8Array, source: PacketSource): Verdict {
    if (packet.length > packetBytesMax) return 'drop'
    const first = packet[0] ?? 0
    const known = () => (this.#deps.isKnown(source.address) ? 'pass' : 'drop')
    const hasLongHeader = (first & 0x80) !== 0
    if (!hasLongHeader) return known()
    const version = readU32(packet, 1)
    // A version of 0 is an answer, and nobody was asked.
    if (version === undefined || version === 0) return 'drop'
    if (version !== version1) return packet.length < initialBytesMin ? 'drop' : 'negotiate'
    const type = first & 0x30
    if (type === zeroRtt) return 'drop'
    return type === 0 ? this.#judgeInitial(packet, source) : known()
  }

  #judgeInitial(packet: Uint8Array, source: PacketSource): Verdict {
    const { isToken, stateOf, connections, maxConnections, isFull } = this.#deps
    if (packet.length < initialBytesMin) return 'drop'
    const initial = readInitial(packet)
    if (initial === undefined) return 'drop'
    // It is answered by a Retry, and nothing is kept.
    if (initial.token.length === 0) return 'pass'
    const state = stateOf(source.address, initial.destination)
    if (state !== undefined) return state === 'open' ? 'pass' : 'wait'
    if (!isToken(initial.token, source)) return 'drop'
    if (!this.#admits(source.host)) return 'limited'
    return connections() < maxConnections && !isFull() ? 'begin' : 'refuse'
  }

  #admits(host: string): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    const group = limitGroupOf(host)
    if (group === undefined) return this.#all.take(nowMs)
    let own = this.#byAddress.get(group)
    if (own === undefined) {
      own = new Bucket(newPerSecondOfOne, nowMs)
      this.#byAddress.set(group, own)
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

function readU32(packet: Uint8Array, at: number): number | undefined {
  if (packet.length < at + 4) return undefined
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength)
  return view.getUint32(at)
}
