import type { Http3WasmCore } from '@currentspace/http3/wasm'
import { atEndOfTurn, type Clock, type Timer } from '../../../../../kernel/clock.ts'
import type { CertificatePair } from '../../../../../kernel/http/connection/certificates.ts'
import { type Batch, BatchWriter, type Row, readBatch } from './batch.ts'
import { type CoreEvent, type CoreOptions, CoreServer, eventTypes } from './core.ts'
import { DatagramGate, versionNegotiation } from './datagram-gate.ts'
import { commands, type EngineCounterName, reports } from './engine.ts'
import { Peer } from './peer.ts'

export type EngineLoopDeps = {
  core: Http3WasmCore
  clock: Clock
  options: CoreOptions & { keepAliveMs: number }
  sendPacket(packet: Uint8Array, address: string): void
  post(batch: Batch): void
  count(name: EngineCounterName, by: number): void
}

/** Bytes of events that the node may have left unread; packets are dropped beyond. */
const unreadBytesMax = 16 * 1024 * 1024
const destroyedCode = 1001

/**
 * The work of the engine's thread. Packets and commands are given to the engine as they come; once
 * per turn its events are read, its packets leave, and what there is to report is posted.
 */
export class EngineLoop {
  readonly #deps: EngineLoopDeps
  readonly #gate: DatagramGate
  readonly #peers = new Map<number, Peer>()
  readonly #byAddress = new Map<string, Peer>()
  readonly #byHandle = new Map<CoreServer, Map<number, Peer>>()
  /** In the order in which their keep-alives are due. */
  readonly #keepAlives = new Set<Peer>()
  readonly #paused = new Set<Peer>()
  readonly #closing = new Set<Peer>()
  readonly #written = new Set<Peer>()
  readonly #reports = new BatchWriter()
  readonly #ticks: Timer
  #server: CoreServer
  #made = 0
  #unreadBytes = 0
  #turnIsDue = false
  #timer: Timer | undefined

