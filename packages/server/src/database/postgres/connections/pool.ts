import type { Clock, Timer } from '../../../kernel/clock.ts'
import { DatabaseUnavailable } from '../../database.ts'
import type { Connection } from './connection.ts'

type PoolDeps = {
  size: number
  acquireTimeoutMs: number
  clock: Clock
  open: (onLost: (connection: Connection) => void) => Promise<Connection>
}

type Waiting = {
  readonly resolve: (connection: Connection) => void
  readonly reject: (error: unknown) => void
  readonly timer: Timer
}

/** Connections that are lent to one user at a time: transactions and single writes. */
export class Pool {
  readonly #deps: PoolDeps
  readonly #idle: Connection[] = []
  readonly #lent = new Set<Connection>()
  readonly #waiting = new Set<Waiting>()
  #opening = 0
  #closed = false

  constructor(deps: PoolDeps) {
    this.#deps = deps
  }

  get inUse(): number {
    return this.#lent.size
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Every connection there is, for those who look after silent ones. */
  *connections(): Iterable<Connection> {
    yield* this.#idle
    yield* this.#lent
  }

  async acquire(): Promise<Connection> {
    if (this.#closed) throw new DatabaseUnavailable('the database is closed')
    const idle = this.#idle.pop()
    if (idle) {
      this.#lent.add(idle)
      return idle
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        resolve,
        reject,
        timer: this.#deps.clock.after(this.#deps.acquireTimeoutMs, () => {
          this.#waiting.delete(waiting)
          reject(new DatabaseUnavailable('no database connection became free in time'))
        }),
      }
      this.#waiting.add(waiting)
      this.#grow()
    })
  }

  release(connection: Connection): void {
    this.#lent.delete(connection)
    if (!connection.alive || this.#closed) {
      if (connection.alive) void connection.close()
      this.#grow()
      return
    }
    const next = this.#takeWaiting()
    if (next) this.#lend(connection, next)
    else this.#idle.push(connection)
  }

  /** Drops every connection and turns away everybody who waits: the server is down. */
  fail(error: DatabaseUnavailable): void {
    this.#turnAway(error)
    // A copy, because each one that is lost is forgotten at once.
    for (const connection of [...this.connections()]) connection.destroy()
    this.#idle.length = 0
  }

  /** Closes what is idle, and later what is lent; what waits gets no connection any more. */
  async close(): Promise<void> {
    this.#closed = true
    this.#turnAway(new DatabaseUnavailable('the database is closed'))
    const idle = this.#idle.splice(0)
    await Promise.all(idle.map((connection) => connection.close()))
  }

  #turnAway(error: DatabaseUnavailable): void {
    for (const waiting of this.#waiting) {
      waiting.timer.cancel()
      waiting.reject(error)
    }
    this.#waiting.clear()
  }

  #takeWaiting(): Waiting | undefined {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      waiting.timer.cancel()
      return waiting
    }
    return undefined
  }

  #lend(connection: Connection, to: Waiting): void {
    this.#lent.add(connection)
    to.resolve(connection)
  }

  /** Opens one more connection when somebody waits for it and there is room. */
  #grow(): void {
    const size = this.#idle.length + this.#lent.size + this.#opening
    if (this.#waiting.size <= this.#opening || size >= this.#deps.size) return
    this.#opening += 1
    this.#deps
      .open((lost) => this.#forget(lost))
      .then(
        (connection) => {
          this.#opening -= 1
          this.release(connection)
        },
        (error) => {
          this.#opening -= 1
          this.#takeWaiting()?.reject(error)
          this.#grow()
        },
      )
  }

  #forget(connection: Connection): void {
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
  }
}
