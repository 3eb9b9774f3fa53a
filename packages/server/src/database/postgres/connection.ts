import pg from 'pg'
import type { Clock } from '../../kernel/clock.ts'
import { ConnectionLost, endsConnection, sqlState } from './errors.ts'
import type { Answer, Call } from './prepared.ts'
import type { WireValue } from './values.ts'

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
  readonly #onLost: (connection: Connection) => void
  #alive = false
  #underWay = 0
  #lastProgressMs = 0
  /** The names of the statements that the server has prepared here. */
  readonly #prepared = new Set<string>()
  #plannedMs: number
  #sentSince = 0
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

  /** How long the oldest query under way has been without any progress, unless it is patient. */
  silentMs(): number {
    return this.#underWay === 0 || this.patient
      ? 0
      : this.#clock.monotonicMs() - this.#lastProgressMs
  }

  /** Runs a prepared statement; it is prepared at its first use on this connection. */
  query({ prepared: { name, text }, values }: Sent): Promise<Answer> {
    const answer = this.#send({ name, text, values, rowMode: 'array', types: rawTypes })
    if (name !== '' && !this.#prepared.has(name)) this.#notePrepared(name, answer)
    return answer
  }

  /** Runs text that is not prepared: COMMIT and the like. */
  command(text: string): Promise<Answer> {
    return this.#send({ text, rowMode: 'array', types: rawTypes })
  }

  /**
   * Runs calls whose rows nobody asks for, then COMMIT, in one message: the server reads and
   * answers once. A call that fails takes COMMIT with it, and the transaction stays open.
   */
  async commit(calls: readonly Sent[]): Promise<Answer> {
    if (calls.length === 0) return this.command('COMMIT')
    const together = [...calls, commitCall]
    if (together.every(({ prepared }) => this.#prepared.has(prepared.name))) {
      const answers = await this.#send(new Together(together))
      return (answers as unknown as Answer[]).at(-1) as Answer
    }
    // Each is prepared at its first use here, by itself.
    for (const call of calls) await this.query(call)
    return this.query(commitCall)
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

  #send(query: pg.QueryArrayConfig<WireValue[]> | Together): Promise<Answer> {
    if (!this.#alive) return Promise.reject(new ConnectionLost('the connection is gone'))
    if (this.#underWay === 0) this.#lastProgressMs = this.#clock.monotonicMs()
    this.#underWay += 1
    this.#sentSince += 1
    return new Promise((resolve, reject) => {
      this.#client.query(query as pg.QueryArrayConfig<WireValue[]>, (error, answer) => {
        this.#underWay -= 1
        this.#lastProgressMs = this.#clock.monotonicMs()
        if (!error) return resolve(answer)
        const reason = lostOr(error)
        if (reason instanceof ConnectionLost) this.destroy()
        reject(reason)
      })
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

const commitCall: Sent = { prepared: { name: 'guildhall.commit', text: 'COMMIT' }, values: [] }

/** Prepared calls that the server answers as one, because nothing stands between them. */
class Together extends pg.Query {
  readonly #calls: readonly Sent[]

  constructor(calls: readonly Sent[]) {
    super({ ...commitCall.prepared, types: rawTypes })
    this.#calls = calls
  }

  /** In place of `pg`'s own messages for one statement, which end with a sync each. */
  override readonly submit = (wire: pg.Connection): void => {
    wire.stream.cork()
    for (const { prepared, values } of this.#calls) {
      wire.bind({ statement: prepared.name, values }, true)
      wire.execute({}, true)
    }
    wire.sync()
    wire.stream.uncork()
  }
}

/** Values stay the text that the server sends; a statement's declared types decode them. */
const rawTypes: pg.CustomTypesConfig = { getTypeParser: () => asIs }

function asIs(value: string): string {
  return value
}
