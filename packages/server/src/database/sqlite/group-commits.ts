import { atEndOfTurn } from '../../kernel/clock.ts'
import { DatabaseUnavailable } from '../database.ts'
import type { Commits, Unit } from './commits.ts'
import type { SqliteConnection } from './connection.ts'
import { isDiskFull } from './errors.ts'
import type { WalFile } from './wal-file.ts'

export type GroupCommitsDeps = {
  connection: SqliteConnection
  wal: WalFile
  /** Set while the write-ahead log is so long that a checkpoint has to catch up first. */
  held: () => Promise<void> | undefined
  /** After every group that changed something and is on disk. */
  onDurable: () => void
  /** A write was refused for lack of space and undone; the connection is still good. */
  onDiskFull: () => void
  /** The connection is not to be trusted any more: it must be closed and opened again. */
  onFailure: (error: unknown) => void
}

type Group = { readonly durable: PromiseWithResolvers<void>; changed: boolean }

/**
 * Makes all units of one turn of the event loop one SQLite transaction, commits it when the turn
 * ends, and resolves their promises once the write-ahead log has been flushed by another thread.
 * Commits that come while a flush runs share the next one. See docs/decisions/0003.
 */
export function createGroupCommits(deps: GroupCommitsDeps): Commits & {
  /** Commits what is open and resolves when everything is durable or lost. */
  settled(): Promise<void>
} {
  const { connection, wal } = deps
  const sql = commandsOf(connection)
  let group: Group | undefined
  let unitOpen = false
  let failure: DatabaseUnavailable | undefined
  let committed: Group[] = []
  let flushing: Promise<void> | undefined

  function openGroup(): Group {
    sql.begin.run()
    const durable = Promise.withResolvers<void>()
    // Whoever waits hears of a failure; nobody may be waiting, and that is no unhandled rejection.
    durable.promise.catch(() => {})
    atEndOfTurn(commit)
    return { durable, changed: false }
  }

  function commit(): void {
    if (unitOpen) {
      atEndOfTurn(commit)
      return
    }
    if (!group) return
    const closing = group
    group = undefined
    try {
      // It began before a flush failed: what it builds on may not be on disk.
      if (failure) throw failure
      sql.commit.run()
    } catch (error) {
      if (connection.inTransaction) sql.rollback.run()
      lose([closing], error)
      return
    }
    if (closing.changed) {
      committed.push(closing)
      flushing ??= flushAll()
    } else {
      closing.durable.resolve()
    }
  }

  async function flushAll(): Promise<void> {
    while (committed.length > 0) {
      const flushed = committed
      committed = []
      try {
        await wal.flush()
      } catch (error) {
        // What a failed flush left on disk is unknown, and a second flush would not tell.
        lose([...flushed, ...committed], error)
        committed = []
        break
      }
      for (const each of flushed) each.durable.resolve()
      deps.onDurable()
    }
    flushing = undefined
  }

  function lose(groups: readonly Group[], cause: unknown): void {
    const error = new DatabaseUnavailable('the commit failed', { cause })
    for (const each of groups) each.durable.reject(error)
    if (isDiskFull(cause)) {
      deps.onDiskFull()
    } else {
      if (!failure) deps.onFailure(cause)
      failure ??= error
    }
  }

  return {
    get held() {
      return failure ? undefined : deps.held()
    },
    begin(unit) {
      if (failure) throw failure
      group ??= openGroup()
      if (unit === 'statements') sql.savepoint.run()
      unitOpen = true
    },
    keep(unit, changed) {
      if (!group) throw new DatabaseUnavailable('the commit failed')
      if (unit === 'statements') sql.release.run()
      unitOpen = false
      group.changed ||= changed
      return group.durable.promise
    },
    undo(unit: Unit, error) {
      unitOpen = false
      if (connection.inTransaction) {
        if (unit === 'statements') sql.undo.run()
        if (unit === 'statements') sql.release.run()
        if (isDiskFull(error)) deps.onDiskFull()
        return
      }
      // SQLite gave up the whole transaction, so the units before this one are lost with it.
      const lost = group
      group = undefined
      if (lost) lose([lost], error)
    },
    async settled() {
      commit()
      while (group || flushing) {
        await flushing
        if (group) await new Promise<void>((resolve) => atEndOfTurn(resolve))
      }
    },
  }
}

function commandsOf(connection: SqliteConnection) {
  return {
    begin: connection.command('BEGIN IMMEDIATE'),
    commit: connection.command('COMMIT'),
    rollback: connection.command('ROLLBACK'),
    savepoint: connection.command('SAVEPOINT unit'),
    release: connection.command('RELEASE unit'),
    undo: connection.command('ROLLBACK TO unit'),
  }
}