  constructor(deps: EngineLoopDeps) {
    this.#deps = deps
    const { clock, options } = deps
    this.#server = this.#serve(options.certificate)
    this.#gate = new DatagramGate({
      clock,
      isKnown: (address) => this.#byAddress.has(address),
      connections: () => this.#peers.size,
      maxConnections: options.maxConnections,
    })
    const { keepAliveMs, idleTimeoutMs } = options
    const tickMs = Math.max(20, Math.min(keepAliveMs, idleTimeoutMs) / 8)
    this.#ticks = clock.every(tickMs, () => this.#tick())
  }

  /** A packet from the socket; its memory may be used again. */
  received(packet: Uint8Array, host: string, address: string): void {
    const { count, sendPacket } = this.#deps
    const verdict = this.#gate.judge(packet, host, address)
    if (verdict === 'pass') this.#pass(packet, address)
    else if (verdict === 'negotiate') {
      const answer = versionNegotiation(packet)
      if (answer !== undefined) sendPacket(answer, address)
    } else if (verdict === 'limited') count('quic_initials_limited_total', 1)
    else count('quic_packets_dropped_total', 1)
  }

  commanded(batch: Batch): void {
    readBatch(batch, (row) => this.#command(row))
    this.#endTurn()
  }

  /** Connections that begin from here on get this certificate; the others keep theirs. */
  setCertificate(certificate: CertificatePair): void {
    const before = this.#server
    this.#server = this.#serve(certificate)
    this.#freeIfUnused(before)
  }

  stop(): void {
    this.#ticks.cancel()
    this.#timer?.cancel()
    for (const peer of this.#peers.values()) this.#sendClose(peer)
    for (const server of this.#byHandle.keys()) this.#flush(server)
  }

  #serve(certificate: CertificatePair): CoreServer {
    const server = new CoreServer(this.#deps.core, { ...this.#deps.options, certificate })
    this.#byHandle.set(server, new Map())
    return server
  }

  #pass(packet: Uint8Array, address: string): void {
    const peer = this.#byAddress.get(address)
    const isFlooded = this.#unreadBytes > unreadBytesMax
    if (isFlooded || (peer?.held !== undefined && !peer.hold(packet))) {
      this.#deps.count('quic_packets_dropped_total', 1)
    } else if (peer?.held === undefined) {
      const server = peer?.server ?? this.#server
      server.receive(packet, address)
      this.#endTurn()
    }
  }

  #command({ kind, connection, stream, value, bytes }: Row): void {
    if (kind === commands.read) {
      this.#unreadBytes -= value
      return
    }
    const peer = this.#peers.get(connection)
    if (peer === undefined) return
    const nowMs = this.#deps.clock.monotonicMs()
    if (kind === commands.send || kind === commands.sendLast) {
      peer.send({ stream, bytes, fin: kind === commands.sendLast }, nowMs)
      this.#written.add(peer)
    } else if (kind === commands.datagram) {
      peer.datagram(bytes)
      this.#deps.count('quic_datagrams_out_total', 1)
      this.#written.add(peer)
    } else if (kind === commands.pause) {
      peer.held ??= []
      peer.releasedAtMs = nowMs
      this.#paused.add(peer)
    } else if (kind === commands.resume) this.#resume(peer)
    else if (kind === commands.farewell) peer.farewell = { stream, bytes }
    else if (kind === commands.close) {
      peer.beginClose(value, Uint8Array.from(bytes), nowMs)
      this.#resume(peer)
      this.#closing.add(peer)
    } else if (kind === commands.destroy) this.#sendClose(peer)
  }

  #resume(peer: Peer): void {
    this.#paused.delete(peer)
    for (const packet of peer.resume()) peer.server.receive(packet, peer.address)
  }

  /** At the end of the turn: reports, packets and the next timer. */
  #endTurn(): void {
    if (this.#turnIsDue) return
    this.#turnIsDue = true
    atEndOfTurn(() => {
      this.#turnIsDue = false
      this.#turn()
    })
  }

  #turn(): void {
    this.#closeDue()
    for (const server of this.#byHandle.keys()) {
      for (const event of server.events()) this.#report(server, event)
    }
    for (const server of this.#byHandle.keys()) this.#flush(server)
    this.#reportTaken()
    if (!this.#reports.isEmpty) {
      const batch = this.#reports.take()
      this.#unreadBytes += batch.bytes.length
      this.#deps.post(batch)
    }
    this.#arm()
  }

  #flush(server: CoreServer): void {
    server.flush(this.#deps.sendPacket)
  }

  #report(server: CoreServer, event: CoreEvent): void {
    const { eventType, connHandle } = event
    if (eventType === eventTypes.opened) this.#opened(server, event)
    const peer = this.#byHandle.get(server)?.get(connHandle)
    if (peer === undefined) return
    const { streamId: stream } = event
    const reported = this.#reports
    if (eventType === eventTypes.firstData || eventType === eventTypes.data) {
      const bytes = server.bytesOf(event)
      if (bytes.length > 0) reported.add(reports.data, peer.id, { stream, bytes })
      if (event.fin) reported.add(reports.ended, peer.id, { stream })
    } else if (eventType === eventTypes.finished) {
      reported.add(reports.ended, peer.id, { stream })
    } else if (eventType === eventTypes.datagram) {
      this.#deps.count('quic_datagrams_in_total', 1)
      reported.add(reports.datagram, peer.id, { bytes: server.bytesOf(event) })
    } else if (eventType === eventTypes.drained) {
      peer.drained(stream, this.#deps.clock.monotonicMs())
      this.#written.add(peer)
    } else if (eventType === eventTypes.streamError) this.#streamFailed(peer, event)
    else if (eventType === eventTypes.established) {
      peer.isEstablished = true
      reported.add(reports.established, peer.id)
    } else if (eventType === eventTypes.closed) this.#closed(peer, event)
  }

  #opened(server: CoreServer, { connHandle, meta }: CoreEvent): void {
    const { remoteAddr: host = '', remotePort = 0 } = meta ?? {}
    const address = host.includes(':') ? `[${host}]:${remotePort}` : `${host}:${remotePort}`
    this.#made += 1
    const peer = new Peer(this.#made, { host, address, server, handle: connHandle })
    this.#peers.set(peer.id, peer)
    this.#byAddress.set(address, peer)
    this.#byHandle.get(server)?.set(connHandle, peer)
    peer.keepAliveAtMs = this.#deps.clock.monotonicMs() + this.#deps.options.keepAliveMs
    this.#keepAlives.add(peer)
    this.#deps.count('quic_connections_active', 1)
    this.#reports.add(reports.opened, peer.id, { bytes: new TextEncoder().encode(host) })
  }

  #streamFailed(peer: Peer, { streamId: stream, meta }: CoreEvent): void {
    const reason = meta?.errorReason ?? ''
    if (reason.startsWith('StreamReset')) this.#reports.add(reports.reset, peer.id, { stream })
    else {
      peer.streamOver(stream, this.#deps.clock.monotonicMs())
      this.#written.add(peer)
      if (reason.includes('StreamStopped')) {
        this.#reports.add(reports.stopped, peer.id, { stream })
      }
    }
  }

  #closed(peer: Peer, { meta }: CoreEvent): void {
    if (!peer.isEstablished) this.#deps.count('quic_handshake_failures_total', 1)
    this.#deps.count('quic_connections_active', -1)
    const { server } = peer
    this.#peers.delete(peer.id)
    if (this.#byAddress.get(peer.address) === peer) this.#byAddress.delete(peer.address)
    this.#byHandle.get(server)?.delete(peer.handle)
    for (const set of [this.#keepAlives, this.#paused, this.#closing, this.#written]) {
      set.delete(peer)
    }
    this.#reports.add(reports.closed, peer.id, { value: meta?.errorCode ?? -1 })
    this.#freeIfUnused(server)
  }

  #freeIfUnused(server: CoreServer): void {
    if (server === this.#server || this.#byHandle.get(server)?.size !== 0) return
    this.#byHandle.delete(server)
    // Its last packets and events are out with this turn.
    atEndOfTurn(() => server.free())
  }

  #reportTaken(): void {
    for (const peer of this.#written) {
      peer.flushDatagrams()
      const { takenBytes: value, takenDatagrams: stream } = peer
      if (value > 0 || stream > 0) this.#reports.add(reports.taken, peer.id, { value, stream })
      peer.takenBytes = 0
      peer.takenDatagrams = 0
    }
    this.#written.clear()
  }

  #closeDue(): void {
    if (this.#closing.size === 0) return
    const nowMs = this.#deps.clock.monotonicMs()
    for (const peer of this.#closing) {
      if (peer.closeAtMs() > nowMs) continue
      // It must have arrived before the close, as everything else must.
      if (peer.farewell === undefined) this.#sendClose(peer)
      else peer.sendFarewell(nowMs)
    }
  }

  #sendClose(peer: Peer): void {
    this.#closing.delete(peer)
    const { code, reason } = peer.end ?? { code: destroyedCode, reason: new Uint8Array() }
    peer.server.close(peer.handle, code, reason)
  }

  #tick(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    const { keepAliveMs, idleTimeoutMs } = this.#deps.options
    for (const peer of this.#keepAlives) {
      if (peer.keepAliveAtMs > nowMs) break
      this.#keepAlives.delete(peer)
      this.#keepAlives.add(peer)
      peer.keepAliveAtMs = nowMs + keepAliveMs
      if (peer.isEstablished) peer.server.ping(peer.handle)
    }
    // A paused peer that is never heard would time out.
    for (const peer of this.#paused) {
      if (nowMs - peer.releasedAtMs < idleTimeoutMs / 4) continue
      peer.releasedAtMs = nowMs
      const packet = peer.release()
      if (packet !== undefined) peer.server.receive(packet, peer.address)
    }
    this.#endTurn()
  }

  #arm(): void {
    this.#timer?.cancel()
    let dueMs = Number.POSITIVE_INFINITY
    for (const server of this.#byHandle.keys()) {
      dueMs = Math.min(dueMs, server.timeoutMs() ?? dueMs)
    }
    const nowMs = this.#deps.clock.monotonicMs()
    for (const peer of this.#closing) dueMs = Math.min(dueMs, peer.closeAtMs() - nowMs)
    if (dueMs === Number.POSITIVE_INFINITY) return
    this.#timer = this.#deps.clock.after(Math.max(0, Math.ceil(dueMs)), () => {
      for (const server of this.#byHandle.keys()) server.onTimeout()
      this.#turn()
    })
  }
}
