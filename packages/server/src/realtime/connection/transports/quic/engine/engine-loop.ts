import type { Http3WasmCore } from '@currentspace/http3/wasm'
import { atEndOfTurn, type Clock, type Timer } from '../../../../../kernel/clock.ts'
import type { CertificatePair } from '../../../../../kernel/http/connection/certificates.ts'
import { Admissions, admissionKey, type PacketSource } from './admissions.ts'
import { type Batch, BatchWriter, payloadBytes, type Row, readBatch } from './batch.ts'
import { Closings } from './closings.ts'
import { type CoreEvent, type CoreOptions, CoreServer, closeCodeOf, eventTypes } from './core.ts'
import { DatagramGate, versionNegotiation } from './datagram-gate.ts'
import { commands, type EngineCounterName, reports } from './engine.ts'
import { Holdings } from './holdings.ts'
import { closeInitial, connectionRefused, type Initial, readInitial } from './initial-packet.ts'
import { Peer } from './peer.ts'
import { retryTokens } from './retry-token.ts'
import { Routes } from './routes.ts'
import { Servers } from './servers.ts'

export type EngineLoopDeps = {
  core: Http3WasmCore
  /** How large its memory can become. */
  memoryBytesMax: number
  clock: Clock
  options: CoreOptions & { keepAliveMs: number }
  sendPacket(packet: Uint8Array, address: string): void
  post(batch: Batch): void
  count(name: EngineCounterName, by: number): void
}

/** Bytes of events that the node may have left unread; packets are dropped beyond. */
const unreadBytesMax = 16 * 1024 * 1024

/** A connection that the node has admitted, until the engine has begun it. */
type Admitted = { id: number; key: string; server: CoreServer }

/**
 * The work of the engine's thread. Packets and commands are given to the engine as they come; once
 * per turn its events are read, its packets leave, and what there is to report is posted.
 */
export class EngineLoop {
  readonly #deps: EngineLoopDeps
  readonly #gate: DatagramGate
  readonly #admissions = new Admissions()
  /** By their addresses, until the end of the turn. */
  readonly #admitted = new Map<string, Admitted[]>()
  readonly #routes = new Routes(() => this.#servers.forNew())
  readonly #peers = new Map<number, Peer>()
  readonly #byAddress = new Map<string, readonly Peer[]>()
  readonly #servers: Servers
  /** In the order in which their keep-alives are due. */
  readonly #keepAlives = new Set<Peer>()
  readonly #paused = new Set<Peer>()
  readonly #closings: Closings
  readonly #holdings: Holdings
  readonly #written = new Set<Peer>()
  readonly #reports = new BatchWriter()
  readonly #ticks: Timer
  #made = 0
  #unreadBytes = 0
  #turnIsDue = false
  #timer: Timer | undefined

