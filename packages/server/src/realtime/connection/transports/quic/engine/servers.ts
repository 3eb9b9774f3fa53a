import type { Clock } from '../../../../../kernel/clock.ts'
import type { CoreServer } from './core.ts'
import type { Peer } from './peer.ts'

/**
 * Each packet that a server sends costs it a look at its connections, a microsecond for each, so it
 * has few. But it takes 150 KiB by itself, beside 79 KiB for a connection.
 */
const connectionsMax = 16

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

  /** Those that were touched; some may be while they are gone through. */
  touched(): Iterable<Server> {
    return this.#touched
  }

  /**
   * They have been looked at: the next timer of each is known, and what was to begin has begun.
   * Answers those that nobody has any more.
   */
  settle(): Server[] {
    for (const server of this.#touched) {
      const held = this.#held.get(server)
      const timeoutMs = held === undefined ? undefined : server.timeoutMs()
      if (held === undefined) continue
      held.expected = 0
      held.dueAtMs = this.#clock.monotonicMs() + (timeoutMs ?? Number.POSITIVE_INFINITY)
    }
    const left = [...this.#touched].filter((server) => this.#leaves(server))
    this.#touched.clear()
    return left
  }

  /** When the first timer is due. */
  get dueAtMs(): number {
    let dueAtMs = Number.POSITIVE_INFINITY
    for (const held of this.#held.values()) dueAtMs = Math.min(dueAtMs, held.dueAtMs)
    return dueAtMs
  }

  /** Lets the timers run that are due. */
  runTimers(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [server, { dueAtMs }] of this.#held) {
      if (dueAtMs > nowMs) continue
      server.onTimeout()
      this.touch(server)
    }
  }

  /** All of them; nothing is due from here on. */
  end(): Server[] {
    const all = [...this.#held.keys()]
    this.#held.clear()
    this.#touched.clear()
    return all
  }

  #add(): Server {
    const server = this.#make()
    const dueAtMs = Number.POSITIVE_INFINITY
    this.#held.set(server, { peers: new Map(), expected: 0, isCurrent: true, dueAtMs })
    return server
  }

  #hasRoom(server: Server): boolean {
    const held = this.#held.get(server)
    return held?.isCurrent === true && held.peers.size + held.expected < connectionsMax
  }

  #leaves(server: Server): boolean {
    const held = this.#held.get(server)
    if (server === this.#open || held?.peers.size !== 0 || held.expected > 0) return false
    this.#touched.delete(server)
    return this.#held.delete(server)
  }
}
