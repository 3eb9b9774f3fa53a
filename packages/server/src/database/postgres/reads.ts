import { DatabaseUnavailable } from '../database.ts'
import type { Connection } from './connections/connection.ts'

type Lane = { connection: Connection | undefined; opening: Promise<Connection> | undefined }

/**
 * A few connections that everybody reads through at once: a query is sent without waiting for the
 * answers before it, so reads cost a fraction of a round trip each.
 */
export class ReadLanes {
  readonly #lanes: Lane[]
  readonly #open: () => Promise<Connection>
  #closed = false

  constructor(count: number, open: () => Promise<Connection>) {
    this.#lanes = Array.from({ length: count }, () => {
      return { connection: undefined, opening: undefined }
    })
    this.#open = open
  }

  get count(): number {
    return this.#lanes.length
  }

  *connections(): Iterable<Connection> {
    for (const { connection } of this.#lanes) if (connection) yield connection
  }

  /** The connection with the fewest queries under way; at once whenever one is open. */
  pick(): Connection | Promise<Connection> {
    if (this.#closed) throw new DatabaseUnavailable('the database is closed')
    let best: Connection | undefined
    let missing: Lane | undefined
    for (const lane of this.#lanes) {
      const { connection } = lane
      if (!connection?.alive) missing = lane
      else if (!best || connection.underWay < best.underWay) best = connection
    }
    if (!missing) return best ?? this.#fail()
    const opening = this.#reopen(missing)
    return best ?? opening
  }

  /** Drops every connection, so that no query waits for a server that is down. */
  fail(): void {
    for (const connection of this.connections()) connection.destroy()
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.connections()].map((connection) => connection.close()))
  }

  #reopen(lane: Lane): Promise<Connection> {
    if (lane.opening) return lane.opening
    lane.connection = undefined
    const opening = this.#open()
    lane.opening = opening
    opening.then(
      (connection) => {
        lane.connection = connection
        lane.opening = undefined
        if (this.#closed) void connection.close()
      },
      () => {
        lane.opening = undefined
      },
    )
    return opening
  }

  #fail(): never {
    throw new DatabaseUnavailable('there is no connection to read through')
  }
}