  constructor(deps: EngineLoopDeps) {
    this.#deps = deps
    const { clock, core, options } = deps
    this.#servers = new Servers(clock, () => this.#serve(options.certificate))
    this.#closings = new Closings({ ...deps, servers: this.#servers, routes: this.#routes })
    this.#holdings = new Holdings(() => core.exports.memory.buffer.byteLength, deps.memoryBytesMax)
    this.#gate = new DatagramGate({
      clock,
      isKnown: (address) => this.#byAddress.has(address),
      isToken: retryTokens(options.retryKey, clock),
      stateOf: (address, destination) => {
        const key = admissionKey(address, destination)
        if (this.#routes.has(key)) return 'open'
        return this.#admissions.has(key) ? 'waits' : undefined
      },
      connections: () => this.#peers.size,
      maxConnections: options.maxConnections,
      isFull: () => this.#holdings.isFull,
    })
    const { keepAliveMs, idleTimeoutMs } = options
    const tickMs = Math.max(20, Math.min(keepAliveMs, idleTimeoutMs) / 8)
    this.#ticks = clock.every(tickMs, () => this.#tick())
  }

  /** A packet from the socket; its memory may be used again. */
  received(packet: Uint8Array, source: PacketSource): void {
    const { count, sendPacket } = this.#deps
    const verdict = this.#gate.judge(packet, source)
    if (verdict === 'pass') this.#pass(packet, source.address)
    else if (verdict === 'negotiate') {
      const answer = versionNegotiation(packet)
      if (answer !== undefined) sendPacket(answer, source.address)
    } else if (verdict === 'limited') count('quic_initials_limited_total', 1)
    else if (verdict === 'drop') this.#closings.drop(packet, source.address)
    else {
      const datagram = Uint8Array.from(packet)
      const initial = readInitial(datagram)
      if (initial !== undefined) this.#attempt(verdict, { datagram, initial, source })
    }
  }

  commanded(batch: Batch): void {
    readBatch(batch, (row) => this.#command(row))
    this.#endTurn()
  }

  /** Connections that begin from here on get this certificate; the others keep theirs. */
  setCertificate(certificate: CertificatePair): void {
    for (const server of this.#servers.renew(() => this.#serve(certificate))) server.free()
  }

  stop(): void {
    this.#ticks.cancel()
    this.#timer?.cancel()
    for (const peer of this.#peers.values()) this.#closings.send(peer)
    for (const server of this.#servers.end()) {
      server.flush(this.#deps.sendPacket)
      server.free()
    }
  }

  #serve(certificate: CertificatePair): CoreServer {
    return new CoreServer(this.#deps.core, { ...this.#deps.options, certificate })
  }

  /** A peer wants a connection: the node is asked before the engine sees any of it. */
  #attempt(
    verdict: 'begin' | 'wait' | 'refuse',
    { datagram, initial, source }: { datagram: Uint8Array; initial: Initial; source: PacketSource },
  ): void {
    const { count } = this.#deps
    if (verdict === 'refuse') this.#refuse(initial, source.address)
    else if (verdict === 'wait') {
      const key = admissionKey(source.address, initial.destination)
      if (!this.#admissions.hold(key, datagram)) count('quic_packets_dropped_total', 1)
    } else if (this.#admissions.isFull) count('quic_initials_limited_total', 1)
    else {
      this.#made += 1
      this.#admissions.add(this.#made, source, datagram, initial)
      this.#reports.add(reports.opened, this.#made, { bytes: Buffer.from(source.host) })
      this.#endTurn()
    }
  }

  #refuse(initial: Initial, address: string): void {
    this.#deps.count('quic_connections_refused_total', 1)
    this.#deps.sendPacket(closeInitial(initial, connectionRefused), address)
  }

  #decided(id: number, isAdmitted: boolean): void {
    const admission = this.#admissions.take(id)
    if (admission === undefined) return
    const { address, key, initial, packets } = admission
    if (isAdmitted) {
      const begun = this.#admitted.get(address) ?? []
      const server = this.#servers.forNew([...(this.#byAddress.get(address) ?? []), ...begun])
      this.#routes.begin(key, server)
      this.#admitted.set(address, [...begun, { id, key, server }])
      for (const packet of packets) server.receive(packet, address)
      this.#servers.expect(server)
      this.#servers.touch(server)
    } else this.#refuse(initial, address)
  }

  #pass(packet: Uint8Array, address: string): void {
    const paused = this.#byAddress.get(address)?.find(({ held }) => held !== undefined)
    const isLost = this.#unreadBytes > unreadBytesMax || paused?.hold(packet) === false
    if (isLost) this.#deps.count('quic_packets_dropped_total', 1)
    else if (paused === undefined) {
      this.#receive(packet, address)
      this.#endTurn()
    }
  }

  #receive(packet: Uint8Array, address: string): void {
    const known = this.#byAddress.get(address) ?? []
    const isOpen = known.length > 0 && known.every(({ isEstablished }) => isEstablished)
    const servers = this.#routes.serversFor(packet, address, known)
    for (const server of servers) {
      server.receive(packet, address)
      this.#servers.heard(server, packet.length, isOpen)
    }
    if (servers.length === 0) this.#closings.drop(packet, address)
    this.#holdings.received(packet.length)
    // An address may have hundreds of connections, and a server has few.
    for (const peer of known) if (servers.includes(peer.server)) this.#heard(peer)
    if (this.#servers.haveMuch) this.#askForEvents(this.#servers.unasked())
  }

  /** A packet may have come for it, which has brought too much, or made room for more. */
  #heard(peer: Peer): void {
    if (peer.isClosed) return
    this.#closings.changed(peer)
    if (peer.server.memoryOf(peer.handle).isInPieces()) this.#closings.shed(peer)
    else if (peer.awaitsPeer) {
      peer.flush(this.#deps.clock.monotonicMs())
      this.#written.add(peer)
      this.#servers.touch(peer.server)
    }
  }

  #command({ kind, connection, stream, value, bytes }: Row): void {
    if (kind === commands.read) {
      this.#unreadBytes -= value
      return
    }
    if (kind === commands.admit) return void this.#decided(connection, true)
    if (kind === commands.refuse) return void this.#decided(connection, false)
    const peer = this.#peers.get(connection)
    if (peer === undefined) return
    this.#servers.touch(peer.server)
    const { clock, count } = this.#deps
    if (kind === commands.send || kind === commands.sendLast) {
      peer.send({ stream, bytes, fin: kind === commands.sendLast }, clock.monotonicMs())
      this.#servers.sends(peer.server, bytes.length)
      this.#holdings.sent(bytes.length)
      this.#written.add(peer)
    } else if (kind === commands.datagram) {
      peer.datagram(bytes)
      this.#holdings.sent(bytes.length)
      count('quic_datagrams_out_total', 1)
      this.#written.add(peer)
    } else if (kind === commands.pause && !peer.isClosed) {
      peer.pause(clock.monotonicMs())
      this.#paused.add(peer)
    } else if (kind === commands.resume) this.#resume(peer)
    else if (kind === commands.farewell) peer.farewell = { stream, bytes }
    else if (kind === commands.close) {
      const reason = Uint8Array.from(bytes)
      peer.beginClose({ code: value, reason, drains: stream !== 0 }, clock.monotonicMs())
      this.#closings.await(peer)
      this.#resume(peer)
    } else if (kind === commands.destroy) this.#closings.send(peer)
  }

  #resume(peer: Peer): void {
    this.#paused.delete(peer)
    for (const packet of peer.resume()) this.#receive(packet, peer.address)
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
    const { sendPacket, post } = this.#deps
    this.#closings.sendDue()
    for (const peer of this.#holdings.excess(this.#peers.values())) this.#closings.shed(peer)
    this.#askForEvents(this.#servers.touched())
    this.#forgetUnbegun()
    for (const server of this.#servers.ready()) server.flush(sendPacket)
    for (const server of this.#servers.settle()) server.free()
    this.#reportTaken()
    if (!this.#reports.isEmpty) {
      const batch = this.#reports.take()
      this.#unreadBytes += payloadBytes(batch)
      post(batch)
    }
    this.#arm()
  }

  #askForEvents(servers: Iterable<CoreServer>): void {
    for (const server of servers) server.drainEvents((event) => this.#report(server, event))
  }

  #report(server: CoreServer, event: CoreEvent): void {
    const { eventType, connHandle, streamId: stream } = event
    if (eventType === eventTypes.opened) this.#opened(server, event)
    const peer = this.#servers.find(server, connHandle)
    if (peer === undefined) return
    if (eventType === eventTypes.firstData || eventType === eventTypes.data) {
      const bytes = server.bytesOf(event)
      if (bytes.length > 0) this.#reports.add(reports.data, peer.id, { stream, bytes })
      if (event.fin) this.#reports.add(reports.ended, peer.id, { stream })
    } else if (eventType === eventTypes.finished) {
      this.#reports.add(reports.ended, peer.id, { stream })
    } else if (eventType === eventTypes.datagram) {
      this.#deps.count('quic_datagrams_in_total', 1)
      this.#reports.add(reports.datagram, peer.id, { bytes: server.bytesOf(event) })
    } else if (eventType === eventTypes.drained) {
      peer.drained(stream, this.#deps.clock.monotonicMs())
      this.#written.add(peer)
      this.#servers.touch(server)
    } else if (eventType === eventTypes.streamError) this.#streamFailed(peer, event)
    else if (eventType === eventTypes.established) peer.isEstablished = true
    else if (eventType === eventTypes.closed) this.#closed(peer, event)
  }

  #opened(server: CoreServer, { connHandle, meta }: CoreEvent): void {
    const { remoteAddr: host = '', remotePort = 0 } = meta ?? {}
    const address = host.includes(':') ? `[${host}]:${remotePort}` : `${host}:${remotePort}`
    const begun = this.#admitted.get(address)
    const admitted = begun?.find((each) => each.server === server)
    // The engine is given no first packet that was not admitted.
    if (begun === undefined || admitted === undefined) return
    begun.splice(begun.indexOf(admitted), 1)
    const { id, key } = admitted
    const peer = new Peer(id, { host, address, key, server, handle: connHandle })
    this.#peers.set(peer.id, peer)
    this.#byAddress.set(address, [...(this.#byAddress.get(address) ?? []), peer])
    this.#servers.add(peer)
    this.#holdings.opened()
    peer.keepAliveAtMs = this.#deps.clock.monotonicMs() + this.#deps.options.keepAliveMs
    this.#keepAlives.add(peer)
    this.#deps.count('quic_connections_active', 1)
  }

  /** What the engine has not begun is no connection, e.g. for a packet that was forged. */
  #forgetUnbegun(): void {
    for (const unbegun of this.#admitted.values()) {
      for (const { id, key } of unbegun) {
        this.#routes.end(key)
        this.#reports.add(reports.closed, id, { value: -1 })
        this.#deps.count('quic_handshake_failures_total', 1)
      }
    }
    this.#admitted.clear()
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

  #closed(peer: Peer, event: CoreEvent): void {
    if (!peer.isEstablished) this.#deps.count('quic_handshake_failures_total', 1)
    this.#deps.count('quic_connections_active', -1)
    this.#peers.delete(peer.id)
    this.#routes.end(peer.key)
    const others = this.#byAddress.get(peer.address)?.filter((each) => each !== peer)
    if (others?.length) this.#byAddress.set(peer.address, others)
    else this.#byAddress.delete(peer.address)
    for (const set of [this.#keepAlives, this.#paused, this.#written]) set.delete(peer)
    this.#closings.forget(peer)
    this.#reports.add(reports.closed, peer.id, { value: closeCodeOf(event) })
    // Its last packets and events are out with this turn.
    if (this.#servers.remove(peer)) atEndOfTurn(() => peer.server.free())
  }

  #reportTaken(): void {
    for (const peer of this.#written) {
      this.#closings.changed(peer)
      // What there is room for now leaves with the next turn.
      if (peer.flushDatagrams()) {
        this.#servers.touch(peer.server)
        this.#endTurn()
      }
      const taken = peer.takenToReport()
      if (taken !== undefined) this.#reports.add(reports.taken, peer.id, taken)
      // The engine does not say when it has room for datagrams: the next turn tries again.
      if (!peer.hasDatagrams) this.#written.delete(peer)
    }
  }

  #tick(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    const { keepAliveMs, idleTimeoutMs } = this.#deps.options
    for (const peer of this.#keepAlives) {
      if (peer.keepAliveAtMs > nowMs) break
      this.#keepAlives.delete(peer)
      this.#keepAlives.add(peer)
      peer.keepAliveAtMs = nowMs + keepAliveMs
      if (!peer.isEstablished || peer.isClosed) continue
      peer.server.ping(peer.handle)
      this.#servers.touch(peer.server)
    }
    this.#holdings.tick()
    // A paused peer that is never heard would time out.
    for (const peer of this.#paused) {
      if (nowMs - peer.releasedAtMs < idleTimeoutMs / 4) continue
      const packet = peer.release(nowMs)
      if (packet !== undefined) this.#receive(packet, peer.address)
    }
    this.#endTurn()
  }

  #arm(): void {
    this.#timer?.cancel()
    const nowMs = this.#deps.clock.monotonicMs()
    const dueMs = Math.min(this.#servers.dueAtMs - nowMs, this.#closings.dueInMs(nowMs))
    if (dueMs === Number.POSITIVE_INFINITY) return
    this.#timer = this.#deps.clock.after(Math.max(0, Math.ceil(dueMs)), () => {
      this.#servers.runTimers()
      this.#turn()
    })
  }
}
