import type { StatementSync } from 'node:sqlite'
import { atEndOfTurn } from '../../../kernel/clock.ts'
import { DatabaseUnavailable } from '../../database.ts'
import type { SqliteConnection } from '../connection.ts'
import { isDiskFull } from '../errors.ts'
import { flushesMax, type WalFile } from '../file/wal-file.ts'
import type { Commits, Unit } from './commits.ts'

export type GroupCommitsDeps = {
  connection: SqliteConnection
  wal: WalFile
  /** Set while the write-ahead log is so long that a checkpoint has to catch up first. */
  held: () => Promise<void> | undefined
  /** After the commit of every group that changed something; no transaction is open then. */
  onCommitted: () => void
  /** A write was refused for lack of space and undone; the connection is still good. */
  onDiskFull: () => void
  /** The connection is not to be trusted any more: it must be closed and opened again. */
  onFailure: (error: unknown) => void
}

type Group = {
  readonly committed: PromiseWithResolvers<void>
  readonly durable: PromiseWithResolvers<void>
  changed: boolean
}

/** A commit on its way to the disk, or a unit that only read, behind what it may have seen. */
type Flight = { readonly group: Group; landed: boolean }

/**
 * Makes all units of one turn of the event loop one SQLite transaction, commits it when the turn
 * ends, and resolves their promises once the write-ahead log has been flushed by another thread.
 * Two flushes may be under way, so that the disk need not wait for this thread to notice the end of
 * one. What comes meanwhile is one transaction, committed when one of them has ended: pages that
 * many units touch are then written once. See docs/decisions/0003.
 */
export class GroupCommits implements Commits {
  readonly #deps: GroupCommitsDeps
  readonly #sql: { readonly [command in keyof typeof commands]: StatementSync }
  readonly #commit = () => {
    if (this.#flushing < flushesMax) this.#commitGroup()
  }
  #group: Group | undefined
  #unitOpen = false
  /** Whether the last unit was the first of its group, and so needs no savepoint to be undone. */
  #isFirst = false
  #failure: DatabaseUnavailable | undefined
  /** In the order of their commits, which is also that of their acknowledgement. */
  #flights: Flight[] = []
  #flushing = 0

  constructor(deps: GroupCommitsDeps) {
    this.#deps = deps
    const prepare = (command: keyof typeof commands) => deps.connection.command(commands[command])
    this.#sql = {
      begin: prepare('begin'),
      commit: prepare('commit'),
      rollback: prepare('rollback'),
      savepoint: prepare('savepoint'),
      release: prepare('release'),
      undo: prepare('undo'),
    }
  }

  get held(): Promise<void> | undefined {
    return this.#failure ? undefined : this.#deps.held()
  }

  get visible(): Promise<void> | undefined {
    return this.#group?.committed.promise
  }

  begin(unit: Unit): void {
    if (this.#failure) throw this.#failure
    this.#isFirst = this.#group === undefined
    this.#group ??= this.#openGroup()
    if (unit === 'statements' && !this.#isFirst) this.#sql.savepoint.run()
    this.#unitOpen = true
  }

  keep(unit: Unit, changed: boolean): Promise<void> {
    if (!this.#group) throw new DatabaseUnavailable('the commit failed')
    if (unit === 'statements' && !this.#isFirst) this.#sql.release.run()
    this.#unitOpen = false
    this.#group.changed ||= changed
    return this.#group.durable.promise
  }

  undo(unit: Unit, error: unknown): void {
    this.#unitOpen = false
    if (!this.#deps.connection.inTransaction) {
      // SQLite gave up the whole transaction, so the units before this one are lost with it.
      this.#loseGroup(error)
      return
    }
    if (isDiskFull(error)) this.#deps.onDiskFull()
    try {
      if (unit === 'statements') this.#undoStatements()
    } catch (cause) {
      // What is left of the unit must not be committed with the others.
      this.#loseGroup(cause)
      this.#fail(cause)
    }
  }

  #undoStatements(): void {
    if (this.#isFirst) {
      this.#sql.rollback.run()
      // Nothing else is in the group yet, or waits for it.
      this.#group = undefined
      return
    }
    this.#sql.undo.run()
    this.#sql.release.run()
  }

  #loseGroup(cause: unknown): void {
    const lost = this.#group
    this.#group = undefined
    if (lost) this.#lose([lost], cause)
  }

  /** Commits what is open and resolves when everything is durable or lost. */
  async settled(): Promise<void> {
    this.#commit()
    while (this.#group || this.#flights.length > 0) {
      await this.#flights.at(-1)?.group.durable.promise.catch(() => {})
      if (this.#group) await new Promise<void>((resolve) => atEndOfTurn(resolve))
    }
  }

  #openGroup(): Group {
    this.#sql.begin.run()
    const durable = Promise.withResolvers<void>()
    // A failure rejects what waits; where nothing does, it is no unhandled rejection.
    durable.promise.catch(() => {})
    const committed = Promise.withResolvers<void>()
    committed.promise.catch(() => {})
    const group = { committed, durable, changed: false }
    this.#commitLater(group)
    return group
  }

  /** At the end of the turn, unless the group is gone by then: another one ends with its own. */
  #commitLater(group: Group): void {
    atEndOfTurn(() => {
      if (this.#group === group) this.#commit()
    })
  }

  #commitGroup(): void {
    const closing = this.#group
    if (!closing) return
    if (this.#unitOpen) {
      this.#commitLater(closing)
      return
    }
    this.#group = undefined
    try {
      // It began before a flush failed: what it builds on may not be on disk.
      if (this.#failure) throw this.#failure
      this.#sql.commit.run()
    } catch (error) {
      this.#rollBack()
      this.#lose([closing], error)
      return
    }
    closing.committed.resolve()
    const flight: Flight = { group: closing, landed: !closing.changed }
    this.#flights.push(flight)
    if (closing.changed) this.#flush(flight)
    else this.#acknowledge()
  }

  #rollBack(): void {
    try {
      if (this.#deps.connection.inTransaction) this.#sql.rollback.run()
    } catch (cause) {
      this.#fail(cause)
    }
  }

  #flush(flight: Flight): void {
    this.#flushing += 1
    this.#deps.wal.flush().then(
      () => {
        this.#flushing -= 1
        flight.landed = true
        this.#acknowledge()
        this.#commit()
      },
      (error: unknown) => {
        this.#flushing -= 1
        this.#crashed(error)
      },
    )
    this.#deps.onCommitted()
  }

  /** A commit builds on those before it, so it is durable only once they are. */
  #acknowledge(): void {
    while (this.#flights[0]?.landed) this.#flights.shift()?.group.durable.resolve()
  }

  /** What a failed flush left on disk is unknown, and a second flush would not show it. */
  #crashed(error: unknown): void {
    const lost = this.#flights
    this.#flights = []
    this.#lose(
      lost.map(({ group }) => group),
      error,
    )
    // Nothing else would end what came meanwhile.
    this.#commitGroup()
  }

  #lose(groups: readonly Group[], cause: unknown): void {
    const error = new DatabaseUnavailable('the commit failed', { cause })
    for (const each of groups) {
      each.committed.reject(error)
      each.durable.reject(error)
    }
    if (isDiskFull(cause)) this.#deps.onDiskFull()
    else this.#fail(cause)
  }

  #fail(cause: unknown): void {
    if (this.#failure) return
    this.#failure = new DatabaseUnavailable('the commit failed', { cause })
    this.#deps.onFailure(cause)
  }
}

const commands = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  savepoint: 'SAVEPOINT unit',
  release: 'RELEASE unit',
  undo: 'ROLLBACK TO unit',
}
