import type { Clock, Timer } from '../../kernel/clock.ts'
import type { Randomness } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import type { DatabaseConfig } from '../config.ts'
import {
  type DatabaseState,
  type DatabaseStats,
  DatabaseUnavailable,
  type WriteOptions,
} from '../database.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { classified, isConnectionClass } from './errors.ts'
import { Health } from './health.ts'
import { Pool } from './pool.ts'
import type { Answer, Call } from './prepared.ts'
import { createProbe, type Probe } from './probe.ts'
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
  /** Of one connection, for changes that need not wait for the disk. */
  readonly #ordered: Pool | undefined
  readonly #probe: Probe
  readonly #retry: RetryDeps
  readonly #watch: Timer
  #contentionTotal = 0
  #closed = false

  constructor({ config, clock, log, randomness }: ExecutorDeps, options: ConnectionOptions) {
    const { lanes, ordered, pool } = sharesOf(config.max_connections)
    this.#options = options
    this.#log = log
    this.#health = new Health(() => this.#dropAll())
    this.#lanes = new ReadLanes(lanes, () => Connection.open(options))
    const poolOf = (size: number, more: Partial<ConnectionOptions> = {}) =>
      new Pool({
        size,
        acquireTimeoutMs: config.acquire_timeout_ms,
        clock,
        open: (onLost) => Connection.open({ ...options, ...more }, onLost),
      })
    this.#pool = poolOf(pool)
    this.#ordered = ordered > 0 ? poolOf(ordered, { flushesLater: true }) : undefined
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
      in_use: this.#pool.inUse + (this.#ordered?.inUse ?? 0),
      waiting: this.#pool.waiting + (this.#ordered?.waiting ?? 0),
      contention_total: this.#contentionTotal,
    }
  }

  /** Throws at once while the server is down or the database closed. */
  check(): void {
    if (this.#closed) throw new DatabaseUnavailable('the database is closed')
    this.#health.check()
  }

  /**
   * Reads are pipelined; writes, which may wait for a lock, and long reads, which everything behind
   * them would wait for, keep a connection to themselves.
   */
  run(call: Call, { durability = 'durable' }: WriteOptions = {}): Promise<Answer> {
    const isShort = call.prepared.onlyReads && !call.prepared.scan
    if (isShort && this.#lanes.count > 0) return this.#read(call)
    const pool = durability === 'ordered' ? this.#ordered : undefined
    return this.lend((connection) => connection.query(call), pool)
  }

  /** Lends a connection for `work`, again while others are in its way. */
  async lend<T>(work: (connection: Connection) => Promise<T>, pool = this.#pool): Promise<T> {
    this.check()
    try {
      return await retrying(this.#retry, () => lendOnce(pool, work))
    } catch (error) {
      throw this.#failed(error)
    }
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
    const parts = [this.#probe, this.#lanes, this.#pool, this.#ordered]
    await Promise.all(parts.map((part) => part?.close()))
  }

  async #read(call: Call): Promise<Answer> {
    this.check()
    try {
      const lane = this.#lanes.pick()
      const connection = lane instanceof Connection ? lane : await lane
      return await connection.query(call)
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #failed(error: unknown): unknown {
    if (!this.#closed && isConnectionClass(error)) this.#health.suspect()
    return classified(error)
  }

  #dropAll(): void {
    this.#log.error('the database is down')
    const down = new DatabaseUnavailable('the database is down')
    this.#pool.fail(down)
    this.#ordered?.fail(down)
    this.#lanes.fail()
  }

  /** A server that vanished without a word would otherwise hold its queries for minutes. */
  #dropSilent(): void {
    const limitMs = this.#options.statementTimeoutMs + 1000
    for (const part of [this.#pool, this.#ordered, this.#lanes]) {
      for (const connection of [...(part?.connections() ?? [])]) {
        if (connection.silentMs() > limitMs) connection.destroy()
      }
    }
  }
}

async function lendOnce<T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await pool.acquire()
  try {
    return await work(connection)
  } finally {
    pool.release(connection)
  }
}

/** Reads share few connections; transactions, which occupy theirs, get the rest. */
function sharesOf(connectionsMax: number) {
  const lanes = connectionsMax < 4 ? 0 : connectionsMax < 8 ? 1 : 2
  const ordered = connectionsMax < 8 ? 0 : 1
  return { lanes, ordered, pool: connectionsMax - lanes - ordered }
}
