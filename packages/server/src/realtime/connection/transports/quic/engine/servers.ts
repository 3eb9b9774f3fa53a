import type { Clock } from '../../../../../kernel/clock.ts'
import type { CoreServer } from './core.ts'
import type { Peer } from './peer.ts'

/**
 * Whenever a server sends it looks at all its connections, a microsecond for each, so it has few.
 * But it takes 28 KiB by itself, and 0.3 ms to make.
 */
const connectionsMax = 4
/**
 * How long the acknowledgement of what came may wait for an answer to leave with, and behind how
 * many bytes. QUIC allows for 25 ms.
 */
const patienceMs = 8
const patienceBytesMax = 4096
/**
 * Bytes of packets that servers may have been given before they are asked for events: each of these
 * has 64 KiB of the engine's memory until then, and a packet may bring hundreds.
 */
const unaskedBytesMax = 4096
/** What leaves in many packets waits for acknowledgements, which are not to wait for it. */
const bulkBytes = 4096
const bulkMs = 1000

type Timed = Pick<CoreServer, 'timeoutMs' | 'onTimeout'>
type OnServer<Server> = { readonly server: Server; readonly handle: number }

type Held<One> = {
  readonly peers: Map<number, One>
  /** Connections that this turn begins. */
  expected: number
  /** Its certificate is that of new connections. */
  isCurrent: boolean
  /** When the next timer of its connections is due, on the monotonic clock. */
  dueAtMs: number
  /** Bytes that came since it last sent, and until when it may wait with what it has to send. */
  heardBytes: number
  patientUntilMs: number
  /** Until when it does not wait. */
  bulkUntilMs: number
}

/**
 * The servers of the engine and whose connections they have. Only those are looked at in a turn
 * that something has happened to.
 */
export class Servers<
  Server extends Timed = CoreServer,
  One extends OnServer<Server> = Peer & OnServer<Server>,
> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #held = new Map<Server, Held<One>>()
  readonly #touched = new Set<Server>()
  /** Those of them that have heard something, and to which nothing else has happened. */
  readonly #patient = new Set<Server>()
  /** Those that have heard something and were not asked for events, and how much that was. */
  readonly #unasked = new Set<Server>()
  #unaskedBytes = 0
  /** No timer is due before. */
  #dueAtMs = Number.POSITIVE_INFINITY
  #make: () => Server
  #open: Server

  /** @param make makes a server with the certificate of new connections */
  constructor(clock: Pick<Clock, 'monotonicMs'>, make: () => Server) {
    this.#clock = clock
    this.#make = make
    this.#open = this.#add()
  }

  /** New connections get servers of another make; answers those that nobody has any more. */
  renew(make: () => Server): Server[] {
    this.#make = make
    for (const held of this.#held.values()) held.isCurrent = false
    this.#open = this.#add()
    return [...this.#held.keys()].filter((server) => this.#leaves(server))
  }

  /** The server for a new connection of an address that has these already. */
  forNew(known: readonly { server: Server }[] = []): Server {
    const near = known.find(({ server }) => this.#hasRoom(server))
    if (near !== undefined) return near.server
    if (!this.#hasRoom(this.#open)) {
      this.#open = [...this.#held.keys()].find((server) => this.#hasRoom(server)) ?? this.#add()
    }
    return this.#open
  }

  /** A connection begins on a server, which `add` says once the engine has it. */
  expect(server: Server): void {
    const held = this.#held.get(server)
    if (held !== undefined) held.expected += 1
  }

  /** Something has happened to a server, which has events, packets or a timer then. */
  touch(server: Server): void {
    this.#touched.add(server)
    this.#patient.delete(server)
  }

  /**
   * So many bytes have come: unless they are many, or a handshake goes on, what is to be said of
   * them waits a little.
   */
  heard(server: Server, bytes: number, isOpen = true): void {
    const held = this.#held.get(server)
    if (held === undefined) return
    this.#unasked.add(server)
    this.#unaskedBytes += bytes
    const nowMs = this.#clock.monotonicMs()
    if (held.heardBytes === 0) held.patientUntilMs = nowMs + patienceMs
    held.heardBytes += bytes
    const isPatient =
      isOpen &&
      held.heardBytes <= patienceBytesMax &&
      nowMs < held.patientUntilMs &&
      nowMs >= held.bulkUntilMs
    if (!isPatient) this.touch(server)
    else if (!this.#touched.has(server)) {
      this.#touched.add(server)
      this.#patient.add(server)
    }
  }

  /** So many bytes of a stream are to leave at once. */
  sends(server: Server, bytes: number): void {
    const held = this.#held.get(server)
    if (held === undefined || bytes < bulkBytes) return
    held.bulkUntilMs = this.#clock.monotonicMs() + bulkMs
  }

  add(peer: One): void {
    this.#held.get(peer.server)?.peers.set(peer.handle, peer)
  }

  find(server: Server, handle: number): One | undefined {
    return this.#held.get(server)?.peers.get(handle)
  }

  /** Answers whether its server has nobody any more, and is for nobody. */
  remove({ server, handle }: One): boolean {
    this.#held.get(server)?.peers.delete(handle)
    return this.#leaves(server)
  }

  /** Whether so much has come that servers are to be asked for events at once. */
  get haveMuch(): boolean {
    return this.#unaskedBytes >= unaskedBytesMax
  }

  /** Those that are asked now for what came. */
  unasked(): Server[] {
    const servers = [...this.#unasked]
    this.#unasked.clear()
    this.#unaskedBytes = 0
    return servers
  }

  /** Those that were touched; some may be while they are gone through. */
  touched(): Iterable<Server> {
    return this.#touched
  }

  /** Those that send with this turn. */
  *ready(): Iterable<Server> {
    for (const server of this.#touched) if (!this.#patient.has(server)) yield server
  }

  /**
   * They have been looked at: the next timer of each is known, and what was to begin has begun.
   * Answers those that nobody has any more.
   */
  settle(): Server[] {
    const nowMs = this.#clock.monotonicMs()
    for (const server of this.#touched) {
      const held = this.#held.get(server)
      if (held === undefined) continue
      held.expected = 0
      held.dueAtMs = nowMs + (server.timeoutMs() ?? Number.POSITIVE_INFINITY)
      if (this.#patient.has(server)) held.dueAtMs = Math.min(held.dueAtMs, held.patientUntilMs)
      else held.heardBytes = 0
      this.#dueAtMs = Math.min(this.#dueAtMs, held.dueAtMs)
    }
    const left = [...this.#touched].filter((server) => this.#leaves(server))
    this.#touched.clear()
    this.#patient.clear()
    this.unasked()
    return left
  }

  /** When the first timer is due, or earlier: one that was put off is still counted. */
  get dueAtMs(): number {
    return this.#dueAtMs
  }

  /** Lets the timers run that are due. */
  runTimers(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#dueAtMs = Number.POSITIVE_INFINITY
    for (const [server, held] of this.#held) {
      if (held.dueAtMs <= nowMs) {
        server.onTimeout()
        this.touch(server)
      } else this.#dueAtMs = Math.min(this.#dueAtMs, held.dueAtMs)
    }
  }

  /** All of them; nothing is due from here on. */
  end(): Server[] {
    const all = [...this.#held.keys()]
    this.#held.clear()
    this.#touched.clear()
    this.#unasked.clear()
    this.#dueAtMs = Number.POSITIVE_INFINITY
    return all
  }

  #add(): Server {
    const server = this.#make()
    this.#held.set(server, {
      peers: new Map(),
      expected: 0,
      isCurrent: true,
      dueAtMs: Number.POSITIVE_INFINITY,
      heardBytes: 0,
      patientUntilMs: 0,
      bulkUntilMs: 0,
    })
    return server
  }

  #hasRoom(server: Server): boolean {
    const held = this.#held.get(server)
    return held?.isCurrent === true && held.peers.size + held.expected < connectionsMax
  }

  #leaves(server: Server): boolean {
    const held = this.#held.get(server)
    if (server === this.#open || held?.peers.size !== 0 || held.expected > 0) return false
    for (const set of [this.#touched, this.#patient, this.#unasked]) set.delete(server)
    return this.#held.delete(server)
  }
}
