import type { Clock, Timer } from '../../kernel/clock.ts'
import type { Randomness } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import { Semaphore } from '../../kernel/tasks/semaphore.ts'
import { type DatabaseState, type DatabaseStats, DatabaseUnavailable } from '../database.ts'
import type { DatabaseConfig } from './config.ts'
import { Connection, type ConnectionOptions } from './connections/connection.ts'
import { Health } from './connections/health.ts'
import { Pool } from './connections/pool.ts'
import { createProbe, type Probe } from './connections/probe.ts'
import { classified, isConnectionClass } from './errors.ts'
import type { Answer, Call } from './prepared.ts'
import { ReadLanes } from './reads.ts'
import { type RetryDeps, retrying } from './transactions.ts'

export type ExecutorDeps = {
  config: DatabaseConfig
  clock: Clock
  log: Log
  /** Spreads the retries of transactions that got in each other's way. */
  randomness: Randomness
}

/** Decides which connection runs what, and turns everybody away while the server is down. */
export class Executor {
  readonly #options: ConnectionOptions
  readonly #log: Log
  readonly #health: Health
  readonly #lanes: ReadLanes
  readonly #pool: Pool
  readonly #probe: Probe
  readonly #retry: RetryDeps
  readonly #longReads: Semaphore
  readonly #watch: Timer
  #onDown: (() => void) | undefined
  #contentionTotal = 0
  #closed = false

  constructor({ config, clock, log, randomness }: ExecutorDeps, options: ConnectionOptions) {
    const laneCount = laneCountOf(config.max_connections)
    this.#options = options
    this.#log = log
    this.#health = new Health(() => this.#dropAll())
    this.#lanes = new ReadLanes(laneCount, () => Connection.open(options))
    this.#pool = new Pool({
      size: config.max_connections - laneCount,
      acquireTimeoutMs: config.acquire_timeout_ms,
      clock,
      open: (onLost) => Connection.open(options, onLost),
    })
    this.#longReads = new Semaphore(longReadsMaxOf(config.max_connections - laneCount))
    this.#probe = createProbe({ options, clock })
    this.#retry = {
      clock,
      randomness,
      attempts: config.transaction_attempts,
      onGivenUp: () => {
        this.#contentionTotal += 1
      },
    }
    this.#watch = clock.every(1000, () => this.#dropSilent())
  }

  get state(): DatabaseState {
    return this.#closed ? 'down' : this.#health.state
  }

  get stats(): DatabaseStats {
    return {
      in_use: this.#pool.inUse,
      waiting: this.#pool.waiting,
      contention_total: this.#contentionTotal,
    }
  }

  /** Calls `fail` whenever the server is found to be down. */
  whenDown(fail: () => void): void {
    this.#onDown = fail
  }

  /** Throws at once while the server is down or the database closed. */
  check(): void {
    if (this.#closed) throw new DatabaseUnavailable('the database is closed')
    this.#health.check()
  }

  /** Reads are pipelined; writes, which may wait for a lock, keep a connection to themselves. */
  run(call: Call): Promise<Answer> {
    if (call.prepared.onlyReads && this.#lanes.count > 0) return this.#read(call)
    return this.lend((connection) => connection.query(call))
  }

  /** Lends a connection for `work`, again while others are in its way. */
  async lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.check()
    try {
      return await retrying(this.#retry, () => this.#lendOnce(work))
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /** As `lend`, to so few at a time that the others always find a connection. */
  lendForLong<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#longReads.run(() => this.lend(work))
  }

  async probe(): Promise<boolean> {
    if (this.#closed) return false
    const good = await this.#probe.answers()
    if (this.#closed) return false
    if (good && this.#health.state !== 'up') this.#log.info('the database answers again')
    this.#health.probed(good)
    return good
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#watch.cancel()
    await Promise.all([this.#probe.close(), this.#lanes.close(), this.#pool.close()])
  }

  async #read(call: Call): Promise<Answer> {
    this.check()
    try {
      const lane = this.#lanes.pick()
      const connection = lane instanceof Connection ? lane : await lane
      connection.renewPlans()
      return await connection.query(call)
    } catch (error) {
      throw this.#failed(error)
    }
  }

  async #lendOnce<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#pool.acquire()
    connection.renewPlans()
    try {
      return await work(connection)
    } finally {
      this.#pool.release(connection)
    }
  }

  #failed(error: unknown): unknown {
    if (!this.#closed && isConnectionClass(error)) this.#health.suspect()
    return classified(error)
  }

  #dropAll(): void {
    this.#log.error('the database is down')
    this.#pool.fail(new DatabaseUnavailable('the database is down'))
    this.#lanes.fail()
    this.#onDown?.()
  }

  /** A server that vanished without a word would otherwise hold its queries for minutes. */
  #dropSilent(): void {
    const { statementTimeoutMs } = this.#options
    if (statementTimeoutMs === 0) return
    const limitMs = statementTimeoutMs + 1000
    for (const connection of [...this.#pool.connections(), ...this.#lanes.connections()]) {
      if (connection.silentMs() > limitMs) connection.destroy()
    }
  }
}

/** Reads share few connections; transactions, which occupy theirs, get the rest. */
function laneCountOf(connectionsMax: number): number {
  if (connectionsMax < 4) return 0
  return connectionsMax < 8 ? 1 : 2
}

function longReadsMaxOf(poolSize: number): number {
  return Math.max(1, Math.floor(poolSize / 2))
}
