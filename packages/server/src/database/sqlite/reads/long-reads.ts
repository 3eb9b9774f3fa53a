import { afterOthers } from '../../../kernel/clock.ts'
import { Semaphore } from '../../../kernel/tasks/semaphore.ts'
import { DatabaseUnavailable, type Queries } from '../../database.ts'
import type { BatchStatement, Columns, Row, Statement } from '../../statement.ts'
import { classified } from '../errors.ts'
import { Thread } from '../thread.ts'
import type { Writer } from '../writer.ts'
import type { ReadAnswer, ReadQuestion } from './read.worker.ts'
import { type Asked, type Part, SteppedRead, type Steps } from './stepped-read.ts'

/** Begins a read when there is room for it, and ends it behind `work`. */
type Lend = <T>(work: (steps: Steps) => Promise<T>) => Promise<T>

/** The long reads of a database: what may take long, or answer with any number of rows. */
export class LongReads {
  readonly #lend: Lend
  readonly #onClose: () => Promise<void>
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  private constructor(lend: Lend, onClose: () => Promise<void>) {
    this.#lend = lend
    this.#onClose = onClose
  }

  /** Of a file: on a thread of their own, some at a time, whose steps take turns. */
  static ofFile(path: string, nowUnixMs: () => number): LongReads {
    const thread: ReadThread = new Thread(new URL('./read.worker.ts', import.meta.url), path)
    const semaphore = new Semaphore(readsMax)
    let begun = 0
    const lend: Lend = (work) =>
      semaphore.run(() => {
        begun += 1
        return work(stepsOn(thread, { read: begun, nowUnixMs }))
      })
    return new LongReads(lend, () => thread.close())
  }

  /** On the only connection, which others have between two of them. */
  static onConnectionOf(writer: Writer): LongReads {
    const semaphore = new Semaphore(1)
    const lend: Lend = (work) =>
      semaphore.run(() => writer.alone((connection) => work(new SteppedRead(connection))))
    return new LongReads(lend, async () => {})
  }

  read<T>(body: (state: Queries) => Promise<T>): Promise<T> {
    const read = this.#lend((steps) => this.#run(steps, body))
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
    await this.#onClose()
  }

  async #run<T>(steps: Steps, body: (state: Queries) => Promise<T>): Promise<T> {
    const state = new LongRead(steps, () => !this.#closed)
    state.check()
    try {
      return await body(state)
    } finally {
      await state.end()
    }
  }
}

/** As many connections are opened for them, and no short list waits for one long export. */
const readsMax = 4

type ReadThread = Thread<ReadQuestion, ReadAnswer>

function stepsOn(
  thread: ReadThread,
  { read, nowUnixMs }: { read: number; nowUnixMs: () => number },
): Steps {
  async function ask(question: ReadQuestion): Promise<Part> {
    const { failure, ...part } = await thread.ask(question)
    if (failure === undefined) return part
    throw Object.assign(new Error(failure.message), failure)
  }
  let isBegun = false
  return {
    first(asked) {
      isBegun = true
      return ask({ read, step: 'first', asked, nowUnixMs: nowUnixMs() })
    },
    next: () => ask({ read, step: 'next' }),
    async end() {
      if (isBegun) await ask({ read, step: 'end' })
    },
  }
}

/** Runs its statements one after another: the rows of one may take several turns to come. */
class LongRead implements Queries {
  readonly #steps: Steps
  readonly #isOpen: () => boolean
  #last: Promise<unknown> = Promise.resolve()
  #ended = false

  constructor(steps: Steps, isOpen: () => boolean) {
    this.#steps = steps
    this.#isOpen = isOpen
  }

  all<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R>[]> {
    return this.#rows({ how: 'all', statement, params })
  }

  async get<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R> | undefined> {
    const [row] = await this.#rows<R>({ how: 'get', statement, params })
    return row
  }

  async run({ name }: Statement): Promise<number> {
    throw new Error(`${name} is to change something, which a long read may not`)
  }

  each<P extends Columns, R extends Columns>(
    statement: BatchStatement<P, R>,
    rows: readonly Row<P>[],
  ): Promise<Row<R>[]> {
    return this.#rows({ how: 'each', statement, params: rows })
  }

  /** Resolves once no statement runs any more. */
  async end(): Promise<void> {
    this.#ended = true
    await this.#last
    await this.#steps.end()
  }

  #rows<R extends Columns>(asked: Asked): Promise<Row<R>[]> {
    const answer = this.#last.then(async () => {
      this.check()
      try {
        return (await this.#all(asked)) as Row<R>[]
      } catch (error) {
        throw classified(error)
      }
    })
    this.#last = answer.catch(() => {})
    return answer
  }

  async #all(asked: Asked): Promise<Row<Columns>[]> {
    const { rows, isLast } = await this.#steps.first(asked)
    for (let ended = isLast; !ended; ) {
      await afterOthers()
      this.check()
      const part = await this.#steps.next()
      for (const row of part.rows) rows.push(row)
      ended = part.isLast
    }
    return rows
  }

  check(): void {
    if (this.#ended) throw new Error(endedMessage)
    if (!this.#isOpen()) throw new DatabaseUnavailable('the database is closed')
  }
}

const endedMessage = 'this long read has ended; its statements must be awaited inside the body'
