import type { StatementSync } from 'node:sqlite'
import type { Cached, Columns, Lookup, Row } from '../statement.ts'
import type { SqliteConnection } from './connection.ts'
import type { AnyRow, Value } from './values.ts'
import type { Writer } from './writer.ts'

/**
 * Caches the answers of lookups while nothing has changed them. SQLite itself says when:
 * triggers that only this process's writing connection has call back from within the very statement
 * that changes or deletes a row, whichever store it is written in. So a statement that somebody
 * adds later needs no code for it.
 *
 * It must not be used where another process writes. In front of one that does so all the same, an
 * operator with a database tool, `revalidate` forgets everything.
 */
export class LookupCache {
  readonly #connection: SqliteConnection
  readonly #writer: Writer
  readonly #answersMax: number
  readonly #known = new Map<string, Answers>()
  readonly #versionNow: StatementSync
  #version: unknown

  constructor(connection: SqliteConnection, writer: Writer, { answersMax = 20_000 } = {}) {
    this.#connection = connection
    this.#writer = writer
    this.#answersMax = answersMax
    this.#versionNow = connection.command('PRAGMA data_version')
    connection.define('guildhall_forget', (name, key) => this.#answers(name)?.forget(key))
    connection.define('guildhall_forget_joined', (name, key) => {
      this.#answers(name)?.forgetJoined(key)
    })
  }

  /** The answer, if it is at hand and the one that a read would give. */
  recall<P extends Columns, R extends P>(
    { name }: Lookup<P, R>,
    params: Row<P>,
  ): Row<R> | undefined {
    return this.#known.get(name)?.recall(params) as Row<R> | undefined
  }

  /** To be called with what was just read, in the same turn. */
  keep(lookup: Lookup, row: object): void {
    const { cached } = lookup
    if (cached === undefined) return
    const answers = this.#known.get(lookup.name) ?? this.#watch(lookup, cached)
    answers.keep(row as AnyRow, () => this.#connection.inTransaction)
  }

  /** To be called when everything that was written is committed. */
  settled(): void {
    for (const answers of this.#known.values()) answers.settled()
  }

  /** Forgets everything if another process has written to the file since the last call. */
  revalidate(): void {
    const data_version = this.#currentVersion()
    if (data_version === this.#version) return
    this.#version = data_version
    for (const answers of this.#known.values()) answers.forgetAll()
  }

  /** What cannot be asked counts as changed. */
  #currentVersion(): unknown {
    try {
      const { data_version } = this.#versionNow.get() ?? {}
      return data_version
    } catch {
      return Symbol('unknown')
    }
  }

  #answers(name: Value): Answers | undefined {
    return this.#known.get(String(name))
  }

  /** Nothing is cached before the triggers are committed; if that fails, the next one tries. */
  #watch({ name }: Lookup, cached: Cached): Answers {
    const answers = new Answers(cached, this.#answersMax)
    this.#known.set(name, answers)
    this.#writer
      .do('statements', true, (on) => on.exec(triggersOf(name, cached)))
      .then(
        () => answers.begin(),
        () => this.#known.delete(name),
      )
    return answers
  }
}

/**
 * The answers of one lookup in two generations: when the young one is full it becomes the old one,
 * and what was not asked for since then is dropped.
 */
class Answers {
  readonly #parts: Cached
  readonly #max: number
  #young = new Generation()
  #old = new Generation()
  #begun = false
  /** A row changed in a transaction that may still be open, so that readers see the old one. */
  #unsettled = false

  constructor(parts: Cached, max: number) {
    this.#parts = parts
    this.#max = max
  }

  begin(): void {
    this.#begun = true
  }

  recall(params: AnyRow): AnyRow | undefined {
    const key = keyOf(params[this.#parts.column])
    const row = this.#young.rows.get(key)
    if (row !== undefined) return row
    const old = this.#old.rows.get(key)
    if (old !== undefined) this.#add(key, old)
    return old
  }

  keep(row: AnyRow, inTransaction: () => boolean): void {
    if (!this.#begun || (this.#unsettled && inTransaction())) return
    this.#unsettled = false
    this.#add(keyOf(row[this.#parts.column]), row)
  }

  settled(): void {
    this.#unsettled = false
  }

  forget(key: Value): void {
    this.#unsettled = true
    this.#drop(keyOf(key))
  }

  forgetJoined(key: Value): void {
    this.#unsettled = true
    const joined = keyOf(key)
    for (const { keys } of [this.#young, this.#old]) {
      for (const each of keys.get(joined) ?? []) this.#drop(each)
      keys.delete(joined)
    }
  }

  forgetAll(): void {
    this.#young = new Generation()
    this.#old = new Generation()
  }

  #add(key: string, row: AnyRow): void {
    if (this.#young.added >= this.#max) {
      this.#old = this.#young
      this.#young = new Generation()
    }
    this.#young.add(key, keyOf(row[this.#parts.joined.as]), row)
  }

  #drop(key: string): void {
    this.#young.rows.delete(key)
    this.#old.rows.delete(key)
  }
}

class Generation {
  readonly rows = new Map<string, AnyRow>()
  /** Keys of the rows by that of the joined row; some may be gone already. */
  readonly keys = new Map<string, string[]>()
  added = 0

  add(key: string, joined: string, row: AnyRow): void {
    this.added += 1
    this.rows.set(key, row)
    const keys = this.keys.get(joined)
    if (keys === undefined) this.keys.set(joined, [key])
    else keys.push(key)
  }
}

function keyOf(value: AnyRow[string] | undefined): string {
  if (typeof value === 'string') return value
  if (Buffer.isBuffer(value)) return value.toString('latin1')
  if (value instanceof Uint8Array) return keyOf(Buffer.from(value))
  throw new TypeError('a cached lookup has keys of text or bytes')
}

/** Temporary triggers belong to the connection that makes them; no other one sees them. */
function triggersOf(name: string, { table, column, joined }: Cached): string {
  const forget = [
    { table, call: `guildhall_forget('${name}', old.${column})` },
    { table: joined.table, call: `guildhall_forget_joined('${name}', old.${joined.column})` },
  ]
  return forget
    .flatMap((each) => ['UPDATE', 'DELETE'].map((event) => ({ ...each, event })))
    .map(
      ({ table, call, event }) =>
        `CREATE TEMP TRIGGER IF NOT EXISTS "${name} ${table} ${event}" AFTER ${event}
          ON main.${table} BEGIN SELECT ${call}; END;`,
    )
    .join('\n')
}
