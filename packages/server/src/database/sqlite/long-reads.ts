import { rowsAtOnce } from '../../kernel/batching/rows-at-once.ts'
import { afterOthers } from '../../kernel/clock.ts'
import { DatabaseUnavailable, type Queries } from '../database.ts'
import { type Attempt, briefFirst, goOn } from '../reads/brief-first.ts'
import { Turns } from '../reads/turns.ts'
import type { BatchStatement, Columns, Row, Statement } from '../statement.ts'
import type { SqliteConnection } from './connection.ts'
import { classified } from './errors.ts'

/** Lends a connection that nobody else uses until `work` has ended. */
export type Lend = <T>(work: (connection: SqliteConnection) => Promise<T>) => Promise<T>

/** Runs long reads one after another; the brief ones overtake them. */
export class LongReads {
  readonly #brief: Lend
  readonly #long: Lend
  readonly #onClose: () => void
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor({ brief, long, onClose = () => {} }: Lent) {
    this.#brief = brief
    this.#long = oneByOne(long)
    this.#onClose = onClose
  }

  /** On connections of their own. */
  static opening(open: () => SqliteConnection): LongReads {
    const [brief, long] = [new OwnConnection(open), new OwnConnection(open)]
    return new LongReads({
      brief: oneByOne(brief.lend),
      long: long.lend,
      onClose() {
        brief.close()
        long.close()
      },
    })
  }

  read<T>(body: (state: Queries) => Promise<T>): Promise<T> {
    const read = this.#read(body)
    // What they answered is not kept.
    this.#last = Promise.allSettled([this.#last, read]).then(() => {})
    return read
  }

  /**
   * Ends the reads under way at the rows that they have, and those behind them before they begin: a
   * file that failed is opened again only after that.
   */
  async close(): Promise<void> {
    this.#closed = true
    await this.#last
    this.#onClose()
  }

  #read<T>(body: (state: Queries) => Promise<T>): Promise<T> {
    const isOpen = () => !this.#closed
    return briefFirst({
      brief: (attempt) => this.#brief((on) => longRead(on, { body, isOpen, attempt })),
      long: () => this.#long((on) => longRead(on, { body, isOpen })),
    })
  }
}

type Lent = { brief: Lend; long: Lend; onClose?: () => void }

/** Opened for the first who borrows it. */
class OwnConnection {
  readonly #open: () => SqliteConnection
  #connection: SqliteConnection | undefined

  constructor(open: () => SqliteConnection) {
    this.#open = open
  }

  readonly lend: Lend = async (work) => work(this.#opened())

  close(): void {
    this.#connection?.close()
  }

  #opened(): SqliteConnection {
    try {
      this.#connection ??= this.#open()
      return this.#connection
    } catch (error) {
      throw classified(error)
    }
  }
}

function oneByOne(lend: Lend): Lend {
  const turns = new Turns(1)
  return (work) => turns.take(() => lend(work))
}

type Reading<T> = {
  body: (state: Queries) => Promise<T>
  /** False once the database is being closed, which waits for nobody who reads. */
  isOpen: () => boolean
  /** Given to a read that must take no turns. */
  attempt?: Attempt
}

/** Runs `body` over one state of a connection that nobody else uses meanwhile. */
async function longRead<T>(
  connection: SqliteConnection,
  { body, isOpen, attempt }: Reading<T>,
): Promise<T> {
  if (!isOpen()) throw closed()
  begin(connection)
  const state = new LongRead(connection, { isOpen, attempt })
  try {
    return await body(state)
  } finally {
    // A statement that still runs would keep its state for the next read.
    await state.end()
    if (connection.inTransaction) connection.exec('COMMIT')
  }
}

function begin(connection: SqliteConnection): void {
  try {
    connection.exec('BEGIN')
  } catch (error) {
    throw classified(error)
  }
}

/** Runs its statements one after another: the rows of one may take several turns to come. */
class LongRead implements Queries {
  readonly #connection: SqliteConnection
  readonly #isOpen: () => boolean
  readonly #attempt: Attempt | undefined
  #last: Promise<unknown> = Promise.resolve()
  #ended = false

  constructor(
    connection: SqliteConnection,
    { isOpen, attempt }: { isOpen: () => boolean; attempt: Attempt | undefined },
  ) {
    this.#connection = connection
    this.#isOpen = isOpen
    this.#attempt = attempt
  }

  all<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R>[]> {
    return this.#inTurn(statement, () => this.#rows(statement, params))
  }

  get<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R> | undefined> {
    return this.#inTurn(statement, () => this.#connection.get(statement, params))
  }

  run<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<number> {
    return this.#inTurn(statement, () => this.#connection.run(statement, params))
  }

  each<P extends Columns, R extends Columns>(
    statement: BatchStatement<P, R>,
    rows: readonly Row<P>[],
  ): Promise<Row<R>[]> {
    return this.#inTurn(statement, () => this.#connection.each(statement, rows))
  }

  /** Resolves once no statement runs any more. */
  async end(): Promise<void> {
    this.#ended = true
    await this.#last
  }

  #inTurn<T>(statement: Statement, work: () => T | Promise<T>): Promise<T> {
    const answer = this.#last.then(async () => {
      this.#check()
      try {
        if (!this.#connection.onlyReads(statement)) throw new Error(`${statement.name} ${writes}`)
        return await work()
      } catch (error) {
        throw classified(error)
      }
    })
    this.#last = answer.catch(() => {})
    return answer
  }

  async #rows<R extends Columns>(statement: Statement<Columns, R>, params: object) {
    const rows: Row<R>[] = []
    for (const part of this.#connection.parts(statement, params, rowsAtOnce)) {
      for (const row of part) rows.push(row)
      if (part.length < rowsAtOnce) break
      goOn(this.#attempt)
      await afterOthers()
      this.#check()
    }
    return rows
  }

  #check(): void {
    if (this.#ended) throw new Error(endedMessage)
    if (!this.#isOpen()) throw closed()
  }
}

function closed(): DatabaseUnavailable {
  return new DatabaseUnavailable('the database is closed')
}

const writes = 'changes something, which a long read may not'
const endedMessage = 'this long read has ended; its statements must be awaited inside the body'
