import pg from 'pg'
import type { Clock } from '../../../kernel/clock.ts'
import { ConnectionLost, endsConnection, sqlState } from '../errors.ts'
import type { Answer, Call } from '../prepared.ts'
import type { WireValue } from '../values.ts'

export type ConnectionOptions = {
  url: string
  connectTimeoutMs: number
  statementTimeoutMs: number
  clock: Clock
}

/** `pipeline` sends each query at once instead of after the answer to the one before. */
type ClientConfig = pg.ClientConfig & { pipeline: boolean }

/**
 * One connection. Queries are answered in the order in which they are sent, and any number of them
 * may be under way. Once it is lost it stays lost.
 */
export class Connection {
  readonly #client: pg.Client
  readonly #clock: Clock
  readonly #statementTimeoutMs: number
  readonly #onLost: (connection: Connection) => void
  #alive = false
  #underWay = 0
  #statementsUnderWay = 0
  #lastProgressMs = 0
  /** The names of the statements that the server has prepared here. */
  readonly #prepared = new Set<string>()
  #plannedMs: number
  #sentSince = 0
  /** Statements of the present turn that are still to be sent, in their order. */
  #together: Asked[] = []
  #isCorked = false
  /** While its statements may take their time, so that silence does not mean that it is lost. */
  patient = false

  private constructor(options: ConnectionOptions, onLost: (connection: Connection) => void) {
    const config: ClientConfig = {
      connectionString: options.url,
      keepAlive: true,
      application_name: 'guildhall',
      pipeline: true,
    }
    this.#client = new pg.Client(config)
    this.#clock = options.clock
    this.#statementTimeoutMs = options.statementTimeoutMs
    this.#onLost = onLost
    this.#plannedMs = options.clock.monotonicMs()
    this.#client.on('error', () => this.#lost())
    this.#client.on('end', () => this.#lost())
  }

  static async open(
    options: ConnectionOptions,
    onLost: (connection: Connection) => void = () => {},
  ): Promise<Connection> {
    const connection = new Connection(options, onLost)
    const timer = options.clock.after(options.connectTimeoutMs, () => connection.destroy())
    try {
      await connection.#client.connect()
      connection.#alive = true
      // A command of its own, not a startup parameter: connection poolers refuse unknown ones. The
      // second limit frees the locks of a node that was paused in the middle of a transaction.
      await connection.command(
        `SET statement_timeout = ${options.statementTimeoutMs};
        SET idle_in_transaction_session_timeout = ${options.statementTimeoutMs};
        SET bytea_output = 'hex'`,
      )
      return connection
    } catch (error) {
      connection.destroy()
      throw lostOr(error)
    } finally {
      timer.cancel()
    }
  }

  get alive(): boolean {
    return this.#alive
  }

  /** How many queries wait for their answer. */
  get underWay(): number {
    return this.#underWay
  }

