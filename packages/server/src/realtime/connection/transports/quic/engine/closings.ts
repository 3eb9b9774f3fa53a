import type { Clock } from '../../../../../kernel/clock.ts'
import type { EngineCounterName } from './engine.ts'
import { LastCloses } from './last-closes.ts'
import type { Peer } from './peer.ts'
import type { Routes } from './routes.ts'
import type { Servers } from './servers.ts'

const destroyed = { code: 1001, reason: new Uint8Array(), drains: false }
/** Who holds too much of the engine's memory is lost, and may come again. */
const shed = { code: 1013, reason: Buffer.from('holds too much'), drains: false }

export type ClosingsDeps = {
  clock: Pick<Clock, 'monotonicMs'>
  sendPacket(packet: Uint8Array, address: string): void
  count(name: EngineCounterName, by: number): void
  servers: Pick<Servers, 'touch'>
  routes: Pick<Routes, 'shut'>
}

/** Closes that are due within so long of each other leave together. */
const slotMs = 10

/**
 * The closes of connections, of which some wait until what was sent has arrived. They lie in slots
 * of time: a turn looks at those that are due, and at those whose peers were heard of in it.
 */
export class Closings {
  readonly #deps: ClosingsDeps
  readonly #slotOf = new Map<Peer, number>()
  readonly #slots = new Map<number, Set<Peer>>()
  /** Whose time may have come nearer. */
  readonly #changed = new Set<Peer>()
  readonly #last = new LastCloses()

  constructor(deps: ClosingsDeps) {
    this.#deps = deps
  }

  /** Its close leaves when the peer's time has come. */
  await(peer: Peer): void {
    this.#place(peer)
  }

  /** Something has come from the peer, or has left for it. */
  changed(peer: Peer): void {
    if (this.#slotOf.has(peer)) this.#changed.add(peer)
  }

  forget(peer: Peer): void {
    this.#changed.delete(peer)
    const slot = this.#slotOf.get(peer)
    if (slot === undefined) return
    this.#slotOf.delete(peer)
    const peers = this.#slots.get(slot)
    peers?.delete(peer)
    if (peers?.size === 0) this.#slots.delete(slot)
  }

  sendDue(): void {
    if (this.#slots.size === 0) return
    const { clock, servers } = this.#deps
    const nowMs = clock.monotonicMs()
    for (const peer of this.#changed) this.#place(peer)
    for (const [slot, peers] of this.#slots) {
      if (slot * slotMs > nowMs) continue
      for (const peer of peers) {
        if (peer.closeAtMs() > nowMs) this.#place(peer)
        // It must have arrived before the close, as everything else must.
        else if (peer.farewell === undefined) this.send(peer)
        else {
          peer.sendFarewell(nowMs)
          servers.touch(peer.server)
          this.#place(peer)
        }
      }
    }
  }

  /** At the end of a turn: how long until the first of them is due. */
  dueInMs(nowMs: number): number {
    for (const peer of this.#changed) this.#place(peer)
    this.#changed.clear()
    return Math.min(...this.#slots.keys()) * slotMs - nowMs
  }

  #place(peer: Peer): void {
    const slot = Math.ceil(peer.closeAtMs() / slotMs)
    if (this.#slotOf.get(peer) === slot) return
    this.forget(peer)
    this.#slotOf.set(peer, slot)
    const peers = this.#slots.get(slot) ?? new Set()
    this.#slots.set(slot, peers.add(peer))
  }

  send(peer: Peer): void {
    const { sendPacket, servers } = this.#deps
    this.forget(peer)
    servers.touch(peer.server)
    peer.isClosed = true
    const { code, reason, drains } = peer.end ?? destroyed
    // What may leave now leaves in front of the close, which takes the place of all the rest.
    if (!drains) peer.server.flush(sendPacket)
    peer.server.close(peer.handle, code, reason)
  }

  /**
   * Ends a connection that holds too much, and lets go of its streams now: the engine keeps it
   * until its peer has had time to hear of it, or has fallen silent.
   */
  shed(peer: Peer): void {
    const { clock, count, routes, sendPacket } = this.#deps
    count('quic_connections_shed_total', 1)
    routes.shut(peer.key)
    peer.end = { ...shed, byMs: 0 }
    peer.server.forgetStreams(peer.handle)
    peer.resume()
    this.send(peer)
    peer.server.flush((packet, address) => {
      if (address === peer.address) this.#last.add(peer.key, packet, clock.monotonicMs())
      sendPacket(packet, address)
    })
  }

  /** A packet is for nobody. One for a connection that was cut is answered with its close. */
  drop(packet: Uint8Array, address: string): void {
    const { clock, count, sendPacket } = this.#deps
    count('quic_packets_dropped_total', 1)
    const close = this.#last.answer(packet, address, clock.monotonicMs())
    if (close !== undefined) sendPacket(close, address)
  }
}
