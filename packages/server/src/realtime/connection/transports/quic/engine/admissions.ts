import type { Initial } from './initial-packet.ts'

/** Where a packet comes from; `address` is both together, as the engine writes it. */
export type PacketSource = { host: string; port: number; address: string }

/** A connection that a peer has asked for, and that the node has not decided on. */
export type Admission = {
  readonly id: number
  readonly key: string
  readonly address: string
  readonly initial: Initial
  readonly packets: Uint8Array[]
}

/** A first flight has one packet or two; QUIC sends again what is not kept. */
const packetsMax = 4
/** Those that wait at once: the node answers within a turn, unless it is blocked. */
const waitingMax = 1000

/** What one connection attempt is known by: one address may have several. */
export function admissionKey(address: string, destination: Uint8Array): string {
  return `${address} ${Buffer.from(destination).toString('latin1')}`
}

/** The connections that wait for the node's word, with what their peers have sent so far. */
export class Admissions {
  readonly #byKey = new Map<string, Admission>()
  readonly #byId = new Map<number, Admission>()

  get isFull(): boolean {
    return this.#byId.size >= waitingMax
  }

  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  add(id: number, { address }: PacketSource, datagram: Uint8Array, initial: Initial): void {
    const key = admissionKey(address, initial.destination)
    const admission = { id, key, address, initial, packets: [datagram] }
    this.#byKey.set(key, admission)
    this.#byId.set(id, admission)
  }

  /** Keeps one more packet of a peer; false when it has enough of them. */
  hold(key: string, packet: Uint8Array): boolean {
    const packets = this.#byKey.get(key)?.packets
    if (packets === undefined || packets.length >= packetsMax) return false
    // The socket uses its memory again.
    packets.push(Uint8Array.from(packet))
    return true
  }

  take(id: number): Admission | undefined {
    const admission = this.#byId.get(id)
    this.#byId.delete(id)
    if (admission !== undefined) this.#byKey.delete(admission.key)
    return admission
  }
}
