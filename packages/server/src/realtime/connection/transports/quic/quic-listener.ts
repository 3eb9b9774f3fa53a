import type { Clock, Timer } from '../../../../kernel/clock.ts'
import { addressRefused } from '../../../../kernel/errors/address-refused.ts'
import type { ErrorJournal } from '../../../../kernel/errors/error-journal.ts'
import { reasonOf } from '../../../../kernel/errors/reason.ts'
import type { CertificatePair } from '../../../../kernel/http/connection/certificates.ts'
import type { Ids } from '../../../../kernel/ids.ts'
import type { Log } from '../../../../kernel/log/log.ts'
import { limitGroupOf } from '../limit-group.ts'
import type { Acceptor } from '../transport.ts'
import {
  developmentCertificateLifeMs,
  makeDevelopmentCertificate,
} from './certificate/development-certificate.ts'
import type { Engine, EngineAddress, EngineCounters, EngineEvents } from './engine/engine.ts'
import { startEngineThread } from './engine/engine-thread.ts'
import type { Speak } from './protocol.ts'
import { QuicPeer } from './quic-peer.ts'

/** The `transport.quic` section of the configuration. */
export type QuicConfig = {
  enabled: boolean
  idle_timeout_ms: number
  keep_alive_ms: number
  max_connections: number
}

export type QuicListenerDeps = {
  config: QuicConfig
  /** Where to listen, from the configuration. */
  bind: EngineAddress
  /** Whether other processes of this user may have the address too. */
  isShared: boolean
  /** Whether the operator asked for it, so that it must serve or refuse the start. */
  isExplicit: boolean
  gateway: Acceptor
  clock: Clock
  ids: Pick<Ids, 'bytes'>
  log: Log
  journal: Pick<ErrorJournal, 'record'>
  speakHttp3: Speak | undefined
  startEngine?: typeof startEngineThread
}

/**
 * | state    | what it does                                | what comes next        |
 * |----------|---------------------------------------------|------------------------|
 * | idle     | is off, or waits for its start              | starting, closed       |
 * | starting | loads the engine, or starts it after a trap | serving, down, closed  |
 * | serving  | accepts connections                         | starting, down, closed |
 * | down     | could not start, or has trapped too often   | closed                 |
 * | closed   | has given its socket back                   |                        |
 */
type State = 'idle' | 'starting' | 'serving' | 'down' | 'closed'

/** A transport that nobody asked for loads once the node is ready, in milliseconds. */
const lateStartMs = 200
const restartMs = 200
/** After so many traps within a minute the engine stays off. */
const trapsMax = 5
const trapWindowMs = 60_000
const certificateCheckMs = 60_000

/** The engine of one node and the connections that it has, over its failures. */
export class QuicListener {
  readonly #deps: QuicListenerDeps
  #state: State = 'idle'
  #engine: Engine | undefined
  #address: EngineAddress
  #peers = new Map<number, QuicPeer>()
  #certificate: CertificatePair | undefined
  /** When a certificate of our own was made; undefined for one of files. */
  #madeAtMs: number | undefined
  #trapsAtMs: number[] = []
  #restarts = 0
  #counted: EngineCounters | undefined
  #timers: Timer[] = []

  constructor(deps: QuicListenerDeps) {
    this.#deps = deps
    this.#address = deps.bind
  }

  get isServing(): boolean {
    return this.#state === 'serving'
  }

  /** Where it listens, or where it was asked to. */
  get address(): EngineAddress {
    return this.#address
  }

  get certificate(): CertificatePair | undefined {
    return this.#certificate
  }

