import type { SqliteConnection } from '../connection.ts'

/** How the units of work of one writer become permanent; the writer runs them one at a time. */
export type Commits = {
  /** Set while no unit may begin; resolves when it may. */
  readonly held: Promise<void> | undefined
  /**
   * Set while others cannot read yet what the last unit saw: resolves when they can, and rejects
   * when the commit fails.
   */
  readonly visible: Promise<void> | undefined
  /** Before a unit: throws when the database takes no writes. */
  begin(unit: Unit): void
  /** After a unit that succeeded: resolves once it is durable; undefined when it is already. */
  keep(unit: Unit, changed: boolean): Promise<void> | undefined
  /** After a unit that failed: takes back what it did, and nothing else. */
  undo(unit: Unit, error: unknown): void
}

/** A single statement is atomic by itself; several need something to be undone together. */
export type Unit = 'statement' | 'statements'

/** Without a log to flush, in memory or only reading, a commit costs nothing. */
export function createPlainCommits(connection: SqliteConnection): Commits {
  const begin = connection.command('BEGIN')
  const commit = connection.command('COMMIT')
  const rollback = connection.command('ROLLBACK')
  return {
    held: undefined,
    visible: undefined,
    begin(unit) {
      if (unit === 'statements') begin.run()
    },
    keep(unit) {
      if (unit === 'statements') commit.run()
      return undefined
    },
    undo(unit) {
      if (unit === 'statements' && connection.inTransaction) rollback.run()
    },
  }
}