  /**
   * How long the oldest query under way has been without any progress, unless it is patient.
   * Statements that travel together are answered together, each within its own time limit.
   */
  silentMs(): number {
    if (this.#underWay === 0 || this.patient) return 0
    const allowedMs = (this.#statementsUnderWay - this.#underWay) * this.#statementTimeoutMs
    return this.#clock.monotonicMs() - this.#lastProgressMs - allowedMs
  }

  /** Runs a prepared statement; it is prepared at its first use on this connection. */
  query(call: Sent): Promise<Answer> {
    this.#sendTogether()
    return this.#query(call)
  }

  /** Runs text that is not prepared: ROLLBACK and the like. */
  command(text: string): Promise<Answer> {
    this.#sendTogether()
    return this.#send({ text, rowMode: 'array', types: rawTypes })
  }

  /**
   * Runs a prepared statement of a transaction. Those of one turn travel as one message, which the
   * server reads and answers at once. One that fails takes all behind it with it.
   */
  together(call: Sent): Promise<Answer> {
    if (this.#together.length === 0) queueMicrotask(() => this.#sendTogether())
    return new Promise((resolve, reject) => this.#together.push({ call, resolve, reject }))
  }

  #sendTogether(): void {
    if (this.#together.length === 0) return
    const asked = this.#together
    this.#together = []
    if (!asked.every(({ call }) => this.#prepared.has(call.prepared.name))) {
      // Each is prepared at its first use here, by itself.
      for (const { call, resolve, reject } of asked) this.#query(call).then(resolve, reject)
      return
    }
    const sent = this.#send(new Together(asked.map(({ call }) => call)), asked.length)
    sent.then(
      (result) => {
        const answers = [result].flat() as Answer[]
        for (const [at, { resolve }] of asked.entries()) resolve(answers[at] as Answer)
      },
      (error) => {
        for (const { reject } of asked) reject(error)
      },
    )
  }

  #query({ prepared: { name, text }, values }: Sent): Promise<Answer> {
    const answer = this.#send({ name, text, values, rowMode: 'array', types: rawTypes })
    if (name !== '' && !this.#prepared.has(name)) this.#notePrepared(name, answer)
    return answer
  }

  /**
   * To be called between transactions: now and then it has the server forget its plans, which it
   * makes anew at the next use of each statement, for tables as large as they are by then. Nobody
   * waits for it, and a server that refuses it just keeps its plans.
   */
  renewPlans(): void {
    if (this.#sentSince < renewAfterStatements) return
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#plannedMs < renewAfterMs) return
    this.#plannedMs = nowMs
    this.#sentSince = 0
    this.command('DISCARD PLANS').catch(() => {})
  }

  async close(): Promise<void> {
    this.#alive = false
    await this.#client.end().catch(() => {})
  }

  /** Drops the connection at once; every query under way fails. */
  destroy(): void {
    this.#lost()
    this.#client.connection.stream.destroy()
  }

  #send(query: pg.QueryArrayConfig<WireValue[]> | Together, statements = 1): Promise<Answer> {
    if (!this.#alive) return Promise.reject(new ConnectionLost('the connection is gone'))
    if (this.#underWay === 0) this.#lastProgressMs = this.#clock.monotonicMs()
    this.#underWay += 1
    this.#statementsUnderWay += statements
    this.#sentSince += statements
    this.#cork()
    return new Promise((resolve, reject) => {
      void this.#client.query(query as pg.QueryArrayConfig<WireValue[]>, (error, answer) => {
        this.#underWay -= 1
        this.#statementsUnderWay -= statements
        this.#lastProgressMs = this.#clock.monotonicMs()
        if (!error) return resolve(answer)
        const reason = lostOr(error)
        if (reason instanceof ConnectionLost) this.destroy()
        reject(reason)
      })
    })
  }

  /** What one turn sends leaves in one write. */
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const { stream } = this.#client.connection
    stream.cork()
    queueMicrotask(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  #notePrepared(name: string, answer: Promise<Answer>): void {
    answer.then(
      () => this.#prepared.add(name),
      () => {},
    )
  }

  #lost(): void {
    if (!this.#alive) return
    this.#alive = false
    this.#onLost(this)
  }
}

/** When plans are renewed: after both, so that a quiet connection hardly ever does it. */
const renewAfterMs = 2000
const renewAfterStatements = 100

/** Errors of statements stay as they are; all others mean that there is no connection any more. */
function lostOr(error: unknown): unknown {
  if (error instanceof ConnectionLost) return error
  const state = sqlState(error)
  if (state !== undefined && !endsConnection(state)) return error
  return new ConnectionLost('the connection to the database failed', { cause: error })
}

/** What of a call matters here. */
type Sent = {
  readonly prepared: Pick<Call['prepared'], 'name' | 'text'>
  readonly values: WireValue[]
}

type Asked = {
  readonly call: Sent
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Prepared calls that the server answers as one, because nothing stands between them. */
class Together extends pg.Query {
  readonly #calls: readonly Sent[]

  constructor(calls: readonly Sent[]) {
    super({ text: '', rowMode: 'array', types: rawTypes } as pg.QueryConfig)
    this.#calls = calls
  }

  /** In place of `pg`'s own messages for one statement, which end with a sync each. */
  override readonly submit = (wire: pg.Connection): void => {
    for (const { prepared, values } of this.#calls) {
      wire.bind({ statement: prepared.name, values }, true)
      wire.describe({ type: 'P', name: '' }, true)
      wire.execute({}, true)
    }
    wire.sync()
  }
}

/** Values stay the text that the server sends; a statement's declared types decode them. */
const rawTypes: pg.CustomTypesConfig = { getTypeParser: () => asIs }

function asIs(value: string): string {
  return value
}