  /** @throws what keeps a listener from serving that the operator asked for */
  async start(): Promise<void> {
    const { config, isExplicit, clock, log } = this.#deps
    if (!config.enabled) return
    this.#state = 'starting'
    this.#timers.push(clock.every(certificateCheckMs, () => this.#renewCertificate()))
    if (isExplicit) return this.#open().catch(addressRefused('transport.quic.bind'))
    this.#after(lateStartMs, () => {
      this.#open().catch((error: unknown) => {
        this.#state = 'down'
        log.warn('QUIC and WebTransport are off', { reason: reasonOf(error) })
      })
    })
  }

  setCertificate(pair: CertificatePair): void {
    this.#certificate = pair
    this.#madeAtMs = undefined
    this.#engine?.setCertificate(pair)
  }

  metrics(): Record<string, number> {
    const counters = this.#engine?.counters() ?? this.#counted ?? {}
    let sessions = 0
    for (const peer of this.#peers.values()) sessions += Number(peer.isWebTransport)
    return {
      ...counters,
      webtransport_connections_active: sessions,
      quic_engine_restarts_total: this.#restarts,
    }
  }

  async close(): Promise<void> {
    this.#state = 'closed'
    for (const timer of this.#timers) timer.cancel()
    await this.#engine?.stop()
    this.#engine = undefined
  }

  async #open(): Promise<void> {
    const { config, isShared, clock, ids, log, startEngine = startEngineThread } = this.#deps
    const engine = await startEngine(
      {
        address: this.#address,
        isShared,
        certificate: this.#certificate ?? this.#makeCertificate(),
        idleTimeoutMs: config.idle_timeout_ms,
        keepAliveMs: config.keep_alive_ms,
        maxConnections: config.max_connections,
        retryKey: ids.bytes(32).toString('hex'),
        clock,
      },
      this.#events(),
    )
    if (this.#state === 'closed') return engine.stop()
    this.#engine = engine
    this.#address = engine.address
    this.#state = 'serving'
    const { host, port } = engine.address
    log.info('QUIC is served', { host, port })
  }

  #events(): EngineEvents {
    const peers = this.#peers
    const of = (id: number) => peers.get(id)
    return {
      opened: (id, host) => this.#opened(id, host),
      data: (id, stream, bytes) => of(id)?.data(stream, bytes),
      ended: (id, stream) => of(id)?.ended(stream),
      reset: (id, stream) => of(id)?.ended(stream),
      stopped: (id, stream) => of(id)?.stopped(stream),
      datagram: (id, bytes) => of(id)?.datagram(bytes),
      taken: (id, bytes, datagrams) => of(id)?.taken(bytes, datagrams),
      closed(id, code) {
        const peer = of(id)
        peers.delete(id)
        peer?.closed(code)
      },
      failed: (error) => this.#failed(error),
    }
  }

  #opened(id: number, host: string): boolean {
    const { gateway, speakHttp3 } = this.#deps
    const group = limitGroupOf(host)
    if (this.#engine === undefined || gateway.refuses(group)) return false
    this.#peers.set(id, new QuicPeer({ engine: this.#engine, gateway, speakHttp3 }, id, group))
    return true
  }

  /** The engine has trapped: its connections are lost, and it starts again. */
  #failed(error: Error): void {
    const { journal, clock, log } = this.#deps
    this.#counted = { ...this.#engine?.counters(), quic_connections_active: 0 } as EngineCounters
    this.#engine = undefined
    journal.record({ category: 'transport', component: 'quic', error })
    const peers = this.#peers
    this.#peers = new Map()
    for (const peer of peers.values()) peer.closed(undefined)
    if (this.#state === 'closed') return
    const nowMs = clock.monotonicMs()
    this.#trapsAtMs = [...this.#trapsAtMs.filter((atMs) => nowMs - atMs < trapWindowMs), nowMs]
    if (this.#trapsAtMs.length > trapsMax) {
      this.#state = 'down'
      log.error('QUIC and WebTransport stay off: their engine fails again and again')
      return
    }
    this.#state = 'starting'
    this.#restarts += 1
    this.#after(restartMs, () => {
      this.#open().catch((cause: unknown) => {
        this.#failed(cause instanceof Error ? cause : new Error(String(cause)))
      })
    })
  }

  #makeCertificate(): CertificatePair {
    const { clock, ids } = this.#deps
    this.#madeAtMs = clock.nowUnixMs()
    this.#certificate = makeDevelopmentCertificate(clock, ids)
    return this.#certificate
  }

  #renewCertificate(): void {
    if (this.#madeAtMs === undefined) return
    if (this.#deps.clock.nowUnixMs() - this.#madeAtMs < developmentCertificateLifeMs) return
    this.#engine?.setCertificate(this.#makeCertificate())
  }

  #after(delayMs: number, task: () => void): void {
    this.#timers.push(this.#deps.clock.after(delayMs, () => this.#state !== 'closed' && task()))
  }
}
