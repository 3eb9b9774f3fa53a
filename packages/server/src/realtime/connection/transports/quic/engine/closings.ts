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

/** The closes of connections, of which some wait until what was sent has arrived. */
export class Closings {
  readonly #deps: ClosingsDeps
  readonly #waiting = new Set<Peer>()
  readonly #last = new LastCloses()

  constructor(deps: ClosingsDeps) {
    this.#deps = deps
  }

  /** Its close leaves when the peer's time has come. */
  await(peer: Peer): void {
    this.#waiting.add(peer)
  }

  forget(peer: Peer): void {
    this.#waiting.delete(peer)
  }

  sendDue(): void {
    if (this.#waiting.size === 0) return
    const { clock, servers } = this.#deps
    const nowMs = clock.monotonicMs()
    for (const peer of this.#waiting) {
      if (peer.closeAtMs() > nowMs) continue
      // It must have arrived before the close, as everything else must.
      if (peer.farewell === undefined) this.send(peer)
      else {
        peer.sendFarewell(nowMs)
        servers.touch(peer.server)
      }
    }
  }

  /** How long until the first of them is due. */
  dueInMs(nowMs: number): number {
    let dueMs = Number.POSITIVE_INFINITY
    for (const peer of this.#waiting) dueMs = Math.min(dueMs, peer.closeAtMs() - nowMs)
    return dueMs
  }

  send(peer: Peer): void {
    const { sendPacket, servers } = this.#deps
    this.#waiting.delete(peer)
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
